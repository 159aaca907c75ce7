#include "app/core/tabs/causes/shown_causes.h"

#include "app/core/jobs/resumable.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/run/labels.h"
#include "app/core/run/slice.h"
#include "app/core/text/numbers.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"
#include "engine/tensor/tensor.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

namespace decoderscope::core::causes {

namespace {

auto key_of(const ChosenNumber& number) {
    return std::make_tuple(number.tensor, number.cell, number.minus.value_or(Cell()));
}

Resumable<ShownSlopes> slopes_job(Scenario scenario, ResolvedNumber number) {
    ShownSlopes shown;
    try {
        shown.slopes = co_await slopes_of_number(std::move(scenario), number.number, number.batch);
    } catch (const Error& error) {
        shown.error = error.sentence();
    }
    co_return shown;
}

// The number in a run of its batch row alone; nothing if it isn't of one row.
std::optional<ChosenNumber> in_only_row(const Run& run, const ResolvedNumber& number) {
    const auto in_row = [&](const Cell& cell) { return !cell.empty() && cell.front() == number.batch; };
    ChosenNumber moved = number.number;
    const Axes& axes = run.plan().find(moved.tensor)->axes;
    if (axes.empty() || axes[0].name != axis::batch || !in_row(moved.cell) || (moved.minus && !in_row(*moved.minus)))
        return {};
    moved.cell.front() = 0;
    if (moved.minus) moved.minus->front() = 0;
    return moved;
}

Resumable<ShownMoves> moves_job(Scenario scenario, std::shared_ptr<const Run> run, ResolvedNumber number,
                                SharedProgress progress) {
    progress->done = 0;
    progress->all = runs_of_moves(*run, kSwaps);
    ShownMoves shown;
    try {
        const double value = number.number.in(run->value(number.number.tensor));
        const std::optional<ChosenNumber> moved = in_only_row(*run, number);
        if (const std::optional<Scenario> row = moved ? only_row(scenario, run->plan(), number.batch) : std::nullopt) {
            scenario = *row;
            run = co_await execute_in_slices(plan_of(scenario));
            number.number = *moved;
            number.batch = 0;
        }
        shown.moves = co_await measure_moves(std::move(scenario), std::move(run), number.number, number.batch, kSwaps,
                                             std::stop_token(), &progress->done);
        shown.moves.number = value;  // as it is shown elsewhere, to the last bit
    } catch (const Error& error) {
        shown.error = error.sentence();
    }
    co_return shown;
}

// The stream, and what is added to it: what an operation adds up, and the sums.
std::set<StepId> stream_and_updates(const Plan& plan) {
    std::set<StepId> steps;
    for (const Step& step : plan.steps()) {
        if (step.part == Part::residual_stream || step.part == Part::add || step.part == Part::encoder_output)
            steps.insert(step.id);
        if (step.part == Part::add) steps.insert(step.operands.begin(), step.operands.end());
    }
    return steps;
}

std::vector<StepId> steps_to_patch(const PatchingInputs& question, bool every_step) {
    std::vector<StepId> steps = patchable_steps(question);
    if (every_step) return steps;
    const std::set<StepId> wanted = stream_and_updates(question.a->plan());
    std::erase_if(steps, [&](StepId id) { return !wanted.contains(id); });
    return steps;
}

// Both runs with the number's batch row alone, if that is enough.
struct RowsOfBoth {
    Scenario a, b;
};
std::optional<RowsOfBoth> rows_of_both(const Snapshot& a, const OtherRun& b, Index batch) {
    if (!b.scenario || b.scenario->inputs.batch() != a.scenario.inputs.batch()) return {};
    std::optional<Scenario> row_of_a = only_row(a.scenario, a.run->plan(), batch),
                            row_of_b = only_row(*b.scenario, b.run->plan(), batch);
    if (!row_of_a || !row_of_b) return {};
    return RowsOfBoth{std::move(*row_of_a), std::move(*row_of_b)};
}

Resumable<ShownPatching> patching_job(Snapshot asked, OtherRun other, ResolvedNumber number, bool every_step,
                                      SharedProgress progress) {
    progress->done = 0;
    progress->all = 0;
    ShownPatching shown{.patching = {}, .every_step = every_step, .error = {}};
    if (!other.obstacle.empty()) {
        shown.error = other.obstacle;
        co_return shown;
    }
    try {
        if (!other.run) other.run = co_await execute_in_slices(plan_of(*other.scenario));
        PatchingInputs question{asked.run, other.run, number.number, number.batch};
        const double in_a = number.number.in(asked.run->value(number.number.tensor)),
                     in_b = number.number.in(other.run->value(number.number.tensor));
        const std::optional<ChosenNumber> moved = in_only_row(*asked.run, number);
        if (const std::optional<RowsOfBoth> rows = moved ? rows_of_both(asked, other, number.batch) : std::nullopt) {
            question.a = co_await execute_in_slices(plan_of(rows->a));
            question.b = co_await execute_in_slices(plan_of(rows->b));
            question.number = *moved;
            question.batch = 0;
        }
        std::vector<StepId> steps = steps_to_patch(question, every_step);
        progress->all = patched_rows(question, steps);
        shown.patching = co_await patch_rows(question, std::move(steps), std::stop_token(), &progress->done);
        for (PatchedStep& step : shown.patching.steps) step.step = asked.run->plan().find(step.name)->id;
        shown.patching.in_a = in_a;  // as they are shown elsewhere, to the last bit
        shown.patching.in_b = in_b;
    } catch (const Error& error) {
        shown.error = error.sentence();
    }
    co_return shown;
}

// Run B where it was computed before.
std::shared_ptr<const Run> known_run(const Snapshot& shown, OtherKind kind) {
    if (kind == OtherKind::unedited) return shown.unedited;
    return kind == OtherKind::pinned && shown.pinned ? shown.pinned->run : nullptr;
}

// The tokens under the columns: those of the run.
std::vector<std::string> position_labels(const Scenario& scenario, const Step& step, Index batch) {
    for (std::size_t axis = 0; axis < step.axes.size(); ++axis)
        if (sequence_along(step, axis) != TokenSequence::none) return axis_labels(scenario, step, axis, batch);
    return {};
}

struct NamedRow {
    std::string name;
    std::vector<double> values;
};

// "1 resid_mid" for "blocks.1.resid_mid": the stack is in the title.
std::string row_label(const Step& step) {
    if (step.block.empty()) return step.name;
    return std::to_string(step.layer) + " " + step.name.substr(step.block.size() + 1);
}

Heatmap heatmap_of_rows(const Scenario& scenario, const Run& run, std::span<const NamedRow> rows, Index batch) {
    Heatmap heatmap;
    heatmap.row_axis = "step";  // not a message: an axis
    heatmap.column_axis = std::string(axis::pos);
    heatmap.rows = static_cast<Index>(rows.size());
    for (const NamedRow& row : rows) {
        heatmap.columns = std::max(heatmap.columns, static_cast<Index>(row.values.size()));
        heatmap.row_labels.push_back(row_label(*run.plan().find(row.name)));
    }
    if (rows.empty()) return heatmap;
    heatmap.column_labels = position_labels(scenario, *run.plan().find(rows.front().name), batch);
    heatmap.column_labels.resize(static_cast<std::size_t>(heatmap.columns));
    for (const NamedRow& row : rows)
        for (Index i = 0; i < heatmap.columns; ++i)
            heatmap.values.push_back(i < static_cast<Index>(row.values.size())
                                         ? static_cast<float>(row.values[static_cast<std::size_t>(i)])
                                         : 0.0F);
    heatmap.range = range_of(heatmap.values, Scale::diverging);
    return heatmap;
}

std::vector<NamedRow> rows_of(const Run& run, const Patching& patching, bool of_encoder) {
    std::vector<NamedRow> rows;
    for (const PatchedStep& step : patching.steps)
        if (run.plan()[step.step].in_encoder() == of_encoder) rows.push_back({step.name, step.back});
    return rows;
}

}  // namespace

Value<ResolvedNumber> shown_number(Derived& derived, const Snapshot& shown, Index batch, const NumberChoice& choice) {
    const auto key =
        std::make_tuple(batch, static_cast<int>(choice.kind), choice.tensor, choice.cell, choice.position.value_or(-1),
                        choice.token.value_or(-1), choice.minus.value_or(-1));
    return derived.get<ResolvedNumber>({shown.run}, key,
                                       [&] { return resolved(shown.scenario, *shown.run, batch, choice); });
}

// ---- what moves a number

Value<ShownSlopes> shown_slopes(Derived& derived, const Snapshot& shown, const ResolvedNumber& number) {
    return derived.later<ShownSlopes>({shown.run}, key_of(number.number),
                                      [&] { return slopes_job(shown.scenario, number); });
}

Value<ShownMoves> shown_moves(Derived& derived, const Snapshot& shown, const ResolvedNumber& number,
                              const SharedProgress& progress) {
    return derived.later<ShownMoves>({shown.run}, key_of(number.number),
                                     [&] { return moves_job(shown.scenario, shown.run, number, progress); });
}

bool has_wrong_sign(double promised, double happened) {
    constexpr double kNothing = 1e-6;
    return std::abs(happened) > kNothing && std::abs(promised) > 0.0 && (promised > 0.0) != (happened > 0.0);
}

WrongSigns wrong_signs(const Moves& moves) {
    WrongSigns wrong;
    for (const HeadMove& move : moves.heads) {
        const bool measured = std::isfinite(move.switched_off);
        ++(measured ? wrong.heads : wrong.without_number);
        wrong.by_gradient += has_wrong_sign(move.gradient_times_z, move.switched_off) ? 1U : 0U;
        wrong.by_integrated_gradients += has_wrong_sign(move.along_the_way, move.switched_off) ? 1U : 0U;
    }
    return wrong;
}

Sentence short_name_of_head(const std::string& attention, Index head) {
    static constexpr std::string_view kBlocks = "blocks.";
    std::string name = attention;
    if (const std::size_t at = name.find(kBlocks); at != std::string::npos) name.erase(at, kBlocks.size());
    return message("{attention} head {head}", {{"attention", name}, {"head", head}});
}

Sentence moves_sentence(const Moves& moves) {
    if (moves.heads.empty()) return {};
    const WrongSigns wrong = wrong_signs(moves);
    if (wrong.without_number > 0)
        return message_n("The effect of {count} head is NaN or infinite: no gradient promises that.",
                         "The effect of {count} heads is NaN or infinite: no gradient promises that.",
                         wrong.without_number);
    return message_n(
        "The gradient has the wrong sign for {gradient} of {count} head, integrated gradients for {integrated}.",
        "The gradient has the wrong sign for {gradient} of {count} heads, integrated gradients for {integrated}.",
        wrong.heads, {{"gradient", wrong.by_gradient}, {"integrated", wrong.by_integrated_gradients}});
}

Heatmap gradients_heatmap(const Scenario& scenario, const Run& run, std::span<const StreamGradients> slopes,
                          bool of_encoder, Index batch) {
    std::vector<NamedRow> rows;
    for (const StreamGradients& slope : slopes) {
        const Ref step = run.plan().find(slope.tensor);
        if (step != nullptr && step->in_encoder() == of_encoder) rows.push_back({slope.tensor, slope.by_value});
    }
    return heatmap_of_rows(scenario, run, rows, batch);
}

// ---- patching

Value<ShownPatching> shown_patching(Derived& derived, const Snapshot& shown, const ResolvedNumber& number,
                                    const OtherChoice& other, bool every_step, const SharedProgress& progress) {
    // A run that is there already is another origin: a new pin is another question.
    const std::shared_ptr<const Run> known = known_run(shown, other.kind);
    const auto key = std::make_tuple(number.number.tensor, number.number.cell, number.number.minus.value_or(Cell()),
                                     static_cast<int>(other.kind), other.position.value_or(-1),
                                     other.token.value_or(-1), other.option, every_step);
    return derived.later<ShownPatching>({shown.run, known ? known : shown.run}, key, [&] {
        return patching_job(shown, other_run(shown, number.batch, other), number, every_step, progress);
    });
}

Sentence patching_sentence(const Patching& patching, const ResolvedNumber& number) {
    const Arguments arguments = {{"number", number.name},
                                 {"a", short_number_text(patching.in_a, 3)},
                                 {"b", short_number_text(patching.in_b, 3)}};
    if (!patching.are_numbers())
        return message("{number} is {a} in A and {b} in B: no share of that can come back.", arguments);
    if (!patching.differs())
        return message("{number} is {a} in A and in B: there is no difference to bring back.", arguments);
    return message(
        "{number} is {a} in A and {b} in B. Each cell: how much of the difference comes back when B's row is patched "
        "into A; 1 is all of it.",
        arguments);
}

Heatmap patching_heatmap(const Scenario& scenario, const Run& run, const Patching& patching, bool of_encoder,
                         Index batch) {
    Heatmap heatmap = heatmap_of_rows(scenario, run, rows_of(run, patching, of_encoder), batch);
    // One colour means one share in every picture, as long as nothing overshoots.
    heatmap.range = {std::min(heatmap.range.low, -1.0F), std::max(heatmap.range.high, 1.0F)};
    return heatmap;
}

std::vector<std::string> patched_steps(const Run& run, const Patching& patching, bool of_encoder) {
    std::vector<std::string> names;
    for (const NamedRow& row : rows_of(run, patching, of_encoder)) names.push_back(row.name);
    return names;
}

// ---- who wrote a logit

Value<ShownAttribution> shown_attribution(Derived& derived, const Snapshot& shown, const ResolvedNumber& number,
                                          bool difference) {
    const std::optional<Index> minus = difference ? std::optional(number.minus) : std::nullopt;
    return derived.get<ShownAttribution>(
        {shown.run}, std::make_tuple(number.batch, number.position, number.token, minus.value_or(-1)), [&] {
            if (const Sentence obstacle = attribution_obstacle(*shown.run); !obstacle.empty())
                return ShownAttribution{{}, obstacle};
            return ShownAttribution{direct_attribution(*shown.run, number.batch, number.position, number.token, minus),
                                    {}};
        });
}

// ---- files

Exhibit patching_exhibit(const Scenario& scenario, const Run& run, const Patching& patching,
                         const ResolvedNumber& number) {
    Exhibit exhibit{.title = tr("How much comes back"), .subtitle = tr(number.name)};
    exhibit.caption = caption_of(scenario, tr(patching_sentence(patching, number)), "");
    for (const bool of_encoder : {true, false}) {
        Heatmap heatmap = patching_heatmap(scenario, run, patching, of_encoder, number.batch);
        if (heatmap.rows == 0) continue;
        heatmap.title = of_encoder ? tr("Encoder") : tr("Decoder");
        exhibit.panels.push_back(panel_of(of_encoder ? "patching.encoder" : "patching", std::move(heatmap)));
    }
    return exhibit;
}

Exhibit attribution_exhibit(const Scenario& scenario, const Attribution& attribution, const ResolvedNumber& number) {
    Heatmap heatmap{.title = tr("Who wrote it"), .subtitle = tr(number.name)};
    heatmap.row_axis = "term";      // not a message: an axis
    heatmap.column_axis = "logit";  // not a message: an axis
    heatmap.columns = 1;
    heatmap.column_labels = {""};
    for (const Contribution& term : attribution.terms) {
        heatmap.row_labels.push_back(tr(name_of(term)));
        heatmap.values.push_back(static_cast<float>(term.logit));
    }
    heatmap.rows = static_cast<Index>(attribution.terms.size());
    heatmap.range = range_of(heatmap.values, Scale::diverging);
    Exhibit exhibit{.title = heatmap.title, .subtitle = heatmap.subtitle};
    exhibit.caption = caption_of(scenario, tr("direct logit attribution"), "");
    exhibit.panels.push_back(panel_of("attribution", std::move(heatmap)));
    return exhibit;
}

}  // namespace decoderscope::core::causes

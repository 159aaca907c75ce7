#include "app/core/ask/answer.h"

#include "app/core/run/exhibit_step.h"
#include "app/core/run/labels.h"
#include "app/core/run/slice.h"
#include "app/core/text/numbers.h"
#include "app/core/text/token_text.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"
#include "engine/tensor/tensor.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <tuple>
#include <utility>

namespace decoderscope::core::ask {

namespace {

constexpr std::size_t kMostScores = 8;

// ---- measured

auto key_of(const ChosenNumber& number) {
    return std::make_tuple(number.tensor, number.cell, number.minus.value_or(Cell()));
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

Resumable<Measured> moves_of(Asked asked, SharedProgress progress) {
    Measured made;
    try {
        Scenario scenario = asked.shown.scenario;
        std::shared_ptr<const Run> run = asked.shown.run;
        ResolvedNumber number = *asked.number;
        made.slopes = co_await slopes_of_number(scenario, number.number, number.batch);
        const double value = number.number.in(run->value(number.number.tensor));
        const std::optional<ChosenNumber> moved = in_only_row(*run, number);
        if (const std::optional<Scenario> row = moved ? only_row(scenario, run->plan(), number.batch) : std::nullopt) {
            scenario = *row;
            run = co_await execute_in_slices(plan_of(scenario));
            number.number = *moved;
            number.batch = 0;
        }
        made.moves = co_await measure_moves(std::move(scenario), std::move(run), number.number, number.batch, kSwaps,
                                            std::stop_token(), &progress->done);
        made.moves.number = value;  // as it is shown elsewhere, to the last bit
    } catch (const Error& error) {
        made.error = error.sentence();
    }
    co_return made;
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

Resumable<Measured> patching_of(Asked asked, SharedProgress progress) {
    const Snapshot& shown = asked.shown;
    const ResolvedNumber& number = *asked.number;
    Measured made{.compared = asked.question.other};
    try {
        if (made.compared.kind == OtherKind::token && !made.compared.position && !made.compared.token) {
            const TellingSwap swap = co_await find_telling_swap(shown.scenario, shown.run, number);
            made.compared = with_swap(made.compared, swap);
            made.about_swap = swap_sentence(swap);
        }
        OtherRun other = other_run(shown, number.batch, made.compared);
        if (!other.obstacle.empty()) throw Error(other.obstacle);
        if (!other.run) other.run = co_await execute_in_slices(plan_of(*other.scenario));
        PatchingInputs question{shown.run, other.run, number.number, number.batch};
        const double in_a = number.number.in(shown.run->value(number.number.tensor)),
                     in_b = number.number.in(other.run->value(number.number.tensor));
        // Both runs with the number's batch row alone, if that is enough.
        const bool alike = other.scenario && other.scenario->inputs.batch() == shown.scenario.inputs.batch();
        if (const std::optional<ChosenNumber> moved = alike ? in_only_row(*shown.run, number) : std::nullopt) {
            const std::optional<Scenario> a = only_row(shown.scenario, shown.run->plan(), number.batch),
                                          b = only_row(*other.scenario, shown.run->plan(), number.batch);
            if (a && b) {
                question.a = co_await execute_in_slices(plan_of(*a));
                question.b = co_await execute_in_slices(plan_of(*b));
                question.number = *moved;
                question.batch = 0;
            }
        }
        std::vector<StepId> steps = patchable_steps(question);
        const std::set<StepId> stream = stream_and_updates(question.a->plan());
        if (!asked.question.every_step) std::erase_if(steps, [&](StepId id) { return !stream.contains(id); });
        progress->all = patched_rows(question, steps);
        made.patching = co_await patch_rows(question, std::move(steps), std::stop_token(), &progress->done);
        made.patching.in_a = in_a;  // as they are shown elsewhere, to the last bit
        made.patching.in_b = in_b;
    } catch (const Error& error) {
        made.error = error.sentence();
    }
    co_return made;
}

// ---- pictures and tables

struct NamedRow {
    std::string name;
    std::vector<double> values;
};

// "1 resid_mid" for "blocks.1.resid_mid": the stack is in the title.
std::string row_label(const Step& step) {
    if (step.block.empty()) return step.name;
    return std::to_string(step.layer) + " " + step.name.substr(step.block.size() + 1);
}

// The rows of each stack, [step, position], as a picture; none if it has none.
AnswerPart pictures_of_rows(const Snapshot& shown, const std::vector<NamedRow>& all, Index batch) {
    AnswerPart part;
    for (const bool of_encoder : {true, false}) {
        Heatmap picture{.title = of_encoder ? tr("Encoder") : tr("Decoder"),
                        .row_axis = "step",  // not a message: an axis
                        .column_axis = std::string(axis::pos)};
        std::vector<std::string> steps;
        std::vector<const NamedRow*> rows;
        for (const NamedRow& row : all) {
            const Step& step = *shown.run->plan().find(row.name);
            if (step.in_encoder() != of_encoder) continue;
            if (rows.empty())
                for (std::size_t axis = 0; axis < step.axes.size() && picture.column_labels.empty(); ++axis)
                    if (sequence_along(step, axis) != TokenSequence::none)
                        picture.column_labels = axis_labels(shown.scenario, step, axis, batch);
            picture.columns = std::max(picture.columns, static_cast<Index>(row.values.size()));
            picture.row_labels.push_back(row_label(step));
            steps.push_back(row.name);
            rows.push_back(&row);
        }
        if (rows.empty()) continue;
        const auto columns = static_cast<std::size_t>(picture.columns);
        picture.rows = static_cast<Index>(rows.size());
        picture.column_labels.resize(columns);
        for (const NamedRow* row : rows)
            for (std::size_t i = 0; i < columns; ++i)
                picture.values.push_back(i < row->values.size() ? static_cast<float>(row->values[i]) : 0.0F);
        picture.range = range_of(picture.values, Scale::diverging);
        part.pictures.push_back(std::move(picture));
        part.steps.push_back(std::move(steps));
    }
    return part;
}

// "1.attn head 3": a head in a narrow column; the stack is named if there are two.
Sentence short_name_of_head(const std::string& attention, Index head) {
    static constexpr std::string_view kBlocks = "blocks.";
    std::string name = attention;
    if (const std::size_t at = name.find(kBlocks); at != std::string::npos) name.erase(at, kBlocks.size());
    return message("{attention} head {head}", {{"attention", name}, {"head", head}});
}

Column number_column(const char* name, Phrase title) { return {name, title, Unit::number}; }

Table table_of_heads(const Plan& plan, const Moves& moves) {
    Table table{.about = "head",
                .columns = {number_column("gradient", message("gradient")),
                            number_column("integrated_gradients", message("8 steps")),
                            number_column("effect", message("effect"))},
                .bars = 2};
    for (const HeadMove& move : moves.heads) {
        const Ref pattern = plan.step_of(move.attention, AttentionStep::pattern);
        table.rows.push_back({.name = short_name_of_head(move.attention, move.head),
                              .entries = {move.gradient_times_z, move.along_the_way, move.switched_off},
                              .step = pattern == nullptr ? "" : pattern->name,
                              .head = move.head,
                              .doubted = {has_wrong_sign(move.gradient_times_z, move.switched_off),
                                          has_wrong_sign(move.along_the_way, move.switched_off), false}});
    }
    sort_by(table, 2);
    return table;
}

Table table_of_tokens(const Scenario& scenario, const Moves& moves, Index batch) {
    Table table{
        .about = "token",
        .columns = {number_column("gradient", message("gradient")), number_column("swapped", message("swapped")),
                    number_column("most", message("most")), Column{"with", message("with")}},
        .bars = 2};
    for (const InputMove& move : moves.tokens) {
        const Tensor& tokens = move.encoder ? scenario.inputs.encoder_tokens : scenario.inputs.tokens;
        const tokenizer::Tokenizer& tokenizer = move.encoder ? scenario.encoder_tokenizer() : scenario.tokenizer();
        const auto token = static_cast<Index>(tokens.at(Cell{batch, move.position}));
        table.rows.push_back(
            {.name = Sentence::verbatim((move.encoder ? "src " : "pos ") + std::to_string(move.position) + " “" +
                                        token_text(tokenizer, token) + "”"),
             .entries = {move.gradient_times_z, move.swapped, move.most,
                         Sentence::verbatim("“" + token_text(tokenizer, move.by) + "”")}});
    }
    return table;
}

Table table_of_scores(const Plan& plan, const Slopes& slopes) {
    Table table{.about = "score", .columns = {number_column("slope", message("slope"))}};
    for (std::size_t i = 0; i < std::min(kMostScores, slopes.scores.size()); ++i) {
        const ScoreSlope& score = slopes.scores[i];
        table.rows.push_back(
            {.name = message("{head}: {query} → {key}",  // from the query's position to the key's
                             {{"head", short_name_of_head(plan.find(score.tensor)->attention, score.cell[1])},
                              {"query", score.cell[2]},
                              {"key", score.cell[3]}}),
             .entries = {score.slope},
             .step = score.tensor,
             .cell = score.cell});
    }
    return table;
}

}  // namespace

Asked asked_about(Derived& derived, const Snapshot& shown, Index batch, const Question& question,
                  const std::shared_ptr<const train::Recipe>& training) {
    Asked asked{question, shown, batch, {}, training};
    const NumberChoice& number = question.number;
    if (!is_about_number(question.page) || !number_obstacle(shown.scenario, *shown.run, number).empty()) return asked;
    const auto key =
        std::make_tuple(batch, static_cast<int>(number.kind), number.tensor, number.cell, number.position.value_or(-1),
                        number.token.value_or(-1), number.minus.value_or(-1));
    asked.number = *derived.get<ResolvedNumber>({shown.run}, key,
                                                [&] { return resolved(shown.scenario, *shown.run, batch, number); });
    return asked;
}

Sentence why_not_measured(const Asked& asked) {
    const Question& question = asked.question;
    if (question.page == AskPage::vary && question.sweep.vary.empty())
        return message(
            "One thing is varied, and the model is run for each of its values: which predictions change, and what "
            "becomes of a number that you watch? Choose a ready question, or what varies from the list.");
    if (is_about_number(question.page) && !asked.number)
        return number_obstacle(asked.shown.scenario, *asked.shown.run, question.number);
    if (question.page == AskPage::writers && question.number.kind == NumberKind::cell)
        return message("Choose a logit, or the difference of two.");
    return {};
}

Value<Measured> measured(Derived& derived, const Asked& asked, const SharedProgress& progress) {
    const Snapshot& shown = asked.shown;
    const Question& question = asked.question;
    const OtherChoice& other = question.other;
    const auto begins = [&](std::size_t runs) {
        progress->done = 0;
        progress->all = runs;
    };
    switch (question.page) {
        case AskPage::vary: {
            const Value<ShownSweep> sweep = shown_sweep(derived, shown, question.sweep, progress, asked.training);
            if (!sweep) return {};
            return derived.get<Measured>({shown.run}, std::make_tuple(sweep.number()),
                                         [&] { return Measured{.error = sweep->error, .sweep = sweep}; });
        }
        case AskPage::moves:
            return derived.later<Measured>({shown.run}, key_of(asked.number->number), [&] {
                begins(runs_of_moves(*shown.run, kSwaps));
                return moves_of(asked, progress);
            });
        case AskPage::patching: {
            // A run that is there already is another origin: a new pin is another question.
            std::shared_ptr<const Run> known = shown.run;
            if (other.kind == OtherKind::unedited && shown.unedited) known = shown.unedited;
            if (other.kind == OtherKind::pinned && shown.pinned && shown.pinned->run) known = shown.pinned->run;
            const ChosenNumber& number = asked.number->number;
            const auto key =
                std::make_tuple(number.tensor, number.cell, number.minus.value_or(Cell()), asked.number->position,
                                static_cast<int>(other.kind), other.position.value_or(-1), other.token.value_or(-1),
                                other.option, question.every_step);
            return derived.later<Measured>({shown.run, known}, key, [&] {
                begins(0);
                return patching_of(asked, progress);
            });
        }
        case AskPage::writers:
            return derived.get<Measured>({shown.run}, std::make_tuple(), [] { return Measured(); });
        case AskPage::cost:
            break;
    }
    const Value<PassCost> cost = shown_cost(derived, shown);
    if (!cost) return {};
    return derived.get<Measured>({shown.run}, std::make_tuple(cost.number()), [&] { return Measured{.cost = cost}; });
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

namespace {

Answer answer_of_moves(const Snapshot& shown, const ResolvedNumber& number, const Moves& moves, const Slopes& slopes) {
    Answer answer{.title = message("What moves it"), .subtitle = number.name, .said = {moves_sentence(moves)}};
    answer.parts.push_back(
        {.name = "heads",
         .heading = message("Heads"),
         .note = message("Effect: the number as it is, minus the number without. ≠: the sign of the gradient is not "
                         "that of the measured effect. 8 steps: the mean of the gradient from off to on (integrated "
                         "gradients)."),
         .table = table_of_heads(shown.run->plan(), moves)});
    if (!moves.tokens.empty())
        answer.parts.push_back(
            {.name = "tokens",
             .heading = message("Input tokens"),
             .note = message_n("Swapped: the mean of |effect| with {count} other token in its place.",
                               "Swapped: the mean of |effect| with {count} other tokens in its place.", kSwaps),
             .table = table_of_tokens(shown.scenario, moves, number.batch)});

    std::vector<NamedRow> rows;
    for (const StreamGradients& slope : slopes.stream)
        if (shown.run->plan().find(slope.tensor) != nullptr) rows.push_back({slope.tensor, slope.by_value});
    AnswerPart& stream = answer.parts.emplace_back(pictures_of_rows(shown, rows, number.batch));
    stream.aside = true;
    stream.name = "gradients";
    stream.heading = message("Gradient along the stream");
    stream.note =
        message("Gradient times value, by step and position: a slope at this point, not the effect of removing it.");
    if (slopes.scores.empty()) return answer;
    Table table = table_of_scores(shown.run->plan(), slopes);
    answer.parts.push_back(
        {.name = "scores",
         .heading = message("Scores that it depends on"),
         .note = message("The steepest {count} of {all}. If one is positive, more weight on that key would raise the "
                         "number.",
                         {{"count", table.rows.size()}, {"all", slopes.all_scores}}),
         .table = std::move(table),
         .aside = true});
    return answer;
}

Answer answer_of_patching(const Snapshot& shown, const ResolvedNumber& number, const Measured& measured) {
    const Patching& patching = measured.patching;
    Answer answer{.title = message("How much comes back"),
                  .subtitle = number.name,
                  .said = {patching_sentence(patching, number)}};
    std::vector<NamedRow> rows;
    for (const PatchedStep& step : patching.steps) rows.push_back({step.name, step.back});
    AnswerPart part = pictures_of_rows(shown, rows, number.batch);
    // One colour means one share in every picture, as long as nothing overshoots.
    for (Heatmap& picture : part.pictures)
        picture.range = {std::min(picture.range.low, -1.0F), std::max(picture.range.high, 1.0F)};
    part.name = "patching";
    part.says = message("{number} of the difference comes back");
    if (!measured.about_swap.empty()) answer.said.push_back(measured.about_swap);
    if (!part.pictures.empty()) answer.parts.push_back(std::move(part));
    return answer;
}

Answer answer_of_writers(const Snapshot& shown, const ResolvedNumber& number, bool difference) {
    if (const Sentence obstacle = attribution_obstacle(*shown.run); !obstacle.empty()) return {.said = {obstacle}};
    const Attribution written = direct_attribution(*shown.run, number.batch, number.position, number.token,
                                                   difference ? std::optional(number.minus) : std::nullopt);
    Answer answer{.title = message("Who wrote it"),
                  .subtitle = number.name,
                  .said = {message("{count} terms sum to {sum}; the run's logit is {logit}.",
                                   {{"count", written.terms.size()},
                                    {"sum", short_number_text(written.sum, 3)},
                                    {"logit", short_number_text(written.logit, 3)}})}};
    Table table{
        .about = "term", .title = answer.title, .columns = {number_column("logit", message("logit"))}, .bars = 0};
    for (const Contribution& term : written.terms)
        table.rows.push_back({.name = name_of(term), .entries = {term.logit}, .step = term.tensor, .head = term.head});
    answer.parts.push_back({.name = "attribution", .table = std::move(table)});
    return answer;
}

}  // namespace

Answer answer_of(const Asked& asked, const Measured& measured) {
    const Question& question = asked.question;
    if (!measured.error.empty()) return {.said = {measured.error}};
    switch (question.page) {
        case AskPage::vary:
            return answer_of(asked.shown.scenario, *measured.sweep);
        case AskPage::moves:
            return answer_of_moves(asked.shown, *asked.number, measured.moves, measured.slopes);
        case AskPage::patching:
            return answer_of_patching(asked.shown, *asked.number, measured);
        case AskPage::writers:
            return answer_of_writers(asked.shown, *asked.number, question.number.kind == NumberKind::difference);
        case AskPage::cost:
            break;
    }
    Answer answer;
    answer.parts.push_back(
        {.name = "cost", .table = cost_table(asked.shown.run->plan(), *measured.cost, question.by, question.sort)});
    return answer;
}

Exhibit exhibit_of(const Asked& asked, const Measured& measured) {
    const AskPage page = asked.question.page;
    if (page == AskPage::vary) return sweep_exhibit(asked.shown.scenario, *measured.sweep);
    const Answer answer = answer_of(asked, measured);
    Exhibit exhibit = core::exhibit_of(answer);
    const std::string what = page == AskPage::cost      ? tr("cost")
                             : page == AskPage::writers ? tr("direct logit attribution")
                                                        : tr(answer.said.front());
    exhibit.caption = caption_of(asked.shown.scenario, what, "");
    if (page == AskPage::cost) exhibit.caption += " · " + tr(answer.parts.front().table->notes.front());
    return exhibit;
}

}  // namespace decoderscope::core::ask

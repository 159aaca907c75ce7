#include "app/core/generate/shown_passes.h"

#include "app/core/checks/leak.h"
#include "app/core/generate/generator.h"
#include "app/core/generate/prediction.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/text/numbers.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace decoderscope::core::generate {

namespace {

constexpr Index kComparedAtOnce = 500'000;

// A cell of a run that is shown, as it lies in the passes: along axes of a pass's own positions by the position of the
// text, or the newest of each pass; along all others, and along keys, by its index.
class Followed {
public:
    Followed(const Scenario& scenario, const Run& run, const Cursor& cursor) {
        const Ref step = run.plan().find(cursor.step);
        if (step == nullptr || !cursor.cell || cursor.cell->size() != step->axes.size()) return;
        name_ = cursor.step;
        for (std::size_t i = 0; i < step->axes.size(); ++i) {
            const Index at = (*cursor.cell)[i], before = positions_before(scenario, *step, i);
            const bool own = sequence_along(*step, i) == TokenSequence::target &&
                             step->axes[i].size == scenario.inputs.pos() && step->axes[i].name != axis::key;
            const bool newest = own && at + 1 == step->axes[i].size;
            newest_ = newest_ || newest;
            cell_.push_back(before + at);
            newest_along_.push_back(newest);
        }
        key_ = cell_name(name_, *cursor.cell);
    }

    [[nodiscard]] std::optional<float> in(const Scenario& pass, const Run& run) const {
        const Ref step = name_.empty() ? nullptr : run.plan().find(name_);
        if (step == nullptr || step->axes.size() != cell_.size()) return std::nullopt;
        Cell cell = cell_;
        for (std::size_t i = 0; i < cell.size(); ++i) {
            cell[i] -= positions_before(pass, *step, i);
            if (newest_along_[i]) cell[i] = step->axes[i].size - 1;
        }
        const Tensor values = run.value(step->id).for_one_use();
        if (values.empty() || !values.contains(cell)) return std::nullopt;
        return values.at(cell);
    }

    [[nodiscard]] Sentence what() const {
        if (name_.empty()) return {};
        return newest_ ? message("{cell}, at the newest position of each pass", {{"cell", key_}})
                       : message("{cell}, at that position of the text", {{"cell", key_}});
    }

private:
    std::string name_, key_;
    Cell cell_;                       // [axis], along positions: of the text
    std::vector<bool> newest_along_;  // [axis]
    bool newest_ = false;
};

Resumable<Comparison> compared(NamedTensors of_whole, NamedTensors of_pass) {
    Comparing comparing(std::move(of_whole), std::move(of_pass), 0.0);
    while (!comparing.advance(kComparedAtOnce)) co_yield kPause;
    co_return comparing.found();
}

// The most probable token after the last position of a batch row that isn't padding.
void take_next(PassRow& row, const Scenario& pass, const Run& run, Index batch) {
    const Index kept = row_length(inputs_of_shown(pass), batch);
    const std::vector<Answer> likely = kept > 0 ? likely_answers(run, batch, kept - 1, 1) : std::vector<Answer>();
    if (likely.empty()) return;
    row.next = likely.front().token;
    row.probability = likely.front().probability;
}

Resumable<ShownPasses> compute(Scenario whole, std::shared_ptr<const Run> known, PassesQuestion question,
                               Followed followed) {
    ShownPasses shown;
    try {
        std::shared_ptr<const Plan> plan = plan_of(whole);
        const auto keeping = [&] {
            return ExecuteOptions{.kept = kept_now(*plan, whole.recording, whole.memory).in_a_run()};
        };
        shown.whole = known;
        if (!known) shown.whole = co_await execute_in_slices(plan, keeping());
        Scenario pass = with_pass(whole, question.sizes, 0);
        for (std::size_t i = 0; i < question.sizes.size(); ++i) {
            pass = with_pass(std::move(pass), question.sizes, i);
            plan = plan_of(pass);
            const std::shared_ptr<const Run> run = co_await execute_in_slices(plan, keeping());
            pass.passes->kept->take(pass, *run);
            PassRow row{.part = part_of_pass(*pass.passes, i)};
            NamedTensors of_whole = same_cells(row.part, *shown.whole, *run), of_pass = tensors_of_pass(*run);
            const Comparison found = co_await compared(std::move(of_whole), std::move(of_pass));
            if (!found.tensors.empty()) row.worst = found.tensors[worst_first(found).front()];
            take_next(row, pass, *run, question.row);
            row.number = followed.in(pass, *run);
            shown.rows.push_back(std::move(row));
        }
        shown.number = followed.what();
    } catch (const Error& error) {
        shown.error = error.sentence();
    }
    co_return shown;
}

Resumable<ShownProof> proven(Scenario scenario, std::shared_ptr<const Run> full, Index row) {
    ShownProof proof;
    try {
        const Index before = row_length(scenario.inputs, row) - 1;
        if (before < 1) throw Error("The text has one token: there are no earlier ones whose k and v could be cached.");
        const Scenario pass = with_pass(scenario, {before}, 1);
        const std::shared_ptr<const Plan> plan = plan_of(pass);
        const ExecuteOptions options{.kept = kept_now(*plan, pass.recording, pass.memory).in_a_run()};
        const std::shared_ptr<const Run> run = co_await execute_in_slices(plan, options);
        NamedTensors of_whole = same_cells(part_of_pass(*pass.passes, 1), *full, *run), of_pass = tensors_of_pass(*run);
        proof.comparison = co_await compared(std::move(of_whole), std::move(of_pass));
        proof.worst_first = worst_first(proof.comparison);
    } catch (const Error& error) {
        proof.error = error.sentence();
    }
    co_return proof;
}

}  // namespace

NamedTensors tensors_of_pass(const Run& pass) {
    NamedTensors tensors;
    for (const Step& step : pass.plan().steps()) {
        const bool kept_whole =  // cross-attention's k and v are inputs of a cached pass
            step.role == Role::input && step.part == Part::cross_attention;
        const bool recorded = step.role == Role::recorded || step.role == Role::on_demand;
        if ((recorded || kept_whole) && !pass.value(step.id).empty())
            tensors.emplace_back(step.name, pass.value(step.id));
    }
    return tensors;
}

namespace {

// Padding that a text begins with sees nothing, and nothing reads what is computed for it. Under a finite fill that
// depends on how many keys there are, so it is not compared: the whole text's numbers there become the pass's.
void leave_padding_out(Tensor& whole, const Tensor& of_pass, const Step& step, const InputsPart& part,
                       const Tensor& attention_mask) {
    for (Index i = 0; i < whole.size(); ++i) {
        const Cell cell = whole.cell(i);
        for (std::size_t along = 0; along < cell.size(); ++along) {
            if (sequence_along(step, along) != TokenSequence::target) continue;
            const Index before = whole.dim(along) == part.count && step.axes[along].name != axis::key ? part.first : 0;
            const Index row = part.row.value_or(0) + (step.axes[0].name == axis::batch ? cell[0] : 0);
            if (before + cell[along] < checks::leading_padding(attention_mask, row))
                whole.writable()[static_cast<std::size_t>(i)] = of_pass.values()[static_cast<std::size_t>(i)];
        }
    }
}

}  // namespace

NamedTensors same_cells(const InputsPart& part, const Run& full, const Run& pass) {
    NamedTensors tensors;
    const Tensor& mask = full.value("attention_mask");
    const bool is_padded = !mask.empty() && std::ranges::any_of(mask.values(), [](float kept) { return kept == 0.0F; });
    for (const auto& [name, tensor] : tensors_of_pass(pass)) {
        const Tensor& whole = full.value(name);
        if (whole.rank() != tensor.rank()) continue;
        Cell first(tensor.rank(), 0);
        Axes axes = whole.axes();
        for (std::size_t i = 0; i < axes.size(); ++i) {
            const std::string_view along = axes[i].name;
            const bool positions = along == axis::pos || along == axis::query;
            axes.resize(i, tensor.dim(i));
            if (along == axis::batch)
                first[i] = part.row.value_or(0);
            else if (positions && tensor.dim(i) == part.count)
                first[i] = part.first;
        }
        Tensor same = part_of(whole, first, axes);
        if (is_padded) leave_padding_out(same, tensor, *pass.plan().find(name), part, mask);
        tensors.emplace_back(name, std::move(same));
    }
    return tensors;
}

Value<ShownProof> shown_proof(Derived& derived, const Scenario& scenario, const std::shared_ptr<const Run>& full,
                              Index row) {
    return derived.later<ShownProof>({full}, std::tie(row), [&] {
        Scenario forward = scenario;
        forward.gradient_target.clear();
        return proven(std::move(forward), full, row);
    });
}

std::vector<Index> sizes_of(const Scenario& scenario) {
    const Scenario whole = with_whole_text(scenario);
    const Index length = whole.inputs.pos();
    if (const TextInPasses* passes = passes_of(whole)) return passes->sizes;
    Index generated = 0;
    for (const auto& [row, tokens] : whole.generated) generated = std::max(generated, generated_count(whole, row));
    return even_sizes(std::max<Index>(length - std::max<Index>(generated, 1), 1), 1, length);
}

std::vector<Index> even_sizes(Index first, Index each, Index length) {
    std::vector<Index> sizes = {std::clamp<Index>(first, 1, length)};
    for (Index left = length - sizes.front(); left > 0; left -= sizes.back())
        sizes.push_back(std::clamp<Index>(each, 1, left));
    return sizes;
}

Value<ShownPasses> shown_passes(Derived& derived, const Snapshot& shown, const PassesQuestion& question) {
    const Cursor& number = question.number;
    return derived.later<ShownPasses>(
        {shown.run}, std::make_tuple(question.sizes, question.row, number.step, number.cell.value_or(Cell{})), [&] {
            const bool is_whole = shown_pass(shown.scenario) == nullptr;
            Scenario whole = with_whole_text(shown.scenario);
            whole.gradient_target.clear();
            return compute(whole, is_whole ? shown.run : nullptr, question,
                           Followed(shown.scenario, *shown.run, number));
        });
}

std::shared_ptr<const ReferenceRun> whole_beside(const Scenario& pass, const Run& run, const Run& whole) {
    ReferenceRun beside{.label = tr("the whole text in one pass"),
                        .tensors = same_cells(part_of_pass(*pass.passes, *pass.passes->shown), whole, run)};
    return std::make_shared<const ReferenceRun>(std::move(beside));
}

std::vector<Sentence> sentences_of_passes(const ShownPasses& shown) {
    if (!shown.error.empty() || shown.rows.empty()) return {};
    std::vector<Sentence> sentences = {
        message_n("The text is computed in {count} pass. Each reads the keys and values that those before it kept.",
                  "The text is computed in {count} passes. Each reads the keys and values that those before it kept.",
                  shown.rows.size())};
    const auto furthest = std::ranges::max_element(
        shown.rows, {}, [](const PassRow& row) { return row.worst.same_bits ? 0.0 : row.worst.relative(); });
    const Arguments where = {{"pass", furthest - shown.rows.begin()},
                             {"tensor", furthest->worst.name},
                             {"difference", short_number_text(furthest->worst.largest, 2)}};
    if (furthest->worst.same_bits || furthest->worst.largest == 0.0)
        sentences.push_back(message("All passes equal the whole text computed in one."));
    else if (furthest->worst.relative() < 1e-4)
        sentences.push_back(message(
            "They differ from the whole text computed in one by rounding: by {difference} in {tensor} of pass {pass}.",
            where));
    else
        sentences.push_back(message(
            "They differ from the whole text computed in one: by {difference} in {tensor} of pass {pass}. That is "
            "more than rounding: an edit, or a mask through which a position sees what comes after it.",
            where));
    return sentences;
}

Exhibit history_exhibit(const Scenario& scenario, const ShownPasses& shown) {
    Chart chart{.name = "history",
                .title = tr("Pass by pass"),
                .caption = tr(shown.number),
                .may_be_logarithmic = false,
                .curves = {},
                .across = tr("pass")};
    DepthCurve curve{.name = tr(shown.number)};
    for (std::size_t i = 0; i < shown.rows.size(); ++i) {
        chart.blocks = static_cast<Index>(i);
        if (const std::optional<float> number = shown.rows[i].number)
            curve.points.push_back({static_cast<double>(i), static_cast<double>(*number), std::to_string(i)});
    }
    chart.curves.push_back({curve.name, curve, curve_color(0)});
    Exhibit exhibit;
    exhibit.caption = caption_of(scenario, tr("pass by pass"), tr(shown.number));
    exhibit.charts.push_back(std::move(chart));
    return exhibit;
}

}  // namespace decoderscope::core::generate

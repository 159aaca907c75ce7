#include "app/core/sweep/sweep.h"

#include "app/core/run/output_moves.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/text/numbers.h"
#include "engine/base/error.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::core::sweep {

namespace {

// "attention_scale = 0.5; norm_first = true"
std::string text_of(const std::vector<std::string>& varied, const std::vector<At>& at) {
    std::string text;
    for (std::size_t i = 0; i < at.size(); ++i) text += (i == 0 ? "" : "; ") + varied[i] + " = " + at[i].text.english();
    return text;
}

// The plan of one run, with the row. `trained`: the model of the point's training step; nullptr if it has none.
std::shared_ptr<const Plan> plan_at(const Unswept& unswept, const Point& point,
                                    std::shared_ptr<const load::Model> trained) {
    Scenario scenario = unswept.scenario;
    if (trained != nullptr) scenario.set_model(std::move(trained));
    scenario = varied(std::move(scenario), point.variation);
    for (const AddRow& row : unswept.row.before) scenario.edits.emplace_back(with_numbers(row, point.numbers));
    if (unswept.row.added) scenario.edits.emplace_back(with_numbers(*unswept.row.added, point.numbers));
    return plan_of(scenario);
}

const Step& row_in(const Plan& plan, const Row& row, std::size_t runs) {
    const Ref step = plan.find(row.tensor);
    if (step == nullptr) throw Error("{tensor}: this run has no such tensor", {{"tensor", row.tensor}});
    const Index numbers = element_count(step->axes);
    if (numbers > kMostNumbers / static_cast<Index>(runs))
        throw Error(
            "{row}: {numbers} numbers in each of {runs} runs, expected at most {most} in all: watch a mean, a sum or "
            "some of its cells",
            {{"row", row.tensor}, {"numbers", grouped(numbers)}, {"runs", runs}, {"most", grouped(kMostNumbers)}});
    return *step;
}

// How many predictions a run changed; nothing if its output can't be compared.
std::optional<Index> changed_predictions(const Unswept& unswept, const Step& output, const Run& run) {
    const Tensor &before = unswept.run->value(output.id), &after = run.value(output.name);
    if (after.axes() != before.axes() || before.rank() != 3) return std::nullopt;
    if (after.shares_values_with(before)) return 0;
    return count_of_changed_predictions(before, after, padding_of(unswept.scenario));
}

std::optional<Effect> effect_of(const Scenario& scenario, const OutputMoves& moves) {
    if (moves.output.empty()) return std::nullopt;
    return Effect{.output = moves.output,
                  .predicts = moves.predicts,
                  .positions = moves.positions,
                  .changed = static_cast<Index>(moves.changed.size()),
                  .lost = moves.lost,
                  .stays_nan = moves.stays_nan,
                  .largest = moves.largest,
                  .changes = changes_sentence(scenario, moves),
                  .said = moves_sentence(scenario, moves, Mood::would)};
}

// What is computed of each run.
struct Wanted {
    std::size_t runs = 0;
    OfOutput of_output = OfOutput::nothing;
    Ref output = nullptr;  // of the unswept run; nullptr if nothing is asked of it

    [[nodiscard]] bool predictions() const { return output != nullptr && predicts_tokens(*output); }
};

Wanted wanted_of(const Unswept& unswept, std::size_t runs, OfOutput of_output) {
    Wanted wanted{runs, of_output, of_output == OfOutput::nothing ? nullptr : output_step(unswept.run->plan())};
    if (of_output == OfOutput::predictions && !wanted.predictions()) wanted.output = nullptr;
    return wanted;
}

struct Computed {
    Result result;
    std::optional<Step> row;
};

// One run's row, and what it changed. Nothing if it was stopped.
Resumable<std::optional<Computed>> computed_at(const Unswept& unswept, Point point, Wanted wanted,
                                               std::stop_token stop) {
    std::shared_ptr<const load::Model> trained;
    if (point.training_step) {
        Resumable<std::shared_ptr<const load::Model>> training =
            unswept.trained({*point.training_step, point.training_seed});
        while (!training.advance()) {
            if (stop.stop_requested()) co_return std::nullopt;
            co_yield kPause;
        }
        trained = training.result();
    }
    const std::shared_ptr<const Plan> plan = plan_at(unswept, point, std::move(trained));
    const Step* row = unswept.row.tensor.empty() ? nullptr : &row_in(*plan, unswept.row, wanted.runs);
    const NeededSteps needed = needed_steps(*plan, [&](const Step& step) {
        return &step == row || (wanted.output != nullptr && step.name == wanted.output->name);
    });
    const bool row_alone =
        row != nullptr && wanted.output == nullptr && unswept.row.added && unswept.row.before.empty();
    // By names: GCC 12 destroys temporary arguments of what is awaited twice.
    const ExecuteOptions options{.previous = unswept.run.get(),
                                 .stop = std::move(stop),
                                 .needed = &needed,
                                 .row_read = row_alone ? row_read_by(*unswept.row.added, *plan) : std::nullopt};
    const std::shared_ptr<const Run> run = co_await execute_in_slices(plan, options);
    if (run == nullptr) co_return std::nullopt;
    Computed computed;
    Result& result = computed.result;
    result.at = std::move(point.at);
    if (row != nullptr) {
        result.value = run->value(row->id);
        computed.row = *row;
    }
    if (wanted.output != nullptr && wanted.of_output == OfOutput::effect) {
        const Tensor mask = padding_of(unswept.scenario);
        const OutputMoves moves = co_await output_moves(unswept.run, run, mask);
        result.effect = effect_of(unswept.scenario, moves);
        if (result.effect && result.effect->predicts) result.predictions_changed = result.effect->changed;
    } else if (wanted.output != nullptr) {
        result.predictions_changed = changed_predictions(unswept, *wanted.output, *run);
    }
    co_return computed;
}

// The row without any change; nothing if only the varied runs have it, or if it was stopped.
Resumable<std::optional<Tensor>> unswept_row(const Unswept& unswept, std::size_t runs, std::stop_token stop) {
    try {
        Point unchanged;
        const Wanted row_alone{.runs = runs};
        std::optional<Computed> plain = co_await computed_at(unswept, std::move(unchanged), row_alone, std::move(stop));
        if (plain) co_return std::move(plain->result.value);
    } catch (const Error&) {
        // As a row of what only dropout adds.
    }
    co_return std::nullopt;
}

}  // namespace

Resumable<Sweep> swept(Unswept unswept, Points points, SweepOptions options, std::stop_token stop) {
    const Wanted wanted = wanted_of(unswept, points.count, options.output);
    Sweep sweep{.row = unswept.row.tensor,
                .title = text_of(unswept.row),
                .varied = points.varied,
                .predicts = wanted.predictions()};
    for (std::size_t i = 0; i < points.count && !stop.stop_requested(); ++i) {
        co_yield kPause;
        Point point = points.at(i);
        const std::string where = text_of(points.varied, point.at);
        try {
            std::optional<Computed> computed = co_await computed_at(unswept, std::move(point), wanted, stop);
            if (!computed) break;
            computed->result.point = i;
            sweep.results.push_back(std::move(computed->result));
            if (!sweep.step) sweep.step = std::move(computed->row);
        } catch (const Error& error) {
            throw Error("{where}: {why}", {{"where", where}, {"why", error.sentence()}});
        }
        if (options.done != nullptr) options.done->fetch_add(1, std::memory_order_relaxed);
    }
    const bool has_unswept = options.unswept && !sweep.row.empty() && points.at(0).numbers.empty();
    if (!has_unswept || stop.stop_requested()) co_return sweep;
    sweep.unswept = co_await unswept_row(unswept, points.count, stop);
    co_return sweep;
}

void check_alike(const Sweep& sweep) {
    for (const Result& result : sweep.results)
        if (result.value.axes() != sweep.results.front().value.axes())
            throw Error("{row}: another shape in some of the runs, which no table can show: expected JSON",
                        {{"row", sweep.row}});
}

Sweep sorted(Sweep sweep) {
    const auto is_number = [](const Result& result) { return result.value.size() == 1; };
    if (!std::ranges::all_of(sweep.results, is_number))
        throw Error("{row}: more than one number in each run, expected one to sort by", {{"row", sweep.row}});
    std::ranges::stable_sort(sweep.results, [](const Result& a, const Result& b) {
        const float first = a.value.values()[0], second = b.value.values()[0];
        return std::isnan(first) || std::isnan(second) ? !std::isnan(first) && std::isnan(second) : first > second;
    });
    return sweep;
}

}  // namespace decoderscope::core::sweep

#include "app/core/sweep/sweep.h"

#include "app/core/run/output_moves.h"
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

// The plan of one run, with the row.
std::shared_ptr<const Plan> plan_at(const Unswept& unswept, const Point& point) {
    Scenario scenario = unswept.scenario;
    if (point.training_step) scenario.set_model(unswept.trained(*point.training_step));
    scenario = varied(std::move(scenario), point.variation);
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
    return count_of_changed_predictions(before, after, unswept.scenario.inputs.attention_mask);
}

// One run's row, and what it changed. `output` is nullptr if that isn't asked for. Nothing if it was stopped.
Resumable<std::optional<Result>> result_at(const Unswept& unswept, Point point, Ref output, std::size_t runs,
                                           std::stop_token stop) {
    const std::shared_ptr<const Plan> plan = plan_at(unswept, point);
    const Step& row = row_in(*plan, unswept.row, runs);
    const NeededSteps needed = needed_steps(
        *plan, [&](const Step& step) { return step.id == row.id || (output != nullptr && step.name == output->name); });
    // By names: GCC 12 destroys temporary arguments of what is awaited twice.
    const ExecuteOptions options{.previous = unswept.run.get(), .stop = std::move(stop), .needed = &needed};
    const std::shared_ptr<const Run> run = co_await execute_in_slices(plan, options);
    if (run == nullptr) co_return std::nullopt;
    Result result{std::move(point.at), run->value(row.id)};
    if (output != nullptr) result.predictions_changed = changed_predictions(unswept, *output, *run);
    co_return result;
}

}  // namespace

Resumable<Sweep> swept(Unswept unswept, Points points, SweepOptions options, std::stop_token stop) {
    const Ref last = output_step(unswept.run->plan());
    const Ref output = options.predictions && last != nullptr && predicts_tokens(*last) ? last : nullptr;
    Sweep sweep{.row = unswept.row.tensor, .varied = points.varied, .predicts = output != nullptr};
    for (std::size_t i = 0; i < points.count && !stop.stop_requested(); ++i) {
        co_yield kPause;
        Point point = points.at(i);
        const std::string where = text_of(points.varied, point.at);
        try {
            auto result = co_await result_at(unswept, std::move(point), output, points.count, stop);
            if (!result) break;
            sweep.results.push_back(*std::move(result));
        } catch (const Error& error) {
            throw Error("{where}: {why}", {{"where", where}, {"why", error.sentence()}});
        }
        if (options.done != nullptr) options.done->fetch_add(1, std::memory_order_relaxed);
    }
    if (!points.at(0).numbers.empty() || stop.stop_requested()) co_return sweep;
    Point unchanged;
    const std::optional<Result> plain = co_await result_at(unswept, std::move(unchanged), nullptr, points.count, stop);
    if (plain) sweep.unswept = plain->value;
    co_return sweep;
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

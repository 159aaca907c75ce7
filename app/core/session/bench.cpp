#include "app/core/session/bench.h"

#include <algorithm>
#include <chrono>

namespace decoderscope {

namespace {

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return values.size() % 2 == 1 ? *middle : (*middle + *std::max_element(values.begin(), middle)) / 2.0;
}

double median_ms(const std::shared_ptr<const Plan>& plan, const ExecuteOptions& options, int repeat) {
    using Clock = std::chrono::steady_clock;
    std::vector<double> times;
    for (int i = 0; i < repeat; ++i) {
        const Clock::time_point start = Clock::now();
        const std::shared_ptr<const Run> run = execute(plan, options);
        times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    }
    return median(std::move(times));
}

}  // namespace

BenchResult bench_forward(const Scenario& timed, int repeat) {
    Scenario scenario = timed;
    scenario.gradients_of.clear();
    const std::shared_ptr<const Plan> plan = plan_of(scenario);
    BenchResult result{.runs = repeat, .recorded_bytes = execute(plan)->recorded_bytes()};
    result.forward_ms = median_ms(plan, {}, repeat);
    const auto outputs_only = [](const Step& step) { return step.name == "logits"; };
    result.unrecorded_ms = median_ms(plan, {.kept = outputs_only}, repeat);
    if (!timed.gradients_of.empty()) {
        const std::shared_ptr<const Plan> both_ways = plan_of(timed);
        static_cast<void>(execute(both_ways));
        result.with_gradients_ms = median_ms(both_ways, {}, repeat);
    }
    if (scenario.edits.empty()) return result;
    Scenario unedited = scenario;
    unedited.edits.clear();
    const std::shared_ptr<const Run> before = execute(plan_of(unedited));
    const std::vector<std::string> last_row_first = {"logits"};
    result.edit_ms = median_ms(plan, {.previous = before.get(), .last_row_first = last_row_first}, repeat);
    result.edit_complete_ms = median_ms(plan, {.previous = before.get()}, repeat);
    return result;
}

}  // namespace decoderscope

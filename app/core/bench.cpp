#include "app/core/bench.h"

#include <algorithm>
#include <chrono>

namespace decoderscope {

namespace {

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return values.size() % 2 == 1 ? *middle : (*middle + *std::max_element(values.begin(), middle)) / 2.0;
}

// The median time of a run that takes over what it can from another one.
double median_ms(const std::shared_ptr<const Plan>& plan, const Run* previous, int repeat) {
    using Clock = std::chrono::steady_clock;
    std::vector<double> times;
    for (int i = 0; i < repeat; ++i) {
        const Clock::time_point start = Clock::now();
        const std::shared_ptr<const Run> run = execute(plan, {.previous = previous});
        times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    }
    return median(std::move(times));
}

}  // namespace

BenchResult bench_forward(const Scenario& scenario, int repeat) {
    const std::shared_ptr<const Plan> plan = plan_of(scenario);
    BenchResult result{.runs = repeat, .recorded_bytes = execute(plan)->recorded_bytes()};
    result.forward_ms = median_ms(plan, nullptr, repeat);
    if (scenario.edits.empty()) return result;
    Scenario unedited = scenario;
    unedited.edits.clear();
    const std::shared_ptr<const Run> before = execute(plan_of(unedited));
    result.edit_ms = median_ms(plan, before.get(), repeat);
    return result;
}

}  // namespace decoderscope

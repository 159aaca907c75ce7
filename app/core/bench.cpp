#include "app/core/bench.h"

#include <algorithm>
#include <chrono>

namespace decoderscope {

BenchResult bench_forward(const Scenario& scenario, int repeat) {
    using Clock = std::chrono::steady_clock;
    const std::shared_ptr<const Plan> plan = plan_of(scenario);
    BenchResult result{.runs = repeat, .recorded_bytes = execute(plan)->recorded_bytes()};
    std::vector<double> times;
    for (int i = 0; i < repeat; ++i) {
        const Clock::time_point start = Clock::now();
        const std::shared_ptr<const Run> run = execute(plan);
        times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    }
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    result.forward_ms = *middle;
    if (times.size() % 2 == 0) result.forward_ms = (*middle + *std::max_element(times.begin(), middle)) / 2.0;
    return result;
}

}  // namespace decoderscope

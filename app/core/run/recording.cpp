#include "app/core/run/recording.h"

#include "engine/base/error.h"
#include "engine/platform/process.h"
#include "engine/tensor/memory.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>

namespace decoderscope::core {

namespace {

std::size_t bytes_of(const Step& step) { return static_cast<std::size_t>(element_count(step.axes)) * sizeof(float); }

}  // namespace

bool is_recorded(const Step& step, Recording recording) {
    if (recording == Recording::all) return true;
    const bool inside_mlp = !step.axes.empty() && step.axes.back().name == axis::d_ff;
    return !step.is_scores && !inside_mlp;
}

std::function<bool(const Step&)> kept_steps(Recording recording) {
    if (recording == Recording::all) return {};
    return [recording](const Step& step) { return is_recorded(step, recording); };
}

std::size_t bytes_needed(const Plan& plan, Recording recording, bool looked_at) {
    std::size_t kept = 0, largest = 0;  // a freed tensor exists for a moment
    for (const Step& step : plan.steps()) {
        if (step.is_source() || step.role == Role::on_demand) continue;
        const Traits traits = step.operation.traits();
        if (traits.recorded_elsewhere || (!looked_at && traits.deferred)) continue;
        if (is_recorded(step, recording))
            kept += bytes_of(step);
        else
            largest = std::max(largest, bytes_of(step));
    }
    return kept + 2 * largest;
}

std::optional<std::size_t> bytes_free() {
    const std::optional<std::uint64_t> free = platform::free_bytes_of_memory();
    if (!free) return std::nullopt;
    constexpr std::uint64_t kMost = std::numeric_limits<std::size_t>::max() / 2;
    return static_cast<std::size_t>(std::min(*free, kMost)) + kept_memory();
}

void check_memory(const Plan& plan, Recording recording) {
    constexpr std::size_t kAlwaysThere = 64'000'000;
    if (bytes_needed(plan, recording) > kAlwaysThere) check_memory(plan, recording, bytes_free());
}

void check_memory(const Plan& plan, Recording recording, std::optional<std::size_t> free) {
    const std::size_t needed = bytes_needed(plan, recording);
    if (!free || needed <= *free) return;
    const std::size_t less = bytes_needed(plan, Recording::patterns);
    const Arguments sizes = {{"needed", bytes_text(needed)}, {"free", bytes_text(*free)}, {"less", bytes_text(less)}};
    if (recording == Recording::all && less < needed)
        throw Error(
            "this run needs {needed} for its tensors, but only {free} of memory is free: shorten the text, or record "
            "less (--record patterns, or the palette in the window), which needs {less}",
            sizes);
    throw Error("this run needs {needed} for its tensors, but only {free} of memory is free: shorten the text", sizes);
}

std::string bytes_text(std::size_t bytes) {
    const auto number = static_cast<double>(bytes);
    std::array<char, 32> text{};
    if (number >= 1e9)
        std::snprintf(text.data(), text.size(), "%.1f GB", number / 1e9);
    else
        std::snprintf(text.data(), text.size(), "%.1f MB", number / 1e6);
    return text.data();
}

}  // namespace decoderscope::core

#pragma once

#include "app/core/answer/table.h"
#include "app/core/derived/derived.h"
#include "app/core/jobs/resumable.h"
#include "app/core/run/scenario.h"
#include "app/core/run/snapshot.h"
#include "engine/graph/plan.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// What each step of a pass costs: time, measured; and memory, operations and bytes moved, counted from its operation
// and the shapes of its tensors (engine/graph/work.h).
namespace decoderscope::core::ask {

struct Cost {
    std::uint64_t nanoseconds = 0;
    std::uint64_t kept_bytes = 0;   // of its tensor, if the recording keeps it (app/core/run/scenario.h)
    std::uint64_t operations = 0;   // on floating-point numbers; a multiply-add is two
    std::uint64_t moved_bytes = 0;  // the numbers that it reads, each once, and those that it makes, in float32

    Cost& operator+=(const Cost& other);
    bool operator==(const Cost&) const = default;
};

struct StepCost {
    StepId step = 0;
    Cost cost;
};

// The steps that a pass computes, in order.
struct PassCost {
    std::vector<StepCost> steps;
    std::size_t passes = 0;          // each step's time is the median of so many
    std::uint64_t weight_bytes = 0;  // of the weights as float32, which stay from pass to pass
};

// How many passes are measured: more than `least` as long as they haven't taken `seconds`, up to `most`.
struct Passes {
    std::size_t least = 3, most = 25;
    double seconds = 0.5;
};

// Everything but the time.
[[nodiscard]] Cost counted_cost(const Plan& plan, const Step& step, const KeptTensors& kept);

// Runs the plan again and again, after a pass that doesn't count, and times each step. The plan must compute: a
// recording has nothing to measure.
[[nodiscard]] Resumable<PassCost> measured_cost(std::shared_ptr<const Plan> plan, KeptTensors kept, Passes passes);

// Of the shown run; empty while it is being measured.
[[nodiscard]] Value<PassCost> shown_cost(Derived& derived, const Snapshot& shown);

// What a row of the table is about, and what the rows are sorted by: the titles of its columns, or the order of
// computation.
enum class Grouping { step, part, block };
inline constexpr std::array<std::string_view, 3> kGroupingNames = {"step", "part", "block"};
inline constexpr std::array<std::string_view, 5> kSorts = {"order", "time", "memory", "operations", "moved"};

// A row leads to its step, or to the one of its part or block that costs most of what the rows are sorted by.
[[nodiscard]] Table cost_table(const Plan& plan, const PassCost& pass, Grouping grouping, std::string_view sort);

}  // namespace decoderscope::core::ask

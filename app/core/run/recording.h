#pragma once

#include "engine/base/message.h"
#include "engine/graph/run.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

// What a run keeps of what it computes. A long text on a large model makes more numbers than there is memory for: the
// scores and patterns of 16,384 tokens alone are 1 GB a head. What isn't kept is a recipe, and computed when it is
// read, with the same bits (engine/graph/on_demand.h).
namespace decoderscope::core {

enum class Recording {
    fit,       // what there is memory for, and what is slow to compute again; all of a run that is small
    all,       // every tensor
    patterns,  // all but scores and what is inside MLPs
};

// Which of a plan's tensors a run keeps.
struct KeptTensors {
    std::vector<bool> steps;  // [step]; empty: every one
    std::size_t bytes = 0;    // what they take, without weights and inputs, and what is made beside them for a moment

    [[nodiscard]] bool operator()(const Step& step) const { return steps.empty() || steps[step.id]; }
    // In the form that execute() takes: empty if all are kept.
    [[nodiscard]] std::function<bool(const Step&)> in_a_run() const;
};

// What there is room for is kept: the residual stream, keys, values and norms' scales always, of the rest what takes
// the most operations for its bytes; and nothing large that is computed again in less time than it takes to write.
// `room` is in bytes; nothing: no limit.
[[nodiscard]] KeptTensors kept_of(const Plan& plan, Recording recording, std::optional<std::size_t> room);

// As above, with the room that there is now. `memory`: what the process may take, weights included; 0: no limit but the
// machine's, or the container's.
[[nodiscard]] KeptTensors kept_now(const Plan& plan, Recording recording, std::uint64_t memory);

// The bytes that a step's tensor takes once computed, if it is kept: none for weights and inputs. On-demand tensors
// count only if `looked_at`, those on the way to the trace (Role::on_demand) never.
[[nodiscard]] std::size_t kept_bytes(const Step& step, const KeptTensors& kept, bool looked_at = false);

// The bytes that a plan's tensors take if all of them are kept. On-demand tensors (masks, masked scores, probs) count
// only if `looked_at`.
[[nodiscard]] std::size_t bytes_of_all(const Plan& plan, bool looked_at = false);

// The bytes that tensors of a run may still take; nothing if that isn't known.
[[nodiscard]] std::optional<std::size_t> room_for_tensors(const Plan& plan, std::uint64_t memory);

// Throws Error if a plan needs more than there is room for, saying how much it needs and what would need less.
void check_memory(const Plan& plan, Recording recording, std::uint64_t memory);
void check_room(const Plan& plan, Recording recording, std::optional<std::size_t> room);

// How much of a run wasn't kept, in one sentence; empty if nothing large.
[[nodiscard]] Sentence what_was_left_out(const Run& run);

// "13.2 GB"
[[nodiscard]] std::string bytes_text(std::size_t bytes);

}  // namespace decoderscope::core

#pragma once

#include "engine/plan.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace decoderscope {

// How much of a run is kept. A long text on a large model may need more memory than there is.
enum class Recording {
    all,       // every tensor
    patterns,  // the scores and what is inside of the MLPs, which are the largest, are recomputed on demand
};

// Whether a step's tensor is kept.
[[nodiscard]] bool is_recorded(const Step& step, Recording recording);

// The same as execute() asks for it: empty where all are kept.
[[nodiscard]] std::function<bool(const Step&)> kept_steps(Recording recording);

// The bytes that a plan's tensors take once they are computed, weights and inputs not counted. What is made only when
// somebody looks (masks, masked scores, probs) is counted where `looked_at`.
[[nodiscard]] std::size_t bytes_needed(const Plan& plan, Recording recording, bool looked_at = false);

// The bytes that the machine can still give, and those that we kept from earlier runs; nothing where it doesn't say.
[[nodiscard]] std::optional<std::size_t> bytes_free();

// Throws Error where a plan needs more than is free: how much, and what would need less.
void check_memory(const Plan& plan, Recording recording);
void check_memory(const Plan& plan, Recording recording, std::optional<std::size_t> free);

// "13.2 GB"
[[nodiscard]] std::string bytes_text(std::size_t bytes);

}  // namespace decoderscope

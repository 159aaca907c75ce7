#pragma once

#include "engine/graph/plan.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace decoderscope::core {

// How much of a run is kept. A long text on a large model may need more memory than there is.
enum class Recording {
    all,       // every tensor
    patterns,  // the largest tensors, scores and MLP internals, are recomputed on demand
};

// Whether a step's tensor is kept.
[[nodiscard]] bool is_recorded(const Step& step, Recording recording);

// As above, in the form that execute() takes: empty if all are kept.
[[nodiscard]] std::function<bool(const Step&)> kept_steps(Recording recording);

// The bytes that a plan's tensors take once computed, without weights and inputs. On-demand tensors (masks, masked
// scores, probs) count only if `looked_at`.
[[nodiscard]] std::size_t bytes_needed(const Plan& plan, Recording recording, bool looked_at = false);

// The bytes that the machine can still give plus those we kept from earlier runs; nothing if that isn't known.
[[nodiscard]] std::optional<std::size_t> bytes_free();

// Throws Error if a plan needs more than is free, saying how much it needs and what would need less.
void check_memory(const Plan& plan, Recording recording);
void check_memory(const Plan& plan, Recording recording, std::optional<std::size_t> free);

// "13.2 GB"
[[nodiscard]] std::string bytes_text(std::size_t bytes);

}  // namespace decoderscope::core

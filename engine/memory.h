#pragma once

#include "engine/storage.h"

#include <memory>

namespace decoderscope {

// Room for so many floats, not yet written, aligned for vector instructions. Large pieces are kept when they are given
// back and handed out again: a run's tensors then lie where the run's before it lay, on pages that are there already.
// (Asking the system for fresh pages costs about as much as computing what is written to them.)
[[nodiscard]] std::shared_ptr<float> floats(Index count);

// Gives back to the system what is kept and not in use.
void trim_memory();

}  // namespace decoderscope

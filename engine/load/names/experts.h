#pragma once

#include "engine/load/names/modules.h"

#include <vector>

namespace decoderscope::load::names {

// Takes a mixture of experts out of a block's modules, by the names of Hugging Face's files: the router with its
// correction, the experts' matrices, one by one or all in one tensor, and the MLP that all positions share. Empty if
// the block has none.
[[nodiscard]] std::vector<Assigned> take_experts(Modules& modules);

}  // namespace decoderscope::load::names

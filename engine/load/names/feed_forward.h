#pragma once

#include "engine/load/names/modules.h"

#include <vector>

namespace decoderscope::load::names {

// Takes the feed-forward's matrices out of what is left of a block: up_proj, down_proj and, if there are three or one
// is twice as high, gate_proj. Empty if words, numbers and shapes don't settle which is which.
[[nodiscard]] std::vector<Assigned> take_feed_forward(Modules& modules, Context& context);

}  // namespace decoderscope::load::names

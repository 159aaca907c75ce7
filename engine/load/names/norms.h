#pragma once

#include "engine/load/names/modules.h"

#include <string>
#include <vector>

namespace decoderscope::load::names {

// A sublayer of a block, as far as its norm depends on it.
struct Sublayer {
    enum class Kind { self_attention, cross_attention, feed_forward };
    Kind kind;
    std::vector<Path> paths;  // of its modules
    std::string norm;         // "norm1"
};

// Takes the norms out of what is left of a block and gives each to its sublayer: one that stands within it or is called
// after it, otherwise in the order of their numbers. What isn't settled stays in `modules`.
[[nodiscard]] std::vector<Assigned> take_norms(Modules& modules, const std::vector<Sublayer>& sublayers,
                                               const Context& context);

}  // namespace decoderscope::load::names

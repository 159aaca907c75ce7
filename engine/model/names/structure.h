#pragma once

#include "engine/model/names/modules.h"

#include <vector>

namespace decoderscope::names {

// A stack of blocks: modules under consecutive numbers of which each holds an attention.
struct Stack {
    Path prefix;                  // what stands before the number
    std::vector<Modules> blocks;  // with paths within the block
};

struct Structure {
    std::vector<Stack> stacks;  // one block without a number is a stack, too
    Modules outside;            // everything else
};

// Finds the stacks. Where attentions and feed-forwards are layers of their own that alternate, a block is an attention,
// the cross-attention after it, and the feed-forward after these.
[[nodiscard]] Structure structure_of(const Modules& modules);

}  // namespace decoderscope::names

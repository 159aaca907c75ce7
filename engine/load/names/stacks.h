#pragma once

#include "engine/load/names/modules.h"

#include <vector>

namespace decoderscope::load::names {

// A stack of blocks: modules under consecutive numbers of which each holds an attention.
struct Stack {
    Path prefix;                  // what comes before the number
    std::vector<Modules> blocks;  // with paths within the block
};

struct Structure {
    std::vector<Stack> stacks;  // one block without a number is a stack, too
    Modules outside;            // everything else
};

// Finds the stacks. If attentions and feed-forwards are layers of their own that alternate, a block is an attention,
// the cross-attention after it, and the feed-forward after these.
[[nodiscard]] Structure structure_of(const Modules& modules);

// What comes before and after the blocks, under the contract's names: embed, pos_embed, embed_norm, norm, lm_head,
// and the encoder's own. A module can be several: one embedding for both sides. What is not recognised stays in
// `modules`.
[[nodiscard]] std::vector<Assigned> take_outside(Modules& modules, bool has_encoder, Context& context);

}  // namespace decoderscope::load::names

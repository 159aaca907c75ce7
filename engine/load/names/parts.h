#pragma once

#include "engine/load/names/modules.h"

#include <string>
#include <vector>

namespace decoderscope::load::names {

// A sublayer of a block: what its modules are ("self_attn.q_proj", "up_proj"), and which norm is its own.
struct Sublayer {
    enum class Kind { self_attention, cross_attention, feed_forward };
    Kind kind;
    std::vector<Assigned> parts;
    std::string norm;  // "norm1"
};

// Whether these modules of a would-be block have a query, a key and a value, or all three in one.
[[nodiscard]] bool has_attention(const Modules& modules);

// Takes what assets/tables/names.json lists under "parts" by its name in Hugging Face's files: sinks, then a mixture of
// experts, then a latent attention, each empty if the block has none.
[[nodiscard]] std::vector<std::vector<Assigned>> take_known(Modules& modules, Context& context);

// Takes experts that lie in one tensor for each of their matrices, [expert, …, …], and what has a row for each of them,
// whatever they are called.
[[nodiscard]] std::vector<Assigned> take_stacked_experts(Modules& modules, Context& context);

// Takes the attentions out of a block's modules, self-attention first.
[[nodiscard]] std::vector<Sublayer> take_attentions(Modules& modules, Context& context);

// Takes the feed-forward's matrices out of what is left of a block: up_proj, down_proj and, if there are three or one
// is twice as high, gate_proj. Empty if words, numbers and shapes don't settle which is which.
[[nodiscard]] std::vector<Assigned> take_feed_forward(Modules& modules, Context& context);

// Takes the norms out of what is left of a block and gives each to its sublayer: one that stands within it or is called
// after it, otherwise in the order of their numbers. What isn't settled stays in `modules`.
[[nodiscard]] std::vector<Assigned> take_norms(Modules& modules, const std::vector<Sublayer>& sublayers,
                                               const Context& context);

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

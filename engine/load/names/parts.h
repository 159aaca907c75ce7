#pragma once

#include "engine/load/names/modules.h"

#include <string>
#include <vector>

namespace decoderscope::load::names {

// An attention of a block: where its modules are, and what each is.
struct FoundAttention {
    Path path;    // the module that holds it; empty if that is the block itself
    Words words;  // of what tells it from another attention of the block: "self", "attn", "1"
    bool cross = false;
    std::vector<Assigned> parts;  // "self_attn.q_proj", …
};

// Whether these modules of a would-be block have a query, a key and a value, or all three in one.
[[nodiscard]] bool has_attention(const Modules& modules);

// Takes the attentions out of a block's modules, self-attention first.
[[nodiscard]] std::vector<FoundAttention> take_attentions(Modules& modules, Context& context);

// Takes a latent attention out of a block's modules, by the names of DeepSeek's files. Empty if the block has none.
[[nodiscard]] std::vector<Assigned> take_latent_attention(Modules& modules);

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

// Takes a mixture of experts out of a block's modules, by the names of Hugging Face's files: the router with its
// correction, the experts' matrices, one by one or all in one tensor, and the MLP that all positions share. Empty if
// the block has none.
[[nodiscard]] std::vector<Assigned> take_experts(Modules& modules);

// Takes the feed-forward's matrices out of what is left of a block: up_proj, down_proj and, if there are three or one
// is twice as high, gate_proj. Empty if words, numbers and shapes don't settle which is which.
[[nodiscard]] std::vector<Assigned> take_feed_forward(Modules& modules, Context& context);

}  // namespace decoderscope::load::names

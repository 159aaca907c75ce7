#pragma once

#include "engine/graph/run.h"
#include "engine/model/config.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope::decoder {

// The rows that one attention keeps, so that later positions need not recompute them.
struct KeptRows {
    Tensor k;  // [batch, kv_head, past, d_head], after RoPE, if any
    Tensor v;  // [batch, kv_head, past, d_head]
    // What latent attention keeps instead: k and v are made from it when they are read.
    Tensor latent;  // [batch, past, kv_lora_rank]
    Tensor shared;  // [batch, 1, past, qk_rope_head_dim], after RoPE, if any

    // Those that there are, by the names of the steps that hold them: "k", "v", "kv_latent", "k_shared".
    [[nodiscard]] std::vector<std::pair<std::string_view, Tensor>> named() const;
    [[nodiscard]] Index numbers() const { return k.size() + v.size() + latent.size() + shared.size(); }
};

// The KV cache: all that a causal decoder needs of earlier positions. Attention is the only layer in which one position
// reads another, and it reads only k and v. Cross-attention keeps the rows of the whole memory, so that the encoder is
// not run again.
struct Past {
    Index positions = 0;                                      // how many are kept
    std::map<std::string, KeptRows, std::less<>> attentions;  // by name: "blocks.0.attn", "blocks.0.cross_attn"

    // The rows of an attention; empty tensors if nothing is kept.
    [[nodiscard]] const KeptRows& of(std::string_view attention) const;
    // How many numbers are kept.
    [[nodiscard]] Index numbers() const;
};

// What a decoder's run leaves for later positions: k and v of each of its attentions, including those it was given.
[[nodiscard]] Past past_of(const Run& run);

// What a past holds of its first positions, at most all of them; what is kept of a memory stays whole.
[[nodiscard]] Past first_of(Past past, Index positions);

// Whether this many positions can follow a past. They can't if LongRoPE rotates the longer text by other divisors than
// those by which the kept rows were rotated.
[[nodiscard]] bool can_continue(const Past& past, const Config& config, Index added);

// Checks that a past fits this configuration, batch size and number of positions that are added. Throws Error naming
// the attention and what was expected.
void check_past(const Past& past, const Config& config, Index batch, Index added);

}  // namespace decoderscope::decoder

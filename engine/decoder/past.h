#pragma once

#include "engine/model/config.h"
#include "engine/run.h"

#include <functional>
#include <map>
#include <string>

namespace decoderscope {

// The rows that one attention keeps, so that the positions after them need not compute them again.
struct KeptRows {
    Tensor k;  // [batch, kv_head, past, d_head], after RoPE where there is one
    Tensor v;  // [batch, kv_head, past, d_head]
};

// The KV cache: all that a causal decoder needs to know of the positions before, because attention is the only layer in
// which a position reads another, and it reads nothing of it but k and v. Cross-attention keeps the rows of the whole
// memory, so that the encoder is not run again.
struct Past {
    Index positions = 0;                                      // how many are behind us
    std::map<std::string, KeptRows, std::less<>> attentions;  // by name: "blocks.0.attn", "blocks.0.cross_attn"

    // The rows of an attention; empty tensors where nothing is kept.
    [[nodiscard]] const KeptRows& of(std::string_view attention) const;
    // How many numbers are kept.
    [[nodiscard]] Index numbers() const;
};

// What a decoder's run leaves for the positions after it: k and v of each of its attentions, those that it was given
// itself among them.
[[nodiscard]] Past past_of(const Run& run);

// Checks that a past is one of this configuration and batch. Throws Error naming the attention and what was expected.
void check_past(const Past& past, const Config& config, Index batch);

}  // namespace decoderscope

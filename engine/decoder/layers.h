#pragma once

#include "engine/decoder/decoder.h"
#include "engine/decoder/kv_cache.h"
#include "engine/ops/positions.h"

#include <functional>
#include <optional>
#include <string>

// The pieces that decoder.cpp assembles. Each is the tutorials' diagram as code, one line per step.
namespace decoderscope::decoder {

// What every piece writes to and reads from.
struct Builder {
    Plan& plan;
    const Config& config;
    const Past& past;  // empty if the pass begins at the first position
    std::optional<std::uint64_t> dropout_seed;
    std::function<bool(const std::string& tensor)> edited;  // whether an edit names that tensor
    Index text_length;                                      // of the decoder's text, with what was kept of it
};

// A stack of blocks: the prefix of its tensors' and parameters' names ("" or "encoder."), and what it attends to.
struct Stack {
    std::string prefix;
    Index layers = 0;
    bool causal = true;
    bool windowed = false;                        // whether sliding_window limits what it sees
    Ref padding = nullptr;                        // [batch, key]
    Ref custom = nullptr;                         // broadcastable to [batch, head, query, key]
    Ref positions = nullptr, segments = nullptr;  // [batch, key]
    bool cross_attention = false;
    Ref memory = nullptr;          // [batch, src, d_model]; nullptr if its k and v were kept
    Ref memory_padding = nullptr;  // [batch, src]
};

// A Linear's parameters; the bias is nullptr if the configuration has none.
struct LinearParameters {
    Ref weight = nullptr;  // [out, in]
    OptionalRef bias;      // [out]
};
[[nodiscard]] LinearParameters linear_parameters(Builder& b, const std::string& name, Index out, Index in);

// What enters a stack: the tokens' embedding (or x itself), and the positions to add to it. Under embedding_norm their
// normalised sum.
struct Entering {
    Ref content = nullptr;    // [batch, pos, d_model]
    Ref positions = nullptr;  // [pos, d_model], or [batch, pos, d_model]; nullptr if nothing is added
};
// `numbers`: of the positions [batch, key]; nullptr if they are counted from the first.
[[nodiscard]] Entering embedding(Builder& b, const std::string& prefix, Ref tokens, Ref x, Index vocab_size,
                                 Ref numbers);

// The weight of a norm over these axes; nullptr if norms have none (norm_gain).
[[nodiscard]] OptionalRef gain_parameter(Builder& b, const std::string& name, Axes axes);

// {x [batch, pos, d_model]} -> at + ".scale", at + ".normalized" [batch, pos, d_model]
[[nodiscard]] Ref norm(Builder& b, const std::string& at, const std::string& parameters, Ref x);

// One attention: its names, queries, memory and masks.
struct Attention {
    std::string at;          // "blocks.0.attn"
    std::string parameters;  // "layers.0.self_attn"
    Ref queries = nullptr;   // [batch, query, d_model]
    Ref memory = nullptr;    // [batch, key, d_model]: the same as `queries` in self-attention; nullptr if its k and v
                             // were kept
    bool causal = false;
    Ref padding = nullptr;               // [batch, key]
    Ref custom = nullptr;                // broadcastable to [batch, head, query, key]
    Ref positions = nullptr;             // [batch, key]: their numbers, if they aren't counted
    Ref segments = nullptr;              // [batch, key]
    Index window = 0;                    // how many positions back it sees; 0 = all
    std::optional<ops::Rope> rope = {};  // how q and k are rotated, from the first new position on; none: not at all
    std::string distances = {};          // the table of a bias by distance; empty: none
    bool both_ways = false;              // an encoder's: keys after the query have distances of their own
};
// -> attention.at + "_out" [batch, query, d_model]
[[nodiscard]] Ref attention(Builder& b, const Attention& attention);

// {x [batch, pos, d_model]} -> block + ".mlp_out" [batch, pos, d_model], after its dropout. `experts`: a mixture of
// them
[[nodiscard]] Ref feed_forward(Builder& b, const std::string& block, const std::string& parameters, bool experts,
                               Ref x);
// As above, by the experts that a router chooses, before its dropout.
[[nodiscard]] Ref mixture(Builder& b, const std::string& block, const std::string& parameters, Ref x);

// One of the projections through which an MLP reads its input ("up_proj"), as the step of that name.
using Hidden = std::function<Ref(const std::string& step, const char* projection)>;
// The wide rows of an MLP after activation, gate and dropout: at + ".pre", ".gate", ".post".   -> [batch, pos, …, d_ff]
[[nodiscard]] Ref hidden(Builder& b, const std::string& at, const std::string& parameters, const Hidden& read);

// Dropout at one site, applied to x; x itself if dropout is off.
[[nodiscard]] Ref dropout(Builder& b, DropoutSite site, Ref x);

// All blocks of a stack in order: the output of each.   -> [batch, pos, d_model] each
[[nodiscard]] std::vector<Ref> blocks(Builder& b, const Stack& stack, Entering entering);

}  // namespace decoderscope::decoder

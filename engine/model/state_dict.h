#pragma once

#include "engine/plan.h"

#include <map>
#include <string>

namespace decoderscope {

// A checkpoint's parameters under the contract's canonical names: what a module's state_dict calls them is recognised
// by its keys. Known are the canonical names themselves, the seeds' SimpleDecoder, Decoder, TransformerDecoderBlock,
// TransformerDecoder and DecoderLayer, torch.nn.TransformerDecoder, and Hugging Face's GPT-2 and Llama.
//
// Fused projections are cut: torch.nn.MultiheadAttention's in_proj_weight [3·d_model, d_model] and GPT-2's c_attn,
// whose Conv1D weights are [in, out] (minGPT has the same names with [out, in]; c_attn's shape decides). Buffers that
// are no parameters (causal masks, rotary frequencies, positional codes) are left out. A name that nothing is known of
// stays as it is, so that whoever checks the names can tell it. Throws Error naming two tensors that mean the same.
[[nodiscard]] Weights canonical_weights(const Weights& state_dict);

// What the shapes and names of canonical weights say of the configuration, as a config.json of the contract. What they
// don't say (nhead, norm_first, activation, eps, …) is left out or at the contract's default.
[[nodiscard]] std::string inferred_config(const Weights& weights);

}  // namespace decoderscope

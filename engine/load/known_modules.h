#pragma once

#include "engine/base/message.h"
#include "engine/load/state_dict.h"

namespace decoderscope::load {

// A kind of module and what its tensors don't say: the proposals for what is asked.
struct KnownModule {
    Sentence name;
    bool norm_first = false;
    const char* activation = "relu";
    const char* eps = "1e-05";
    const char* norm = "layernorm";
    const char* positions = "none";
    const char* mask = "-inf";
    bool tied_head = false;            // a head that is not stored is the embedding
    bool scaled_embedding = false;     // by √d_model
    bool interleaved = false;          // RoPE
    bool settled_scale = false;        // scores are divided by √d_head, as every version of it does
    bool scaled_positions = false;     // by 1/√d_model
    bool scaled_logits = false;        // by 1/√d_model
    bool scores_by_width = false;      // scores are divided by √d_model
    bool may_be_gemma = false;         // whose names are the same and whose gains are 1 + weight
    bool partly_rotary = false;        // RoPE may turn only some columns
    bool unscaled_scores = false;      // q·k as it is, T5's
    bool may_have_window = false;      // sliding_window, in blocks that the tensors don't tell
    bool may_scale_rope = false;       // rope_scaling
    bool may_differ_by_layer = false;  // RoPE: layers without it, layers with a base of their own
    bool may_be_multiplied = false;    // Granite's multipliers of embedding, updates, scores and logits
    bool capped = false;               // Gemma 2's soft caps
    bool may_be_parallel = false;      // attention and MLP in one sum, each under its own norm
    bool alibi = false;
    const char* logit_cap = nullptr;  // its norms, of q and k and behind the embedding, too, leave no trace; neither
                                      // does this soft cap
    bool makes_positions = false;     // of a form that no key says: all sines, then all cosines
};

// The module that these names are typical of, otherwise a general one.
[[nodiscard]] KnownModule known_module(const names::Shapes& stored, const StateDict& dict);

}  // namespace decoderscope::load

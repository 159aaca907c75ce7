#pragma once

#include "engine/base/message.h"
#include "engine/load/state_dict.h"

#include <string>

namespace decoderscope::load {

// A kind of module and what its tensors don't say: the proposals for what is asked.
struct KnownModule {
    Sentence name;
    bool norm_first = false;
    std::string activation = "relu", eps = "1e-05", norm = "layernorm", positions = "none", mask = "-inf";
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
    std::string logit_cap;         // its norms, of q and k and behind the embedding, too, leave no trace; neither does
                                   // this soft cap
    bool makes_positions = false;  // of a form that no key says: all sines, then all cosines
};

// The module that these names are typical of, otherwise a general one: the first in assets/tables/known_modules.json
// that has all of these parts of stored names, or one of "any", and parameters of ours, and lacks the others.
[[nodiscard]] KnownModule known_module(const names::Shapes& stored, const StateDict& dict);

}  // namespace decoderscope::load

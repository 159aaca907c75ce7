#pragma once

#include "engine/model/config.h"
#include "engine/ops/activation.h"
#include "engine/trace/trace.h"

#include <span>
#include <string>
#include <vector>

namespace decoderscope::load {

// What a recording says about its model that names and shapes of parameters don't, each only if everything that was
// recorded agrees: by its calls nhead, norm_first, layer_norm_eps, activation and tie_word_embeddings; by what its
// modules gave for what they were given, however they are called, norm, layer_norm_eps, activation,
// positional_encoding, rope_theta, rope_interleaved and rotary_dim; by what became of its scores, alibi, alibi_scaled,
// attention_soft_cap, sliding_window and sliding_window_layers; by what its attentions multiply, clip_qkv.
[[nodiscard]] Overrides hints_of_trace(const trace::Trace& trace);

// The config.json of a recorded model of a family that is read (families/family.h), as its recording says it: what the
// model's configuration holds and, as that may lack RoPE's parameters, the frequencies that were recorded. Empty if
// it isn't one, or if the recorder didn't write the file.
[[nodiscard]] std::string recorded_config(const std::string& path);

// What an activation makes of numbers.
[[nodiscard]] std::vector<double> activated(const ActivationKind& kind, std::span<const double> numbers);

// As hints_of_trace(), for a file with parameters; nothing if the recorder didn't write it.
[[nodiscard]] Overrides hints_of_file(const std::string& path);

}  // namespace decoderscope::load

#pragma once

#include "engine/model/config.h"
#include "engine/tensor.h"

#include <string>
#include <vector>

namespace decoderscope {

// What a run reads besides the weights; an empty tensor is absent. Integers are kept as floats, which hold every token
// id exactly (below 2^24).
struct Inputs {
    Tensor tokens;                  // [batch, pos]
    Tensor x;                       // [batch, pos, d_model], if the model has no vocabulary
    Tensor memory;                  // [batch, src, d_model]
    Tensor encoder_tokens;          // [batch, src]
    Tensor attention_mask;          // [batch, pos], 1 = keep, 0 = padding
    Tensor encoder_attention_mask;  // [batch, src]
    Tensor custom_mask;             // broadcastable to [batch, head, pos, pos], 1 = keep
    Tensor targets;                 // [batch, pos], −100 = left out; what the loss is measured against

    [[nodiscard]] Index batch() const { return tokens.empty() ? x.dim(0) : tokens.dim(0); }
    [[nodiscard]] Index pos() const { return tokens.empty() ? x.dim(1) : tokens.dim(1); }
};

// Checks each input against this configuration: presence, rank, matching sizes, token ids in the vocabulary, lengths
// within max_positions. `past` positions precede these: attention_mask and custom_mask then hold keys for them, too.
// Throws Error naming the tensor and what was expected.
void check_inputs(const Inputs& inputs, const Config& config, Index past = 0);

// Reads an inputs file (safetensors) and checks it. Throws Error naming the file, the tensor and what was expected.
[[nodiscard]] Inputs load_inputs(const std::string& path, const Config& config);

// Reads a file of batches to train on: the same tensors with one more axis in front, the steps. Throws Error naming the
// file, the step (the first is 1), the tensor and what was expected.
[[nodiscard]] std::vector<Inputs> load_batches(const std::string& path, const Config& config);

}  // namespace decoderscope

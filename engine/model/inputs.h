#pragma once

#include "engine/model/config.h"
#include "engine/tensor/tensor.h"

#include <optional>
#include <string>
#include <string_view>
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
    Tensor positions;               // [batch, pos], the number of each position; empty: counted (Config::positions)
    Tensor segments;                // [batch, pos], the document of each position, which alone it sees
    Tensor targets;                 // [batch, pos], −100 = left out; what the loss is measured against

    [[nodiscard]] Index batch() const { return tokens.empty() ? x.dim(0) : tokens.dim(0); }
    [[nodiscard]] Index pos() const { return tokens.empty() ? x.dim(1) : tokens.dim(1); }
};

// Each of these tensors by its name, whether it holds integers, its axes, and whether nobody can write it as a text.
struct InputSlot {
    std::string_view name;
    Tensor Inputs::*member;
    bool integer;
    std::vector<std::string_view> axes;
    bool only_numbers = false;
};
[[nodiscard]] const std::vector<InputSlot>& input_slots();
// Throws Error if there is no input of that name.
[[nodiscard]] const InputSlot& input_slot(std::string_view name);

// Checks each input against this configuration: presence, rank, matching sizes, token ids in the vocabulary, lengths
// within max_positions. `past` positions precede these: attention_mask, custom_mask, positions and segments then hold
// keys for them, too.
// Throws Error naming the tensor and what was expected.
void check_inputs(const Inputs& inputs, const Config& config, Index past = 0);

// The numbers of the decoder's positions, with `past` kept ones: given, or counted as the configuration says
// (PositionRule).
// -> [batch, pos]
[[nodiscard]] Tensor numbers_of_positions(const Inputs& inputs, const Config& config, Index past);
// How long the decoder's text is for what depends on that (LongRoPE): the highest number of a position, plus 1.
[[nodiscard]] Index text_length(const Inputs& inputs, const Config& config, Index past);

// Reads an inputs file (safetensors) and checks it. Throws Error naming the file, the tensor and what was expected.
[[nodiscard]] Inputs load_inputs(const std::string& path, const Config& config);

// Reads a file of batches to train on: the same tensors with one more axis in front, the steps. Throws Error naming the
// file, the step (the first is 1), the tensor and what was expected.
[[nodiscard]] std::vector<Inputs> load_batches(const std::string& path, const Config& config);

// Some positions of the decoder's input, in all rows of the batch or in one.
struct InputsPart {
    Index first = 0, count = 0;
    std::optional<Index> row = std::nullopt;
};

// The inputs of a pass over these positions: tokens or x for only these, what is said of keys (masks, positions,
// segments) from the very first position to the last of these, and the encoder's inputs whole. The part must lie within
// the inputs.
[[nodiscard]] Inputs part_of(const Inputs& inputs, const InputsPart& part);

// Rows of token ids as one batch, the shorter ones padded.
struct TokenBatch {
    Tensor tokens;  // [batch, length]
    Tensor mask;    // the same, 1 = keep, 0 = padding; empty if nothing is padded
};

// Whether a mask [batch, pos] hides a position; an empty one hides none.
[[nodiscard]] bool is_padding(const Tensor& mask, Index row, Index position);

// The token that is `ahead` places after a position in its row: what a model that continues a text is asked for there.
// Nothing if the row or the position's document ends before, or if one of the two is padding.
[[nodiscard]] std::optional<Index> token_ahead(const Inputs& inputs, Index row, Index position, Index ahead = 1);
// As above, of every position, as a loss reads it: −100 for nothing.   -> [batch, pos]
[[nodiscard]] Tensor tokens_ahead(const Inputs& inputs, Index ahead = 1);

// At least one row; `length_axis` is pos or src, `pad` the id used for padding.
[[nodiscard]] TokenBatch padded_batch(const std::vector<std::vector<Index>>& rows, std::string_view length_axis,
                                      Index pad = 0);

}  // namespace decoderscope

#include "engine/model/inputs_part.h"

namespace decoderscope {

namespace {

// A stretch of one axis.
struct Stretch {
    Index first, count;
};

// An axis with a single broadcast cell (in a mask) keeps it.
Tensor cut(const Tensor& tensor, std::size_t axis, Stretch stretch, bool broadcasts = false) {
    if (tensor.empty() || (broadcasts && tensor.dim(axis) == 1)) return tensor;
    Cell first(tensor.rank(), 0);
    Axes axes = tensor.axes();
    first[axis] = stretch.first;
    axes.resize(axis, stretch.count);
    return part_of(tensor, first, axes);
}

// custom_mask's axes are matched from the last: … batch, head, query, key.
Tensor cut_custom_mask(Tensor mask, Stretch rows, Stretch queries, Stretch keys) {
    const std::size_t rank = mask.rank();
    if (rank >= 1) mask = cut(mask, rank - 1, keys, true);
    if (rank >= 2) mask = cut(mask, rank - 2, queries, true);
    if (rank >= 4) mask = cut(mask, rank - 4, rows, true);
    return mask;
}

}  // namespace

Inputs part_of(const Inputs& inputs, const InputsPart& part) {
    const Stretch positions = {part.first, part.count}, keys = {0, part.first + part.count};
    const Stretch rows = part.row ? Stretch{*part.row, 1} : Stretch{0, inputs.batch()};
    Inputs cut_out;
    cut_out.tokens = cut(cut(inputs.tokens, 0, rows), 1, positions);
    cut_out.x = cut(cut(inputs.x, 0, rows), 1, positions);
    cut_out.memory = cut(inputs.memory, 0, rows);
    cut_out.encoder_tokens = cut(inputs.encoder_tokens, 0, rows);
    cut_out.attention_mask = cut(cut(inputs.attention_mask, 0, rows), 1, keys);
    cut_out.encoder_attention_mask = cut(inputs.encoder_attention_mask, 0, rows);
    cut_out.custom_mask = cut_custom_mask(inputs.custom_mask, rows, positions, keys);
    return cut_out;
}

}  // namespace decoderscope

#pragma once

#include "app/core/session/scenario.h"

#include <string>
#include <vector>

namespace decoderscope {

// The attention whose heads a step refers to: its own, else the self-attention of its block; empty outside the blocks.
[[nodiscard]] std::string attention_beside(const Step& step);

// The name of the same step in another block of its stack, by the block's number: "blocks.1.attn.z" for
// "blocks.0.attn.z" and 1. Empty for steps outside the blocks.
[[nodiscard]] std::string name_in_block(const Step& step, Index block);
// The number of the block that a step belongs to; -1 outside the blocks.
[[nodiscard]] Index block_number(const Step& step);

// "blocks.0.attn.z[0, 1, 2, 3]".
[[nodiscard]] std::string cell_name(const std::string& tensor, const Cell& cell);

// The sequence that an axis of a step runs over: the target's tokens, the source's, or neither.
enum class TokenSequence { none, target, source };
[[nodiscard]] TokenSequence sequence_along(const Step& step, std::size_t axis);

// The labels of an axis of a step's heatmap: the tokens of the sequence that the axis runs over, or of the vocabulary
// (as text if the model has one, else as ids), or plain indices. `batch` chooses the row of the batch.
[[nodiscard]] std::vector<std::string> axis_labels(const Scenario& scenario, const Step& step, std::size_t axis,
                                                   Index batch);

}  // namespace decoderscope

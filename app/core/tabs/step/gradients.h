#pragma once

#include "engine/base/message.h"
#include "engine/graph/run.h"

#include <optional>
#include <string>
#include <vector>

// The backward pass of a run, as the window shows it (engine/backward/gradient.h).
namespace decoderscope::core::step {

// The gradient of the target at a cell: the same cell of the step's gradient.
struct CellSlope {
    std::string tensor;  // "grad.blocks.0.attn.z"
    float value = 0.0F;
};
// Nothing in a run without gradients, and for cells of the backward pass itself.
[[nodiscard]] std::optional<CellSlope> slope_at(const Run& run, const Step& step, const Cell& cell);

// What a gradient says and doesn't say; empty for steps of the forward pass. A score's gradient says which weight
// should grow; the gradient with respect to the pattern, before the softmax shares it out, does not.
[[nodiscard]] std::vector<Sentence> words_on_gradient(const Plan& plan, const Step& step, const std::string& target);

// The scores that a pattern was computed from; nullptr for other steps.
[[nodiscard]] Ref scores_of_pattern(const Plan& plan, const Step& pattern);

// Whether gradients of this cell can be asked for: a cell of a computed step of the forward pass, or of a parameter.
[[nodiscard]] bool can_be_target(const Step& step);
// Whether the run has logits and targets to measure a loss by.
[[nodiscard]] bool has_loss(const Run& run);

}  // namespace decoderscope::core::step

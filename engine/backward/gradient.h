#pragma once

#include "engine/graph/plan.h"
#include "engine/model/inputs.h"

#include <optional>
#include <string>

namespace decoderscope::backward {

// What the gradients are taken with respect to: everything, to show them, or only the parameters, to train them.
enum class GradientsBy { everything, parameters };

// The backward pass as more steps of the same plan: for each step that the target depends on, "grad." and its name, the
// gradient of the target with respect to that tensor; from the target back. A tensor that several steps read has one
// step for each of them (".through." and the reader's name; not in a trace) and their sum. Recorded tensors and
// parameters that the target doesn't depend on get zeros; masks get nothing. The edits in the plan count: a cell that
// was set passes nothing back.
//
// The target is a cell of a step, as "blocks.0.attn.z[0, 1, 2, 3]", or "loss": the mean cross-entropy of the logits
// against inputs.targets, or, without these, against the next token of the same row, padding and the last position left
// out; then the steps loss_per_token and loss come first.
//
// `weights` are the model's: parameters that no step reads are among them. Throws Error naming the target and what was
// expected if there is no such step or cell, or no logits for a loss.
//
// With respect to parameters only, there are only the steps on the way to a parameter that the target depends on, and
// no zeros.
void add_gradients(Plan& plan, const std::string& target, const Inputs& inputs, const Weights* weights,
                   GradientsBy by = GradientsBy::everything);

// The steps loss_per_token [batch, pos] and loss [1], if the plan hasn't got them. Returns loss. Throws Error if there
// are no logits, and as targets_of does.
Ref add_loss(Plan& plan, const Inputs& inputs);

// What the loss is measured against: the inputs' targets, or the next token of the same row.   -> [batch, pos]
// Throws Error if there is neither, or if all positions are left out.
[[nodiscard]] Tensor targets_of(const Inputs& inputs);

// The name of the gradient with respect to a tensor: "grad." and its name.
[[nodiscard]] std::string gradient_name(std::string_view tensor);

// The first step of the backward pass; nothing in a plan without gradients. All steps from there on belong to it
// (Step::backward, Step::gradient_wrt, Plan::gradient_wrt).
[[nodiscard]] std::optional<StepId> backward_begins(const Plan& plan);

}  // namespace decoderscope::backward

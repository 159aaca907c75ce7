#include "app/core/tabs/step/gradients.h"

#include "engine/backward/gradient.h"

namespace decoderscope::core::step {

namespace {

// The scores before a cap or a mask, from the step that they enter the softmax as.
Ref raw_scores(const Plan& plan, Ref scores) {
    for (Ref before = scores; before != nullptr && before->is_scores; before = plan.main_operand(*before))
        scores = before;
    return scores;
}

}  // namespace

std::optional<CellSlope> slope_at(const Run& run, const Step& step, const Cell& cell) {
    const Ref gradient = run.plan().gradient_wrt(step);
    if (gradient == nullptr) return std::nullopt;
    const Tensor& values = run.value(gradient->id);
    if (values.empty() || !values.contains(cell)) return std::nullopt;
    return CellSlope{gradient->name, values.at(cell)};
}

Ref scores_of_pattern(const Plan& plan, const Step& pattern) {
    const Ref scores = pattern.is_pattern ? plan.main_operand(pattern) : nullptr;
    return scores != nullptr && scores->is_scores ? raw_scores(plan, scores) : nullptr;
}

std::vector<Sentence> words_on_gradient(const Plan& plan, const Step& step, const std::string& target) {
    const Ref by = step.gradient_wrt ? &plan[*step.gradient_wrt] : nullptr;
    if (by == nullptr) return {};
    std::vector<Sentence> words = {
        message("If this cell of {step} grew a little, {target} would grow this many times as much. This is the slope "
                "at one point: switching something off is a large change, and often has another effect.",
                {{"step", by->name}, {"target", target}})};
    if (by->is_pattern)
        words.push_back(
            message("With respect to the pattern, masked cells have gradients like all others. They mean nothing, and "
                    "are hatched. The gradient with respect to the scores says which weight should grow: there masked "
                    "cells are exactly 0, and each row sums to 0."));
    else if (by->is_scores && by->mask_to_come)
        words.push_back(target == "loss"
                            ? message("Where this is negative, more weight on that key would lower the loss. Masked "
                                      "cells are exactly 0, and each row sums to 0.")
                            : message("Where this is positive, more weight on that key would raise {target}. Masked "
                                      "cells are exactly 0, and each row sums to 0.",
                                      {{"target", target}}));
    return words;
}

bool can_be_target(const Step& step) {
    return step.role != Role::input && step.operation.traits().values != Values::mask && !step.backward;
}

bool has_loss(const Run& run) { return !run.value("logits").empty() && !run.value("tokens").empty(); }

}  // namespace decoderscope::core::step

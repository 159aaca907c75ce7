#pragma once

#include "engine/plan.h"

#include <optional>

// Which steps of a plan are the way back: the gradients of its target (engine/gradient.h).
namespace decoderscope {

// The first step of the way back; nothing in a plan without gradients. All steps from there on belong to it.
[[nodiscard]] std::optional<StepId> way_back_begins(const Plan& plan);

// Whether a step is on the way back.
[[nodiscard]] bool is_on_way_back(const Plan& plan, const Step& step);

// The step whose gradient this is; for a part of one (".through."), too. nullptr for steps on the way there.
[[nodiscard]] Ref differentiated(const Plan& plan, const Step& gradient);

// The gradient of the target by a step; nullptr if the plan has none.
[[nodiscard]] Ref gradient_by(const Plan& plan, const Step& step);

}  // namespace decoderscope

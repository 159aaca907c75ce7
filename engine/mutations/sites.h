#pragma once

#include "engine/plan.h"

#include <string>
#include <string_view>
#include <vector>

// The places of a plan that mutations change.
namespace decoderscope::sites {

// The names of the plan's attentions; of the decoder's self-attentions or cross-attentions alone, if asked.
[[nodiscard]] std::vector<std::string> attentions(const Plan& plan);
[[nodiscard]] std::vector<std::string> attentions(const Plan& plan, Part part);

// The steps of one attention that read a parameter whose name ends like this: ".q_proj.weight".
[[nodiscard]] std::vector<StepId> readers(const Plan& plan, const std::string& attention, std::string_view parameter);
// The steps of any part that read such a parameter.
[[nodiscard]] std::vector<StepId> readers(const Plan& plan, std::string_view parameter);

// The steps with that trait: norms' outputs, norms' scales.
[[nodiscard]] std::vector<StepId> norms(const Plan& plan);
[[nodiscard]] std::vector<StepId> scales(const Plan& plan);

// The sums of the residual stream whose update comes from that part, with a norm behind it or not.
[[nodiscard]] std::vector<StepId> sums_of(const Plan& plan, Part part);
// The part that made a tensor: of a norm's output behind a sublayer that sublayer's.
[[nodiscard]] Part made_by(const Plan& plan, StepId id);

// Where a Linear's bias stands among the operands of the step that reads it: 2, if it has one.
[[nodiscard]] bool has_bias(const Step& step);

}  // namespace decoderscope::sites

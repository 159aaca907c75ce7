#pragma once

#include "engine/graph/plan.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The places of a plan that mutations change.
namespace decoderscope::mutations::sites {

// The steps that a place of assets/tables/mutations.json names:
//     attention pattern          that step of each attention; of those of one kind: self_attention, cross_attention,
//                                and encoder for those of the encoder
//     norm scale                 of each norm, also norm output
//     sum mlp                    the sums of the residual stream whose update comes from that part
//     positions code             the positions of each stack, and the steps that add them: positions sum
//     reads .q_proj.bias         the steps that read a parameter whose name ends like this
//     before .down_proj.weight   what such steps read first
//     formula mix                the steps that name this formula of the book
//     step logits, every step    by name; all that are computed for the trace
[[nodiscard]] std::vector<StepId> at(const Plan& plan, std::string_view place);

// The step of an attention that the table calls so: "pattern"; nullptr if no step is called so, or it has none.
[[nodiscard]] Ref attention_step(const Plan& plan, std::string_view attention, std::string_view name);
// The role that the table calls so: "update".
[[nodiscard]] std::optional<OperandRole> role_named(std::string_view name);
// The norm's output that an update was computed from, if a norm comes between it and the stream.
[[nodiscard]] std::optional<StepId> norm_before(const Plan& plan, const Step& sum);

}  // namespace decoderscope::mutations::sites

#include "engine/mutations/families.h"
#include "engine/mutations/sites.h"
#include "engine/mutations/then.h"
#include "engine/ops/activation.h"
#include "engine/ops/carry.h"

#include <utility>

namespace decoderscope::mutations_of {

namespace {

Mutation activation(std::string_view name, Phrase cause, ActivationKind kind, bool harmless = false) {
    return {.name = name,
            .cause = cause,
            .configure = [kind](Config& config) { config.activation = kind; },
            .harmless = harmless};
}

}  // namespace

void mlp(std::vector<Mutation>& list) {
    list.push_back(activation("gelu-tanh", message("The MLP uses gelu's approximation by tanh."),
                              ActivationKind::gelu_tanh, true));
    list.push_back(
        activation("gelu-exact", message("The MLP uses the exact gelu, by erf."), ActivationKind::gelu, true));
    list.push_back(activation("relu", message("The MLP's activation is relu."), ActivationKind::relu));
    list.push_back(activation("silu", message("The MLP's activation is silu."), ActivationKind::silu));
    list.push_back({.name = "no-activation",
                    .cause = message("The MLP has no activation: its two Linears are one."),
                    .change = [](Plan& plan, const Config& config) {
                        if (config.gated_mlp) return;
                        for (const StepId id : sites::readers(plan, ".down_proj.weight")) {
                            const Step& post = plan[plan[id].operands[0]];
                            if (post.part == Part::mlp && post.operands.size() == 1)
                                plan.replace(post.id, Carry{}, post.operands);
                        }
                    }});
    list.push_back({.name = "activation-twice",
                    .cause = message("The MLP's activation is applied behind its second Linear, too."),
                    .change = [](Plan& plan, const Config& config) {
                        for (const StepId id : sites::readers(plan, ".down_proj.weight"))
                            plan.replace(
                                id, Then{plan[id].operation, Activate{config.activation}, plan[id].operands.size()},
                                plan[id].operands);
                    }});
    list.push_back({.name = "gate-and-up-swapped",
                    .cause = message("The gate and what it multiplies are swapped: the activation is on the wrong "
                                     "one."),
                    .change = [](Plan& plan, const Config& config) {
                        if (!config.gated_mlp) return;
                        for (const StepId id : sites::readers(plan, ".down_proj.weight")) {
                            const Step& post = plan[plan[id].operands[0]];
                            if (post.operands.size() == 2)
                                plan.replace(post.id, post.operation, {post.operands[1], post.operands[0]});
                        }
                    }});
    list.push_back({.name = "no-mlp-bias",
                    .cause = message("The biases of the MLP are not added."),
                    .change = [](Plan& plan, const Config&) {
                        for (const char* name : {".up_proj.bias", ".down_proj.bias", ".gate_proj.bias"})
                            for (const StepId id : sites::readers(plan, name))
                                plan.replace(id, plan[id].operation, {plan[id].operands[0], plan[id].operands[1]});
                    }});
}

}  // namespace decoderscope::mutations_of

#include "engine/mutations/families.h"
#include "engine/mutations/then.h"
#include "engine/ops/softmax.h"

namespace decoderscope::mutations_of {

void output(std::vector<Mutation>& list) {
    list.push_back({.name = "softmax-in-model",
                    .cause = message("The model already takes the softmax: what is called logits are probabilities, "
                                     "and a loss by cross-entropy takes it again."),
                    .change = [](Plan& plan, const Config&) {
                        if (const Ref logits = plan.find("logits"))
                            plan.replace(logits->id, Then{logits->operation, Softmax{}, logits->operands.size()},
                                         logits->operands);
                    }});
    list.push_back({.name = "no-head-bias",
                    .cause = message("The head's bias is not added."),
                    .change = [](Plan& plan, const Config&) {
                        const Ref logits = plan.find("logits");
                        if (logits != nullptr && logits->operands.size() == 3)
                            plan.replace(logits->id, logits->operation, {logits->operands[0], logits->operands[1]});
                    }});
    list.push_back({.name = "logits-not-scaled",
                    .cause = message("The logits are not multiplied by logit_scale."),
                    .configure = [](Config& config) { config.logit_scale = 1.0; }});
    list.push_back({.name = "logits-not-capped",
                    .cause = message("The logits are not capped."),
                    .configure = [](Config& config) { config.logit_soft_cap = 0.0; }});
    list.push_back({.name = "scores-not-capped",
                    .cause = message("The scores are not capped."),
                    .configure = [](Config& config) { config.attention_soft_cap = 0.0; }});
}

}  // namespace decoderscope::mutations_of

#include "engine/mutations/families.h"
#include "engine/mutations/sites.h"
#include "engine/mutations/wrong_softmax.h"
#include "engine/ops/carry.h"

#include <limits>

namespace decoderscope::mutations_of {

namespace {

Mutation filled(std::string_view name, Phrase cause, float value) {
    return {.name = name,
            .cause = cause,
            .configure = [value](Config& config) { config.mask_value = value; },
            .harmless = value < -1e3F};
}

// Adds a mask of zeros and ones to the scores instead of filling it in.
Mutation added(std::string_view name, Phrase cause, float kept, float hidden) {
    return {.name = name,
            .cause = cause,
            .change =
                [kept, hidden](Plan& plan, const Config&) {
                    for (const std::string& attention : sites::attentions(plan))
                        if (const Ref masked = plan.find(attention + ".masked_scores");
                            masked != nullptr && masked->operands.size() == 2)
                            plan.replace(masked->id, AddMask{kept, hidden}, masked->operands);
                },
            .harmless = hidden < -1e3F};
}

}  // namespace

void fills(std::vector<Mutation>& list) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    list.push_back({.name = "mask-after-softmax",
                    .cause = message("The mask is applied after the softmax: the weights of what is left no longer sum "
                                     "to 1."),
                    .change = [](Plan& plan, const Config&) {
                        for (const std::string& attention : sites::attentions(plan)) {
                            const Ref masked = plan.find(attention + ".masked_scores");
                            const Ref pattern = plan.find(attention + ".pattern");
                            if (masked == nullptr || pattern == nullptr || masked->operands.size() != 2) continue;
                            const std::vector<StepId> read = {masked->operands[0], masked->operands[1]};
                            plan.replace(masked->id, Carry{}, {read[0]});
                            plan.replace(pattern->id, SoftmaxThenMask{}, read);
                        }
                    }});
    list.push_back(added("mask-added-as-float",
                         message("The mask of zeros and ones is added to the scores instead of filled in: the future "
                                 "leaks."),
                         1.0F, 0.0F));
    list.push_back(added("inverted-mask-added-as-float",
                         message("A mask with 1 for what is hidden is added to the scores: hidden keys weigh more."),
                         0.0F, 1.0F));
    list.push_back(added("mask-subtracted-as-float",
                         message("1 is subtracted from hidden scores, where −∞ or a large number is meant."), 0.0F,
                         -1.0F));
    list.push_back(added("additive-mask-of-ones",
                         message("The additive mask has ones in place of zeros: the softmax doesn't see it."), 1.0F,
                         -kInfinity));
    list.push_back(filled("fill-zero",
                          message("Masked scores are set to 0, or to a number next to it such as 1e-9 where −1e9 is "
                                  "meant: a score like any other."),
                          0.0F));
    list.push_back(filled("fill-minus-one", message("Masked scores are set to −1."), -1.0F));
    list.push_back(filled("fill-plus", message("Masked scores are set to a large number with the wrong sign."), 1e9F));
    list.push_back(filled("fill-minus-infinity", message("Masked scores are set to −∞."), -kInfinity));
    list.push_back({.name = "fill-overflows",
                    .cause = message("The fill is too large for half precision and becomes −∞: a row with nothing left "
                                     "is NaN."),
                    .configure = [](Config& config) {
                        constexpr float kLargestHalf = 65504.0F;
                        if (config.mask_value < -kLargestHalf) config.mask_value = -kInfinity;
                    }});
    list.push_back(filled("fill-1e4", message("Masked scores are set to −1e4."), -1e4F));
    list.push_back(
        filled("fill-65504", message("Masked scores are set to −65504, half precision's lowest."), -65504.0F));
    list.push_back(filled("fill-1e9", message("Masked scores are set to −1e9."), -1e9F));
    list.push_back(filled("fill-1e20", message("Masked scores are set to −1e20."), -1e20F));
    list.push_back(filled("fill-lowest", message("Masked scores are set to the lowest float."),
                          std::numeric_limits<float>::lowest()));
}

}  // namespace decoderscope::mutations_of

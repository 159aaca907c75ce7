#include "engine/gradient.h"
#include "engine/mutations/families.h"
#include "engine/ops/kinds.h"

#include <algorithm>

namespace decoderscope::mutations_of {

namespace {

// What the loss is measured against, from the tokens, `ahead` positions on. Where it lies behind the end, or is padding
// that is to be left out, nothing is asked for.   -> [batch, pos]
Tensor tokens_ahead(const Inputs& inputs, Index ahead, bool padding_counts) {
    const Index length = inputs.tokens.dim(1);
    Tensor targets(inputs.tokens.axes());
    const auto to = targets.writable();
    for (Index i = 0; i < targets.size(); ++i) {
        const bool there = i % length + ahead < length;
        const auto kept = [&](Index at) {
            return padding_counts || inputs.attention_mask.empty() || inputs.attention_mask.data()[at] != 0.0F;
        };
        const bool counts = there && kept(i) && kept(i + ahead);
        to[static_cast<std::size_t>(i)] = counts ? inputs.tokens.data()[i + ahead] : kLeftOut;
    }
    return targets;
}

Mutation targets(std::string_view name, Phrase cause, Index ahead, bool padding_counts = false) {
    return {.name = name, .cause = cause, .feed = [=](Inputs& inputs, const Config&) {
                if (inputs.tokens.empty()) return;
                const Tensor wrong = tokens_ahead(inputs, ahead, padding_counts);
                // A text of two tokens has nothing two ahead.
                const auto counts = [](float target) { return target != kLeftOut; };
                if (std::ranges::any_of(wrong.values(), counts)) inputs.targets = wrong;
            }};
}

}  // namespace

// Mistakes of the training loop: the loss is measured against something else.
void training(std::vector<Mutation>& list) {
    list.push_back(targets("targets-not-shifted",
                           message("The targets are not shifted: each position is asked for the token that it reads, "
                                   "not for the next one."),
                           0));
    list.push_back(targets("targets-shifted-twice",
                           message("The targets are shifted twice, in the data and in the loss: each position is asked "
                                   "for the token after the next."),
                           2));
    list.push_back(targets("padding-in-loss",
                           message("Padding counts in the loss: what comes behind a short text is asked for, too."), 1,
                           true));
    list.push_back({.name = "dropout-left-on",
                    .cause = message("Dropout is left on: the model was not switched to evaluation."),
                    .dropout_seed = 1});
}

}  // namespace decoderscope::mutations_of

#include "engine/backward/gradient.h"
#include "engine/mutations/masks.h"
#include "engine/mutations/mutations.h"
#include "engine/mutations/sites.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/kinds.h"
#include "engine/ops/positions.h"
#include "engine/ops/softmax.h"

#include <algorithm>

namespace decoderscope::mutations::lists {

void embedding(std::vector<Mutation>& list) {
    list.push_back({.name = "embedding-not-scaled",
                    .cause = message("The embedding is not multiplied by √d_model."),
                    .configure = [](Config& config) { config.scale_embedding = false; }});
    list.push_back({.name = "embedding-scaled",
                    .cause = message("The embedding is multiplied by √d_model."),
                    .configure = [](Config& config) { config.scale_embedding = true; }});
    list.push_back({.name = "embedding-scaled-by-d-model",
                    .cause = message("The embedding is multiplied by d_model instead of its root."),
                    .change = [](Plan& plan, const Config& config) {
                        for (const char* name : {"embed", "encoder.embed"})
                            if (const Ref embed = plan.find(name))
                                plan.replace(embed->id, ops::Embed{static_cast<float>(config.d_model)},
                                             embed->operands);
                    }});
    list.push_back({.name = "no-embedding-norm",
                    .cause = message("The norm after the embedding is missing."),
                    .configure = [](Config& config) { config.embedding_norm = false; }});
}

void encoder(std::vector<Mutation>& list) {
    list.push_back({.name = "encoder-not-normed",
                    .cause = message("The memory is taken before the encoder's final norm."),
                    .change = [](Plan& plan, const Config&) {
                        if (const Ref norm = plan.find("encoder.ln_final.normalized"))
                            plan.replace(norm->id, ops::Identity{}, {norm->operands[0]});
                    }});
    list.push_back({.name = "memory-is-source-embedding",
                    .cause = message("Cross-attention reads the source's embedding: the encoder's blocks are not run."),
                    .change = [](Plan& plan, const Config&) {
                        const Ref entering = plan.find("encoder.blocks.0.resid_pre");
                        const Ref out = plan.find("encoder_out");
                        if (entering != nullptr && out != nullptr)
                            plan.replace(out->id, ops::Identity{}, {entering->id});
                    }});
    list.push_back({.name = "cross-attention-reads-target",
                    .cause = message("Cross-attention takes keys and values from the target instead of the memory."),
                    .change = [](Plan& plan, const Config&) {
                        for (const std::string& attention : sites::attentions(plan, Part::cross_attention)) {
                            const Ref q = plan.step_of(attention, AttentionStep::query);
                            for (const AttentionStep which : {AttentionStep::key, AttentionStep::value}) {
                                const Ref step = plan.step_of(attention, which);
                                if (q == nullptr || step == nullptr || q->axes[2].size != step->axes[2].size) continue;
                                std::vector<StepId> read = step->operands;
                                if (!read.empty()) read[0] = q->operands[0];
                                plan.replace(step->id, step->operation, read);
                            }
                        }
                    }});
    list.push_back(
        {.name = "causal-encoder",
         .cause = message("The encoder has a causal mask; it should see the whole source."),
         .change = [](Plan& plan, const Config&) {
             for (const std::string& attention : plan.attentions()) {
                 const Ref mask = plan.step_of(attention, AttentionStep::mask);
                 if (mask != nullptr && mask->in_encoder())
                     plan.replace(mask->id, WrongMask{mask->operation, WrongMask::Kind::shifted, 0}, mask->operands);
             }
         }});
}

void output(std::vector<Mutation>& list) {
    list.push_back({.name = "softmax-in-model",
                    .cause = message("The model already takes the softmax: what is called logits are probabilities, "
                                     "and a loss by cross-entropy takes it again."),
                    .change = [](Plan& plan, const Config&) {
                        if (const Ref logits = plan.find("logits"))
                            plan.replace(logits->id, Then{logits->operation, ops::Softmax{}, logits->operands.size()},
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

namespace {

// What the loss is measured against, from the tokens, `ahead` positions on. If that is beyond the end, or padding that
// is to be left out, there is no target.   -> [batch, pos]
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
        to[static_cast<std::size_t>(i)] = counts ? inputs.tokens.data()[i + ahead] : kIgnoredTarget;
    }
    return targets;
}

Mutation targets(std::string_view name, Phrase cause, Index ahead, bool padding_counts = false) {
    return {.name = name, .cause = cause, .feed = [=](Inputs& inputs, const Config&) {
                if (inputs.tokens.empty()) return;
                const Tensor wrong = tokens_ahead(inputs, ahead, padding_counts);
                // A text of two tokens has no token two ahead.
                const auto counts = [](float target) { return target != kIgnoredTarget; };
                if (std::ranges::any_of(wrong.values(), counts)) inputs.targets = wrong;
            }};
}

}  // namespace

// Mistakes of the training loop: the loss is measured against something else.
void training(std::vector<Mutation>& list) {
    list.push_back(targets("targets-not-shifted",
                           message("The targets are not shifted: each position is trained to predict the token that it "
                                   "reads, not the next one."),
                           0));
    list.push_back(targets("targets-shifted-twice",
                           message("The targets are shifted twice, in the data and in the loss: each position is "
                                   "trained to predict the token after the next."),
                           2));
    list.push_back(targets("padding-in-loss",
                           message("Padding counts in the loss: what follows a short text is also a target."), 1,
                           true));
    list.push_back({.name = "dropout-left-on",
                    .cause = message("Dropout is left on: the model was not switched to evaluation."),
                    .dropout_seed = 1});
}

}  // namespace decoderscope::mutations::lists

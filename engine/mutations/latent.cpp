#include "engine/mutations/mutations.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/softmax.h"

#include <cmath>

namespace decoderscope::mutations::lists {

namespace {

// Replaces a step of each attention by its first operand, as it is.
std::function<void(Plan&, const Config&)> left_out(AttentionStep which, bool (*applies)(const Config&)) {
    return [which, applies](Plan& plan, const Config& config) {
        if (!applies(config)) return;
        for (const std::string& attention : plan.attentions())
            if (const Ref step = plan.step_of(attention, which);
                step != nullptr && !step->is_source() && plan[step->operands[0]].axes == step->axes)
                plan.replace(step->id, ops::Identity{}, {step->operands[0]});
    };
}

}  // namespace

void latent(std::vector<Mutation>& list) {
    list.push_back({.name = "no-latent-norm",
                    .cause = message("The latent row is not normalised before keys and values are made from it."),
                    .change = left_out(AttentionStep::kv_latent, [](const Config& c) { return c.is_latent(); })});
    list.push_back({.name = "shared-key-not-rotated",
                    .cause = message("The columns of the keys that all heads share are not rotated by their position."),
                    .change = left_out(AttentionStep::k_shared, [](const Config& c) {
                        return c.is_latent() && c.positional_encoding == PositionalEncoding::rope;
                    })});
    list.push_back({.name = "scale-without-shared-columns",
                    .cause = message("The scores are divided by the root of a head's own columns alone, without those "
                                     "that all heads share."),
                    .configure = [](Config& config) {
                        if (config.is_latent() && config.attention_scale == 0.0)
                            config.attention_scale =
                                1.0 / std::sqrt(static_cast<double>(config.d_head() - config.qk_rope_head_dim));
                    }});
}

void sinks(std::vector<Mutation>& list) {
    list.push_back({.name = "no-sinks",
                    .cause = message("The softmax runs over the keys alone: the sinks take no weight from them."),
                    .change = [](Plan& plan, const Config& config) {
                        if (!config.attention_sinks) return;
                        for (const std::string& attention : plan.attentions())
                            if (const Ref pattern = plan.step_of(attention, AttentionStep::pattern);
                                plan.step_of(attention, AttentionStep::sink) != nullptr)
                                plan.replace(pattern->id, ops::Softmax{}, {pattern->operands[0]});
                    }});
}

}  // namespace decoderscope::mutations::lists

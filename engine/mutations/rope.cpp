#include "engine/ops/rope.h"
#include "engine/mutations/families.h"
#include "engine/mutations/sites.h"
#include "engine/mutations/then.h"

namespace decoderscope::mutations_of {

namespace {

bool rotates(const Config& config) { return config.positional_encoding == PositionalEncoding::rope; }

Mutation theta(std::string_view name, Phrase cause, double value) {
    return {.name = name, .cause = cause, .configure = [value](Config& config) {
                if (rotates(config)) config.rope_theta = value;
            }};
}

}  // namespace

void rope(std::vector<Mutation>& list) {
    list.push_back({.name = "rope-other-pairs",
                    .cause = message("RoPE turns other pairs of columns: neighbours where halves are meant, or the "
                                     "other way round."),
                    .configure = [](Config& config) {
                        if (rotates(config)) config.rope_interleaved = !config.rope_interleaved;
                    }});
    list.push_back({.name = "no-rope",
                    .cause = message("Queries and keys are not rotated by their position."),
                    .configure = [](Config& config) {
                        if (rotates(config)) config.positional_encoding = PositionalEncoding::none;
                    }});
    list.push_back(theta("rope-theta-10000", message("RoPE's theta is 10000."), 1e4));
    list.push_back(theta("rope-theta-500000", message("RoPE's theta is 500000, as in Llama 3."), 5e5));
    list.push_back(theta("rope-theta-1000000", message("RoPE's theta is 1000000, as in Qwen."), 1e6));
    list.push_back(theta("rope-theta-100000", message("RoPE's theta is 100000."), 1e5));
    list.push_back({.name = "rope-all-columns",
                    .cause = message("RoPE turns all columns of a head, not only the first rotary_dim."),
                    .configure = [](Config& config) { config.rotary_dim = 0; }});
    list.push_back(
        {.name = "rope-on-values",
         .cause = message("The values are rotated by their position, too."),
         .change = [](Plan& plan, const Config& config) {
             if (!rotates(config)) return;
             const Operation turn = Rope{config.rope_theta, config.rotary_columns(), config.rope_interleaved};
             for (const std::string& attention : sites::attentions(plan, Part::self_attention))
                 if (const Ref v = plan.find(attention + ".v"))
                     plan.replace(v->id, Then{v->operation, turn, v->operands.size()}, v->operands);
         }});
    list.push_back({.name = "rope-one-late",
                    .cause = message("RoPE counts positions from 1: only distances count, so nothing but the rotated "
                                     "queries and keys differs."),
                    .change =
                        [](Plan& plan, const Config& config) {
                            if (!rotates(config)) return;
                            const Operation turn = Rope{config.rope_theta, config.rotary_columns(),
                                                        config.rope_interleaved, RopeScaling{}, 1};
                            for (const std::string& attention : sites::attentions(plan))
                                for (const char* name : {".q", ".k"})
                                    if (plan.find(attention + name + "_unrotated") != nullptr) {
                                        const Ref rotated = plan.find(attention + name);
                                        plan.replace(rotated->id, turn, rotated->operands);
                                    }
                        },
                    .harmless = true});
    list.push_back({.name = "no-rope-scaling",
                    .cause = message("RoPE's frequencies are not lowered for long texts."),
                    .configure = [](Config& config) { config.rope_scaling = RopeScalingKind::none; }});
    list.push_back({.name = "no-query-key-norm",
                    .cause = message("Queries and keys are not normalised."),
                    .configure = [](Config& config) { config.qk_norm = false; }});
}

}  // namespace decoderscope::mutations_of

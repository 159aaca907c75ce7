#include "app/core/compare/transformer_lens.h"

#include "engine/backward/gradient.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace decoderscope::core::diff {

namespace {

// TransformerLens' names for our names within a block (or outside of all blocks).
constexpr std::array<std::pair<std::string_view, std::string_view>, 22> kHooks = {{
    {"embed", "hook_embed"},
    {"pos_embed", "hook_pos_embed"},
    {"resid_pre", "hook_resid_pre"},
    {"resid_mid", "hook_resid_mid"},
    {"resid_post", "hook_resid_post"},
    {"attn_out", "hook_attn_out"},
    {"mlp_out", "hook_mlp_out"},
    {"ln1.scale", "ln1.hook_scale"},
    {"ln1.normalized", "ln1.hook_normalized"},
    {"ln2.scale", "ln2.hook_scale"},
    {"ln2.normalized", "ln2.hook_normalized"},
    {"ln_final.scale", "ln_final.hook_scale"},
    {"ln_final.normalized", "ln_final.hook_normalized"},
    {"attn.q", "attn.hook_q"},
    {"attn.k", "attn.hook_k"},
    {"attn.v", "attn.hook_v"},
    {"attn.masked_scores", "attn.hook_attn_scores"},
    {"attn.pattern", "attn.hook_pattern"},
    {"attn.z", "attn.hook_z"},
    {"attn.result", "attn.hook_result"},
    {"mlp.pre", "mlp.hook_pre"},
    {"mlp.post", "mlp.hook_post"},
}};

// With RoPE its q and k are those before the rotation; in a gated MLP pre and gate trade names.
std::string_view special_hook(const Plan& plan, const Step& step, std::string_view name) {
    const auto there_is = [&](const std::string& other) { return plan.find(step.block + other) != nullptr; };
    if (name == "attn.q_unrotated") return "attn.hook_q";
    if (name == "attn.k_unrotated") return "attn.hook_k";
    if (name == "attn.q" && there_is(".attn.q_unrotated")) return "attn.hook_rot_q";
    if (name == "attn.k" && there_is(".attn.k_unrotated")) return "attn.hook_rot_k";
    if (name == "mlp.gate") return "mlp.hook_pre";
    if (name == "mlp.pre" && there_is(".mlp.gate")) return "mlp.hook_pre_linear";
    return {};
}

}  // namespace

std::string transformer_lens_name(const Plan& plan, const Step& step) {
    // TransformerLens has no encoder–decoder.
    if (step.is_source() || step.in_encoder()) return {};
    // A cache of the backward pass has the names of the forward pass with this ending.
    if (step.backward) {
        const Ref by = step.role == Role::recorded && step.gradient_wrt ? &plan[*step.gradient_wrt] : nullptr;
        const std::string hook = by == nullptr ? std::string() : transformer_lens_name(plan, *by);
        return hook.empty() ? hook : hook + "_grad";
    }
    const std::string prefix = step.block.empty() ? std::string() : step.block + ".";
    const std::string_view name = std::string_view(step.name).substr(prefix.size());
    if (const std::string_view hook = special_hook(plan, step, name); !hook.empty()) return prefix + std::string(hook);
    const auto found = std::find_if(kHooks.begin(), kHooks.end(), [&](const auto& pair) { return pair.first == name; });
    return found == kHooks.end() ? std::string() : prefix + std::string(found->second);
}

}  // namespace decoderscope::core::diff

#include "engine/decoder/layers.h"

#include "engine/base/message.h"
#include "engine/ops/activation.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/linear.h"
#include "engine/ops/norm.h"
#include "engine/ops/positions.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace decoderscope::decoder {

namespace {

// What is added for each place of the axis; nullptr if nothing is. `numbers`: of the positions, if they aren't counted.
Ref positions(Builder& b, const std::string& prefix, const Axis& axis, OptionalRef numbers) {
    const std::string name = prefix + "pos_embed";
    const ops::Places places = {b.past.positions, numbers.step != nullptr};
    switch (b.config.positional_encoding) {
        case PositionalEncoding::sinusoidal:
            return b.plan.step(name, ops::SinusoidalPositions{axis, b.config.d_model, places, b.config.position_scale},
                               {numbers});
        case PositionalEncoding::learned: {
            const Axes table = {{axis::pos, b.config.max_positions}, {axis::d_model, b.config.d_model}};
            return b.plan.step(name, ops::LearnedPositions{axis, places, b.config.position_scale},
                               {b.plan.parameter(name + ".weight", table, {Init::Kind::embedding}), numbers});
        }
        case PositionalEncoding::none:
        case PositionalEncoding::rope:
            return nullptr;  // RoPE rotates q and k instead
    }
    return nullptr;
}

Ref looked_up(Builder& b, const std::string& prefix, Ref tokens, Index vocab_size) {
    const Axes table = {{axis::vocab, vocab_size}, {axis::d_model, b.config.d_model}};
    const Ref weight = b.plan.parameter(prefix + "embed.weight", table, {Init::Kind::embedding});
    const float scale = b.config.scale_embedding ? std::sqrt(static_cast<float>(b.config.d_model)) : 1.0F;
    const auto multiplier = static_cast<float>(b.config.embedding_scale);
    return b.plan.step(prefix + "embed", ops::Embed{scale, multiplier}, {tokens, weight});
}

Operation gated_activation(const Config& config) {
    if (config.activation == ActivationKind::swiglu_clamped)
        return ops::ClampedSwiglu{config.swiglu_alpha, config.swiglu_limit};
    return ops::ActivateGated{config.activation};
}

// xIELU's two learned numbers, and what they make of the rows.   -> the axes of `pre`
Ref xielu(Builder& b, const std::string& step, const std::string& parameters, Ref pre) {
    const auto alpha = [&](const char* name) {
        return b.plan.parameter(parameters + ".xielu." + name, {{axis::one, 1}}, {Init::Kind::half});
    };
    const Ref above = alpha("alpha_p"), below = alpha("alpha_n");
    return b.plan.step(step, ops::Xielu{}, {pre, above, below});
}

Ref dense(Builder& b, const std::string& block, const std::string& parameters, Ref x) {
    const Index d_model = b.config.d_model, d_ff = b.config.dim_feedforward;
    const Hidden read = [&](const std::string& step, const char* projection) {
        const LinearParameters of = linear_parameters(b, parameters + "." + projection, d_ff, d_model);
        return b.plan.step(step, ops::Linear{axis::d_ff}, {x, of.weight, of.bias});
    };
    const Ref post = hidden(b, block + ".mlp", parameters, read);
    const LinearParameters down = linear_parameters(b, parameters + ".down_proj", d_model, d_ff);
    return b.plan.step(block + ".mlp_out", ops::Linear{axis::d_model}, {post, down.weight, down.bias});
}

}  // namespace

LinearParameters linear_parameters(Builder& b, const std::string& name, Index out, Index in) {
    const Init init = {Init::Kind::linear, in};
    LinearParameters linear;
    linear.weight = b.plan.parameter(name + ".weight", {{axis::out, out}, {axis::in, in}}, init);
    if (b.config.bias) linear.bias = {b.plan.parameter(name + ".bias", {{axis::out, out}}, init)};
    return linear;
}

Entering embedding(Builder& b, const std::string& prefix, Ref tokens, Ref x, Index vocab_size, Ref numbers) {
    b.plan.begin_part(Part::embedding, Meaning::embedding);
    const Ref content = vocab_size > 0 ? looked_up(b, prefix, tokens, vocab_size) : x;
    const Ref code = positions(b, prefix, content->axes[1], {numbers});
    if (!b.config.embedding_norm) return {content, code};
    Ref sum = content;
    if (code != nullptr) {
        b.plan.begin_part(Part::add, Meaning::residual);
        sum = b.plan.step(prefix + "embed_sum", ops::Add{}, {content, code}, std::nullopt, Role::internal);
    }
    return {norm(b, prefix + "embed_norm", prefix + "embed_norm", sum)};
}

OptionalRef gain_parameter(Builder& b, const std::string& name, Axes axes) {
    if (!b.config.norm_gain) return {};
    const Init::Kind kind = is_plus_one(b.config.norm) ? Init::Kind::gain_less_one : Init::Kind::gain;
    return {b.plan.parameter(name + ".weight", std::move(axes), {kind})};
}

Ref norm(Builder& b, const std::string& at, const std::string& parameters, Ref x) {
    const NormKind kind = b.config.norm;
    const Axes width = {{axis::d_model, b.config.d_model}};
    const bool dynamic = kind == NormKind::dynamic_tanh;
    b.plan.begin_norm(at, name_of(kind));
    const OptionalRef gain = gain_parameter(b, parameters, width);
    const bool shifted = b.config.bias && (is_centred(kind) || dynamic);
    const OptionalRef shift = {shifted ? b.plan.parameter(parameters + ".bias", width, {Init::Kind::shift}) : nullptr};
    if (dynamic) {
        const Ref alpha = b.plan.parameter(parameters + ".alpha", {{axis::one, 1}}, {Init::Kind::half});
        const Ref out = b.plan.step(at + ".normalized", ops::DynamicTanh{b.config.norm_gain}, {x, alpha, gain, shift});
        b.plan.name_steps({{NormStep::normalized, out}});
        return out;
    }
    // Frameworks compute what a norm divides by in float32.
    const Ref scale = b.plan.in_float32(true, [&] {
        return b.plan.step(at + ".scale", ops::NormScale{kind, b.config.layer_norm_eps}, {x});
    });
    const ops::Normalize normalize = {kind, b.config.norm_gain, b.config.casts_before_gain(kind)};
    const Ref normalized = b.plan.step(at + ".normalized", normalize, {x, scale, gain, shift});
    b.plan.name_steps({{NormStep::scale, scale}, {NormStep::normalized, normalized}});
    return normalized;
}

Ref hidden(Builder& b, const std::string& at, const std::string& parameters, const Hidden& read) {
    const Ref pre = read(at + ".pre", "up_proj");
    Ref post = nullptr;
    if (b.config.gated_mlp)
        post = b.plan.step(at + ".post", gated_activation(b.config), {pre, read(at + ".gate", "gate_proj")});
    else if (b.config.activation == ActivationKind::xielu)
        post = xielu(b, at + ".post", parameters, pre);
    else
        post = b.plan.step(at + ".post", ops::Activate{b.config.activation}, {pre});
    return dropout(b, DropoutSite::mlp_post, post);
}

Ref feed_forward(Builder& b, const std::string& block, const std::string& parameters, bool experts, Ref x) {
    b.plan.begin_part(Part::mlp, Meaning::mlp);
    const Ref out = experts ? mixture(b, block, parameters, x) : dense(b, block, parameters, x);
    return dropout(b, DropoutSite::mlp_out, out);
}

namespace {
constexpr std::string_view kDropoutMask = ".dropout_mask", kDropped = ".dropped";
}

Ref dropout(Builder& b, DropoutSite site, Ref x) {
    const auto& sites = b.config.dropout_sites;
    if (!b.dropout_seed || b.config.dropout == 0.0 || std::find(sites.begin(), sites.end(), site) == sites.end())
        return x;
    const std::string mask_name = x->name + std::string(kDropoutMask);
    const ops::DropoutMask dropped = {x->axes, b.config.dropout, *b.dropout_seed, mask_name};
    const Ref mask = b.plan.in_float32(true, [&] { return b.plan.step(mask_name, dropped, {}, x->meaning); });
    return b.plan.step(x->name + std::string(kDropped), ops::Drop{}, {x, mask}, x->meaning);
}

std::string without_dropout(std::string_view step) {
    for (const std::string_view ending : {kDropoutMask, kDropped})
        if (step.ends_with(ending)) step.remove_suffix(ending.size());
    return std::string(step);
}

}  // namespace decoderscope::decoder

#include "engine/decoder/layers.h"

#include "engine/ops/elementwise.h"

namespace decoderscope::decoder {

namespace {

// What a sublayer, or its second norm, gave, times a gain of its own.   -> at + ".ls1" [batch, pos, d_model]
Ref layer_scaled(Builder& b, const std::string& at, const std::string& parameters, const char* number, Ref update) {
    if (!b.config.layer_scale) return update;
    const std::string name = std::string(".ls") + number;
    const Ref gain =
        b.plan.parameter(parameters + name + ".weight", {{axis::d_model, b.config.d_model}}, {Init::Kind::gain});
    return b.plan.step(at + name, ops::LayerScale{}, {update, gain});
}

// One sublayer in its residual connection: x + f(norm(x)) (Pre-Norm), norm(x + f(x)) (Post-Norm), x + norm(f(norm(x)))
// (Peri-Norm, Gemma 2) or x + norm(f(x)) (reordered, OLMo 2). This is the whole difference between them (Xiong et al.
// 2020, Kim et al. 2025).
template <class Sublayer>
Ref residual(Builder& b, const std::string& at, const std::string& parameters, const char* number,
             const std::string& sum_name, Ref x, Sublayer sublayer) {
    const std::string norm_at = at + ".ln" + number, norm_parameters = parameters + ".norm" + number;
    const NormPlacement placement = b.config.placement();
    const bool before = placement == NormPlacement::pre || placement == NormPlacement::peri;
    const bool behind = placement == NormPlacement::peri || placement == NormPlacement::reordered;
    Ref update = sublayer(before ? norm(b, norm_at, norm_parameters, x) : x);
    if (behind) update = norm(b, norm_at + "_post", norm_parameters + "_post", update);
    update = layer_scaled(b, at, parameters, number, update);
    b.plan.begin_part(Part::add, Meaning::residual);
    const Ref sum = b.plan.step(sum_name, ops::Add{b.config.residual_scale, b.config.update_scale}, {x, update});
    return placement == NormPlacement::post ? norm(b, norm_at, norm_parameters, sum) : sum;
}

// One block of a stack.
struct Block {
    const Stack& stack;
    Index layer = 0;
    std::string at, parameters;  // "blocks.0", "layers.0"
};

// How a layer turns queries and keys of a text of that many positions, whose numbers are given or not: with a window,
// by a base of its own if there is one, which is not scaled.
std::optional<ops::Rope> rope_of(const Builder& b, Index layer, Index window, Index positions, bool given) {
    const Config& c = b.config;
    if (!c.rotates(layer)) return std::nullopt;
    ops::Rope rope = {c.rope_theta, c.rotary_columns(), c.rope_interleaved, {}, {b.past.positions, given}};
    if (window > 0 && c.rope_local_theta > 0.0) {
        rope.theta = c.rope_local_theta;
        return rope;
    }
    if (c.rope_scaling == RopeScalingKind::none) return rope;
    const bool is_long = positions > c.rope_original_positions;
    rope.scaling = {c.rope_scaling,
                    c.rope_factor,
                    c.rope_low_freq_factor,
                    c.rope_high_freq_factor,
                    c.rope_original_positions,
                    c.rope_beta_fast,
                    c.rope_beta_slow,
                    c.rope_truncate,
                    c.rope_attention_factor,
                    is_long ? c.rope_long_factors : c.rope_short_factors};
    return rope;
}

Ref self_attention(Builder& b, const Block& block, Ref x) {
    const Stack& stack = block.stack;
    const bool by_distance = b.config.relative_attention_num_buckets > 0;
    const Index window = stack.windowed ? b.config.window_of(block.layer) : 0;
    const Index positions = stack.prefix.empty() ? b.text_length : x->axes[1].size;
    return attention(b, {.at = block.at + ".attn",
                         .parameters = block.parameters + ".self_attn",
                         .queries = x,
                         .memory = x,
                         .causal = stack.causal,
                         .padding = stack.padding,
                         .custom = stack.custom,
                         .positions = stack.positions,
                         .segments = stack.segments,
                         .window = window,
                         .rope = rope_of(b, block.layer, window, positions, stack.positions != nullptr),
                         .distances = !by_distance                           ? std::string()
                                      : b.config.relative_attention_by_layer ? block.parameters + ".relative_bias"
                                                                             : stack.prefix + "relative_bias",
                         .both_ways = !stack.prefix.empty()});
}

// Attention and MLP read the same stream and are added to it in one sum: x + attention(norm(x)) + mlp(norm(x)), under
// one norm for both (GPT-J, Phi) or each under its own (GPT-NeoX).
Ref parallel_sublayers(Builder& b, const Block& block, Ref x) {
    const auto& [stack, layer, at, parameters] = block;
    const Ref for_attention = norm(b, at + ".ln1", parameters + ".norm1", x);
    const Ref attended = layer_scaled(b, at, parameters, "1", self_attention(b, block, for_attention));
    const bool two_norms = b.config.parallel_residual == ParallelResidual::two_norms;
    const Ref for_mlp = two_norms ? norm(b, at + ".ln2", parameters + ".norm2", x) : for_attention;
    const Ref transformed =
        layer_scaled(b, at, parameters, "2", feed_forward(b, at, parameters, b.config.is_mixture(layer), for_mlp));
    b.plan.begin_part(Part::add, Meaning::residual);
    return b.plan.step(at + ".resid_post", ops::Add{b.config.residual_scale, b.config.update_scale},
                       {x, attended, transformed});
}

Ref add_block(Builder& b, const Block& block, const Entering& entering) {
    const auto& [stack, layer, at, parameters] = block;
    b.plan.begin_block(at, layer);
    b.plan.begin_part(Part::residual_stream, Meaning::residual);
    Ref x = entering.positions == nullptr
                ? b.plan.step(at + ".resid_pre", ops::Identity{}, {entering.content})
                : b.plan.step(at + ".resid_pre", ops::Add{}, {entering.content, entering.positions});

    if (b.config.parallel_residual != ParallelResidual::none) return parallel_sublayers(b, block, x);
    x = residual(b, at, parameters, "1", at + ".resid_mid", x,
                 [&](Ref normed) { return self_attention(b, block, normed); });
    if (stack.cross_attention)
        x = residual(b, at, parameters, "2", at + ".resid_mid_cross", x, [&](Ref normed) {
            return attention(b, {.at = block.at + ".cross_attn",
                                 .parameters = block.parameters + ".cross_attn",
                                 .queries = normed,
                                 .memory = block.stack.memory,
                                 .padding = block.stack.memory_padding});
        });
    if (b.config.dim_feedforward > 0) {
        const char* number = stack.cross_attention ? "3" : "2";
        return residual(b, at, parameters, number, at + ".resid_post", x, [&](Ref normed) {
            return feed_forward(b, block.at, block.parameters, b.config.is_mixture(block.layer), normed);
        });
    }
    b.plan.begin_part(Part::residual_stream, Meaning::residual);
    return b.plan.step(at + ".resid_post", ops::Identity{}, {x});
}

}  // namespace

std::vector<Ref> blocks(Builder& b, const Stack& stack, Entering entering) {
    std::vector<Ref> left;
    for (Index layer = 0; layer < stack.layers; ++layer) {
        const std::string number = std::to_string(layer);
        left.push_back(add_block(
            b, {stack, layer, stack.prefix + "blocks." + number, stack.prefix + "layers." + number}, entering));
        entering = {left.back()};
    }
    b.plan.end_block();
    return left;
}

}  // namespace decoderscope::decoder

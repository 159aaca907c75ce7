#include "engine/decoder/layers.h"

#include "engine/ops/elementwise.h"

namespace decoderscope::decoder {

namespace {

// One sublayer in its residual connection: x + f(norm(x)) (Pre-Norm), norm(x + f(x)) (Post-Norm), x + norm(f(norm(x)))
// (Peri-Norm, Gemma 2) or x + norm(f(x)) (reordered, OLMo 2). This is the whole difference between them (Xiong et al.
// 2020, Kim et al. 2025).
template <class Sublayer>
Ref residual(Builder& b, const std::string& norm_at, const std::string& norm_parameters, const std::string& sum_name,
             Ref x, Sublayer sublayer) {
    const NormPlacement placement = b.config.placement();
    const bool before = placement == NormPlacement::pre || placement == NormPlacement::peri;
    const bool behind = placement == NormPlacement::peri || placement == NormPlacement::reordered;
    Ref update = sublayer(before ? norm(b, norm_at, norm_parameters, x) : x);
    if (behind) update = norm(b, norm_at + "_post", norm_parameters + "_post", update);
    b.plan.begin_part(Part::add, Meaning::residual);
    const Ref sum = b.plan.step(sum_name, ops::Add{b.config.residual_scale}, {x, update});
    return placement == NormPlacement::post ? norm(b, norm_at, norm_parameters, sum) : sum;
}

Ref self_attention(Builder& b, const Stack& stack, const std::string& at, const std::string& parameters, Index window,
                   Ref x) {
    const bool by_distance = b.config.relative_attention_num_buckets > 0;
    return attention(b, {.at = at + ".attn",
                         .parameters = parameters + ".self_attn",
                         .queries = x,
                         .memory = x,
                         .causal = stack.causal,
                         .padding = stack.padding,
                         .custom = stack.custom,
                         .window = window,
                         .distances = by_distance ? stack.prefix + "relative_bias" : std::string(),
                         .both_ways = !stack.prefix.empty()});
}

// Attention and MLP read the same stream and are added to it in one sum: x + attention(norm(x)) + mlp(norm(x)), under
// one norm for both (GPT-J, Phi) or each under its own (GPT-NeoX).
Ref parallel_sublayers(Builder& b, const Stack& stack, const std::string& at, const std::string& parameters,
                       Index window, Ref x) {
    const Ref for_attention = norm(b, at + ".ln1", parameters + ".norm1", x);
    const Ref attended = self_attention(b, stack, at, parameters, window, for_attention);
    const bool two_norms = b.config.parallel_residual == ParallelResidual::two_norms;
    const Ref for_mlp = two_norms ? norm(b, at + ".ln2", parameters + ".norm2", x) : for_attention;
    const Ref transformed = feed_forward(b, at, parameters, for_mlp);
    b.plan.begin_part(Part::add, Meaning::residual);
    return b.plan.step(at + ".resid_post", ops::Add{b.config.residual_scale}, {x, attended, transformed});
}

Ref block(Builder& b, const Stack& stack, Index layer, const Entering& entering) {
    const std::string at = stack.prefix + "blocks." + std::to_string(layer);
    const std::string parameters = stack.prefix + "layers." + std::to_string(layer);
    const Index window = stack.windowed ? b.config.window_of(layer) : 0;
    b.plan.begin_block(at, layer);
    b.plan.begin_part(Part::residual_stream, Meaning::residual);
    Ref x = entering.positions == nullptr
                ? b.plan.step(at + ".resid_pre", ops::Identity{}, {entering.content})
                : b.plan.step(at + ".resid_pre", ops::Add{}, {entering.content, entering.positions});

    if (b.config.parallel_residual != ParallelResidual::none)
        return parallel_sublayers(b, stack, at, parameters, window, x);
    x = residual(b, at + ".ln1", parameters + ".norm1", at + ".resid_mid", x,
                 [&](Ref normed) { return self_attention(b, stack, at, parameters, window, normed); });
    if (stack.cross_attention)
        x = residual(b, at + ".ln2", parameters + ".norm2", at + ".resid_mid_cross", x, [&](Ref normed) {
            return attention(b, {at + ".cross_attn", parameters + ".cross_attn", normed, stack.memory, false,
                                 stack.memory_padding, nullptr});
        });
    if (b.config.dim_feedforward > 0) {
        const std::string number = stack.cross_attention ? "3" : "2";
        return residual(b, at + ".ln" + number, parameters + ".norm" + number, at + ".resid_post", x,
                        [&](Ref normed) { return feed_forward(b, at, parameters, normed); });
    }
    b.plan.begin_part(Part::residual_stream, Meaning::residual);
    return b.plan.step(at + ".resid_post", ops::Identity{}, {x});
}

}  // namespace

std::vector<Ref> blocks(Builder& b, const Stack& stack, Entering entering) {
    std::vector<Ref> left;
    for (Index layer = 0; layer < stack.layers; ++layer) {
        left.push_back(block(b, stack, layer, entering));
        entering = {left.back()};
    }
    b.plan.end_block();
    return left;
}

}  // namespace decoderscope::decoder

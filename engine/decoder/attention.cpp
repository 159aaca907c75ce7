#include "engine/decoder/layers.h"

#include "engine/ops/append.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/head_norm.h"
#include "engine/ops/head_outputs.h"
#include "engine/ops/linear.h"
#include "engine/ops/masks.h"
#include "engine/ops/positions.h"
#include "engine/ops/scaled_dot_product.h"
#include "engine/ops/softmax.h"

namespace decoderscope::decoder {

namespace {

// The projections to q, k and v. Under shared_qkv (the tutorial with the shared projection, causal-lm) all three are
// q_proj.
struct Projections {
    LinearParameters q, k, v;
};

Projections projections(Builder& b, const std::string& parameters) {
    const Index d_model = b.config.d_model, d_head = b.config.d_head();
    const Index d_query = b.config.nhead * d_head, d_key_value = b.config.num_key_value_heads * d_head;
    const LinearParameters q = linear_parameters(b, parameters + ".q_proj", d_query, d_model);
    if (!b.config.shared_qkv)
        return {q, linear_parameters(b, parameters + ".k_proj", d_key_value, d_model),
                linear_parameters(b, parameters + ".v_proj", d_key_value, d_model)};
    for (const char* unread : {".k_proj", ".v_proj"}) {
        const Init init = {Init::Kind::linear, d_model};
        b.plan.unread_parameter(parameters + unread + ".weight", {{axis::out, d_query}, {axis::in, d_model}}, init);
        if (b.config.bias) b.plan.unread_parameter(parameters + unread + ".bias", {{axis::out, d_query}}, init);
    }
    return {q, q, q};
}

// The gain of the norm of q or k; nullptr without one.   -> [d_head], or [head·d_head] across heads
Ref head_gain(Builder& b, const std::string& name, Index heads) {
    const Index d_head = b.config.d_head();
    const Axis width = b.config.qk_norm_across_heads ? Axis{axis::out, heads * d_head} : Axis{axis::d_head, d_head};
    return b.plan.parameter(name + ".weight", {width}, gain_init(b.config));
}

// How projected heads are prepared for the scores.
struct Preparation {
    Ref gain = nullptr;  // of the norm; nullptr: none
    bool rotate = false;
};

// x projected and cut into heads; normalised, then rotated by position, where the configuration says so. What comes
// before the last of these steps is internal.   -> [batch, head, pos, d_head]
Ref heads(Builder& b, const std::string& name, Ref x, const LinearParameters& proj, Index count,
          const Preparation& preparation, Meaning meaning, Role role = Role::recorded) {
    const auto step = [&](bool last, const char* unfinished, Operation operation, std::initializer_list<Ref> operands) {
        return b.plan.step(last ? name : name + unfinished, std::move(operation), operands, meaning,
                           last ? role : Role::internal);
    };
    const Config& c = b.config;
    const bool rotate = preparation.rotate, normed = preparation.gain != nullptr;
    Ref y = step(!normed && !rotate, normed ? "_unnormed" : "_unrotated", ops::ProjectHeads{count},
                 {x, proj.weight, proj.bias});
    if (normed)
        y = step(!rotate, "_unrotated",
                 ops::HeadNorm{c.layer_norm_eps, c.qk_norm_across_heads, c.norm == NormKind::rmsnorm_plus_one},
                 {y, preparation.gain});
    if (!rotate) return y;
    const ops::RopeScaling scaling = {c.rope_scaling, c.rope_factor, c.rope_low_freq_factor, c.rope_high_freq_factor,
                                      c.rope_original_positions};
    return step(true, "", ops::Rope{c.rope_theta, c.rotary_columns(), c.rope_interleaved, scaling, b.past.positions},
                {y});
}

// k or v: the new rows after those kept from earlier positions. A memory never grows, so if its rows were kept there
// are no new ones.   -> [batch, kv_head, key, d_head]
Ref rows(Builder& b, const std::string& name, const Attention& a, const LinearParameters& proj,
         const Preparation& preparation, const Tensor& kept, Meaning meaning) {
    const Index count = b.config.num_key_value_heads;
    if (kept.empty()) return heads(b, name, a.memory, proj, count, preparation, meaning);
    if (a.memory == nullptr) return b.plan.input(name, kept);
    const Ref before = b.plan.input(name + "_kept", kept);
    const Ref added = heads(b, name + "_new", a.memory, proj, count, preparation, meaning, Role::internal);
    return b.plan.step(name, ops::Append{}, {before, added}, meaning);
}

ops::CombineMasks masks_of(const Builder& b, const Attention& a, Ref scores) {
    const Axes& axes = scores->axes;  // [batch, head, query, key]
    return {axes[0].size,         axes[1].size,        axes[2].size,     axes[3].size, a.causal,
            a.padding != nullptr, a.custom != nullptr, b.past.positions, a.window};
}

// What each head likes each distance adds to the scores; all blocks of a stack share the first one's table.
// {scores} -> [batch, head, query, key]
Ref biased_by_distance(Builder& b, const Attention& a, Ref scores) {
    const Axes axes = {{axis::bucket, b.config.relative_attention_num_buckets}, {axis::head, b.config.nhead}};
    const Ref table = b.plan.parameter(a.distances + ".weight", axes, {Init::Kind::embedding});
    const ops::RelativeBias bias = {b.config.relative_attention_max_distance, a.both_ways, b.past.positions};
    return b.plan.step(a.at + ".attn_scores", bias, {scores, table});
}

}  // namespace

Ref attention(Builder& b, const Attention& a) {
    Plan& plan = b.plan;
    const Index d_model = b.config.d_model;
    const KeptRows& kept = b.past.of(a.at);
    const bool self = a.queries == a.memory;
    const bool rope = self && b.config.positional_encoding == PositionalEncoding::rope;
    const bool normed = self && b.config.qk_norm;

    plan.begin_attention(a.at, self ? Part::self_attention : Part::cross_attention);
    const Projections proj = projections(b, a.parameters);
    const auto gain = [&](const char* name, Index heads) {
        return normed ? head_gain(b, a.parameters + name, heads) : nullptr;
    };
    const Preparation for_q = {gain(".q_norm", b.config.nhead), rope};
    const Preparation for_k = {gain(".k_norm", b.config.num_key_value_heads), rope};
    const Ref q = heads(b, a.at + ".q", a.queries, proj.q, b.config.nhead, for_q,
                        Meaning::query);                                         // [batch, head, query, d_head]
    const Ref k = rows(b, a.at + ".k", a, proj.k, for_k, kept.k, Meaning::key);  // [batch, kv_head, key, d_head]
    const Ref v = rows(b, a.at + ".v", a, proj.v, {}, kept.v, Meaning::value);   // [batch, kv_head, key, d_head]

    // All of these [batch, head, query, key].
    const ops::ScaledDotProduct product = {b.config.attention_scale, self && b.config.alibi, b.past.positions};
    const bool biased = !a.distances.empty();
    Ref scores = plan.step(a.at + (biased ? ".attn_scores_unbiased" : ".attn_scores"), product, {q, k}, std::nullopt,
                           biased ? Role::internal : Role::recorded);
    if (biased) scores = biased_by_distance(b, a, scores);
    const Ref raw_scores = scores;
    if (const double cap = b.config.attention_soft_cap; cap > 0.0)
        scores = plan.step(a.at + ".capped_scores", ops::SoftCap{cap}, {scores});
    const Ref mask = plan.step(a.at + ".mask", masks_of(b, a, scores), {a.padding, a.custom});
    const Ref masked = plan.step(a.at + ".masked_scores", ops::FillMasked{b.config.mask_value}, {scores, mask});
    const Ref pattern =
        plan.step(a.at + ".pattern", ops::Softmax{}, {dropout(b, DropoutSite::attention_scores, masked)});
    const Ref kept_weights = dropout(b, DropoutSite::attention_weights, pattern);

    const Ref z = plan.step(a.at + ".z", ops::WeightedSum{}, {kept_weights, v});  // [batch, head, query, d_head]
    const LinearParameters o_proj =
        linear_parameters(b, a.parameters + ".o_proj", d_model, b.config.nhead * b.config.d_head());
    // An edited result must affect the output, not only be shown.
    const bool by_results = b.edited(a.at + ".result");
    const Ref result = plan.step(a.at + ".result", ops::HeadResults{}, {z, o_proj.weight}, std::nullopt,
                                 by_results ? Role::recorded : Role::on_demand);
    const Ref out = by_results ? plan.step(a.at + "_out", ops::SumHeads{}, {result, o_proj.bias})
                               : plan.step(a.at + "_out", ops::ProjectOutput{}, {z, o_proj.weight, o_proj.bias});
    plan.name_steps({{AttentionStep::query, q},
                     {AttentionStep::key, k},
                     {AttentionStep::value, v},
                     {AttentionStep::scores, raw_scores},
                     {AttentionStep::mask, mask},
                     {AttentionStep::masked_scores, masked},
                     {AttentionStep::pattern, pattern},
                     {AttentionStep::z, z},
                     {AttentionStep::result, result},
                     {AttentionStep::out, out}});
    return dropout(b, DropoutSite::attention_out, out);
}

}  // namespace decoderscope::decoder

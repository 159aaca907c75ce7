#include "engine/decoder/layers.h"

#include "engine/ops/elementwise.h"
#include "engine/ops/head_norm.h"
#include "engine/ops/head_outputs.h"
#include "engine/ops/latent.h"
#include "engine/ops/linear.h"
#include "engine/ops/masks.h"
#include "engine/ops/positions.h"
#include "engine/ops/scaled_dot_product.h"
#include "engine/ops/sink.h"
#include "engine/ops/softmax.h"

#include <optional>
#include <vector>

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
OptionalRef head_gain(Builder& b, const std::string& name, Index heads) {
    const Index d_head = b.config.d_head();
    const Axis width = b.config.qk_norm_across_heads ? Axis{axis::out, heads * d_head} : Axis{axis::d_head, d_head};
    return gain_parameter(b, name, {width});
}

// How projected heads are prepared for the scores.
struct Preparation {
    bool normed = false;
    OptionalRef gain, shift;  // of the norm
    std::optional<ops::Rope> rope = {};
    OptionalRef positions = {};  // their numbers, if they aren't counted
    std::optional<ops::ScaleQueries> scale = {};
};

// A step on the way from projected heads to what the products read, and what its input is called.
struct Stage {
    const char* before;
    Operation operation;
    OptionalRef operand, second = {};
};

std::vector<Stage> stages_of(const Config& c, const Preparation& preparation) {
    const ops::HeadNorm by_head = {c.qk_norm_eps > 0.0 ? c.qk_norm_eps : c.layer_norm_eps, c.qk_norm_across_heads,
                                   c.adds_one_to_gain(), c.qk_norm_centred,
                                   !c.qk_norm_centred && c.casts_before_gain(NormKind::rmsnorm)};
    const Stage norm = {"_unnormed", by_head, preparation.gain, preparation.shift};
    std::vector<Stage> stages;
    if (preparation.normed && !c.qk_norm_after_rope) stages.push_back(norm);
    if (c.clip_qkv > 0.0) stages.push_back({"_unclipped", ops::Clip{c.clip_qkv}, {}});
    if (preparation.rope) stages.push_back({"_unrotated", *preparation.rope, preparation.positions});
    if (preparation.normed && c.qk_norm_after_rope) stages.push_back(norm);
    if (preparation.scale) stages.push_back({"_unscaled", *preparation.scale, preparation.positions});
    return stages;
}

// x projected and cut into heads, then prepared stage by stage. What comes before the last stage is internal.
// -> [batch, head, pos, d_head]
Ref heads(Builder& b, const std::string& name, Ref x, const LinearParameters& proj, Index count,
          const Preparation& preparation, Meaning meaning, Role role = Role::recorded) {
    const std::vector<Stage> stages = stages_of(b.config, preparation);
    const auto step = [&](std::size_t done, Operation operation, std::initializer_list<OperandRef> operands) {
        const bool last = done == stages.size();
        return b.plan.step(last ? name : name + stages[done].before, std::move(operation), operands, meaning,
                           last ? role : Role::internal);
    };
    Ref y = step(0, ops::ProjectHeads{count}, {x, proj.weight, proj.bias});
    for (std::size_t i = 0; i < stages.size(); ++i)
        y = step(i + 1, stages[i].operation, {y, stages[i].operand, stages[i].second});
    return y;
}

// Rows of new positions after the ones that were kept, if any. `make` makes the new ones under the name that it is
// given.
template <class Make>
Ref behind_kept(Builder& b, const std::string& name, const Tensor& kept, Meaning meaning, const Make& make) {
    if (kept.empty()) return make(name, Role::recorded);
    const Ref before = b.plan.input(name + "_kept", kept);
    const Ref added = make(name + "_new", Role::internal);
    return b.plan.step(name, ops::Append{}, {before, added}, meaning);
}

// k or v: the new rows after those kept from earlier positions. A memory never grows, so if its rows were kept there
// are no new ones.   -> [batch, kv_head, key, d_head]
Ref rows(Builder& b, const std::string& name, const Attention& a, const LinearParameters& proj,
         const Preparation& preparation, const Tensor& kept, Meaning meaning) {
    const Index count = b.config.num_key_value_heads;
    if (!kept.empty() && a.memory == nullptr) return b.plan.input(name, kept);
    return behind_kept(b, name, kept, meaning, [&](const std::string& made, Role role) {
        return heads(b, made, a.memory, proj, count, preparation, meaning, role);
    });
}

// ---- latent attention

// What the products read, and what a cache keeps.
struct Projected {
    Ref q = nullptr, k = nullptr, v = nullptr;    // [batch, head, pos, d_head], v of value_width
    Ref kv_latent = nullptr, k_shared = nullptr;  // [batch, pos, rank], [batch, 1, pos, columns]; latent attention's
};

// A Linear's output, or some columns of one, normalised.   {x [batch, pos, rank]} -> name [batch, pos, rank]
Ref latent_row(Builder& b, const std::string& name, const std::string& parameters, Ref x, Role role) {
    const OptionalRef gain = gain_parameter(b, parameters, {{axis::rank, x->axes[2].size}});
    const double eps = b.config.latent_norm_eps > 0.0 ? b.config.latent_norm_eps : b.config.layer_norm_eps;
    const ops::RowNorm norm = {eps, b.config.adds_one_to_gain()};
    return b.plan.step(name, norm, {x, gain}, std::nullopt, role);
}

// What queries are projected from: a latent row of their own, if there is one.   -> [batch, pos, …]
Ref source_of_queries(Builder& b, const Attention& a) {
    const Config& c = b.config;
    if (c.q_lora_rank == 0) return a.queries;
    const LinearParameters down = linear_parameters(b, a.parameters + ".q_down_proj", c.q_lora_rank, c.d_model);
    const Ref x = b.plan.step(a.at + ".q_latent_unnormed", ops::Linear{axis::rank}, {a.queries, down.weight, down.bias},
                              Meaning::query, Role::internal);
    return latent_row(b, a.at + ".q_latent", a.parameters + ".q_down_norm", x, Role::recorded);
}

// DeepSeek-V2's: keys and values are made from a latent row of a position, and from a few rotated columns of it that
// all heads share. A cache keeps only these; keys and values are made from it when they are read.
Projected latent_projections(Builder& b, const Attention& a, const KeptRows& kept) {
    const Config& c = b.config;
    Plan& plan = b.plan;
    const Index heads = c.nhead, shared_columns = c.qk_rope_head_dim, own_columns = c.d_head() - shared_columns;
    const auto linear = [&](const char* name, Index out, Index in) {
        return linear_parameters(b, a.parameters + name, out, in);
    };
    const auto internal = [&](const std::string& name, Operation operation, std::initializer_list<OperandRef> operands,
                              Meaning meaning) {
        return plan.step(a.at + name, std::move(operation), operands, meaning, Role::internal);
    };
    Projected made;
    const Ref for_queries = source_of_queries(b, a);
    const LinearParameters down = linear(".kv_down_proj", c.kv_lora_rank + shared_columns, c.d_model);
    const Ref both = internal(".kv_down", ops::Linear{axis::rank}, {a.memory, down.weight, down.bias}, Meaning::key);
    made.kv_latent =
        behind_kept(b, a.at + ".kv_latent", kept.latent, Meaning::key, [&](const std::string& name, Role role) {
            const Ref columns = internal(".kv_latent_unnormed", ops::Columns{0, c.kv_lora_rank}, {both}, Meaning::key);
            return latent_row(b, name, a.parameters + ".kv_down_norm", columns, role);
        });
    made.k_shared =
        behind_kept(b, a.at + ".k_shared", kept.shared, Meaning::key, [&](const std::string& name, Role role) {
            const ops::Columns columns = {c.kv_lora_rank, shared_columns, true};
            if (!a.rope) return plan.step(name, columns, {both}, Meaning::key, role);
            const Ref unrotated = internal(".k_shared_unrotated", columns, {both}, Meaning::key);
            return plan.step(name, *a.rope, {unrotated, OptionalRef{a.positions}}, Meaning::key, role);
        });

    const LinearParameters q = c.q_lora_rank > 0 ? linear(".q_up_proj", heads * c.d_head(), c.q_lora_rank)
                                                 : linear(".q_proj", heads * c.d_head(), c.d_model);
    const auto projected = [&](const std::string& name, Ref x, const LinearParameters& by, Meaning meaning, Role role,
                               bool when_read = false) {
        return plan.step(name, ops::ProjectHeads{heads, when_read}, {x, by.weight, by.bias}, meaning, role);
    };
    made.q = projected(a.at + (a.rope ? ".q_unrotated" : ".q"), for_queries, q, Meaning::query,
                       a.rope ? Role::internal : Role::recorded);
    if (a.rope) {
        ops::Rope last_columns = *a.rope;
        last_columns.begin = own_columns;
        made.q = plan.step(a.at + ".q", last_columns, {made.q, OptionalRef{a.positions}}, Meaning::query);
    }
    const LinearParameters k_up = linear(".k_up_proj", heads * own_columns, c.kv_lora_rank);
    const bool later = !kept.latent.empty();
    const Ref own = projected(a.at + ".k_own", made.kv_latent, k_up, Meaning::key, Role::internal, later);
    made.k = plan.step(a.at + ".k", ops::JoinColumns{}, {own, made.k_shared}, Meaning::key);
    const LinearParameters v_up = linear(".v_up_proj", heads * c.value_width(), c.kv_lora_rank);
    made.v = projected(a.at + ".v", made.kv_latent, v_up, Meaning::value, Role::recorded, later);
    return made;
}

// ---- what the products read

// Three projections, normalised and turned as the configuration says.
Projected plain_projections(Builder& b, const Attention& a, const KeptRows& kept) {
    const bool normed = a.queries == a.memory && b.config.qk_norm;
    const Projections proj = projections(b, a.parameters);
    const auto gain = [&](const char* name, Index heads) {
        return normed ? head_gain(b, a.parameters + name, heads) : OptionalRef();
    };
    const auto shift = [&](const std::string& name) {
        return normed && b.config.qk_norm_bias
                   ? OptionalRef{b.plan.parameter(name, {{axis::d_head, b.config.d_head()}}, {Init::Kind::shift})}
                   : OptionalRef();
    };
    const Config& c = b.config;
    const ops::ScaleQueries scale = {
        c.query_scale_beta, c.query_scale_positions, {b.past.positions, a.positions != nullptr}};
    const bool scaled = c.query_scale_beta != 0.0 && a.queries == a.memory;
    Preparation for_q = {normed, gain(".q_norm", c.nhead), shift(a.parameters + ".q_norm.bias"), a.rope, {a.positions}};
    if (scaled) for_q.scale = scale;
    const Preparation for_k = {normed,
                               gain(".k_norm", b.config.num_key_value_heads),
                               shift(a.parameters + ".k_norm.bias"),
                               a.rope,
                               {a.positions}};
    Projected made;
    made.q = heads(b, a.at + ".q", a.queries, proj.q, b.config.nhead, for_q, Meaning::query);
    made.k = rows(b, a.at + ".k", a, proj.k, for_k, kept.k, Meaning::key);
    made.v = rows(b, a.at + ".v", a, proj.v, {}, kept.v, Meaning::value);
    return made;
}

ops::CombineMasks masks_of(const Builder& b, const Attention& a, Ref scores) {
    const Axes& axes = scores->axes;  // [batch, head, query, key]
    return {.batch = axes[0].size,
            .heads = axes[1].size,
            .queries = axes[2].size,
            .keys = axes[3].size,
            .causal = a.causal,
            .padding = a.padding != nullptr,
            .custom = a.custom != nullptr,
            .segments = a.segments != nullptr,
            .places = {b.past.positions, a.window > 0 && a.positions != nullptr},
            .window = a.window};
}

// The bias for each distance that each head adds to the scores; by a table of each block's own, or one that all
// blocks of a stack share.
// {scores} -> [batch, head, query, key]
Ref biased_by_distance(Builder& b, const Attention& a, Ref scores) {
    const Axes axes = {{axis::bucket, b.config.relative_attention_num_buckets}, {axis::head, b.config.nhead}};
    const Ref table = b.plan.parameter(a.distances + ".weight", axes, {Init::Kind::embedding});
    const ops::RelativeBias bias = {b.config.relative_attention_max_distance, a.both_ways, b.past.positions};
    return b.plan.step(a.at + ".attn_scores", bias, {scores, table});
}

// The score that each head gives to no key (gpt-oss).   -> [head]
Ref sink_parameter(Builder& b, const std::string& parameters) {
    return b.plan.parameter(parameters + ".sinks", {{axis::head, b.config.nhead}}, {Init::Kind::shift});
}

}  // namespace

Ref attention(Builder& b, const Attention& a) {
    Plan& plan = b.plan;
    const Index d_model = b.config.d_model;
    const KeptRows& kept = b.past.of(a.at);
    const bool self = a.queries == a.memory;

    plan.begin_attention(a.at, self ? Part::self_attention : Part::cross_attention);
    const bool latent = self && b.config.is_latent();
    const auto [q, k, v, kv_latent, k_shared] = latent ? latent_projections(b, a, kept) : plain_projections(b, a, kept);

    // All of these are [batch, head, query, key].
    const bool alibi = self && b.config.alibi;
    const OptionalRef numbers = {alibi ? a.positions : nullptr};
    using Alibi = ops::ScaledDotProduct::Alibi;
    const ops::ScaledDotProduct product = {b.config.attention_scale,
                                           !alibi                  ? Alibi::none
                                           : b.config.alibi_scaled ? Alibi::scaled
                                                                   : Alibi::added,
                                           {b.past.positions, numbers.step != nullptr}};
    const bool biased = !a.distances.empty();
    Ref scores = plan.step(a.at + (biased ? ".attn_scores_unbiased" : ".attn_scores"), product, {q, k, numbers},
                           std::nullopt, biased ? Role::internal : Role::recorded);
    if (biased) scores = biased_by_distance(b, a, scores);
    const Ref raw_scores = scores;
    if (const double cap = b.config.attention_soft_cap; cap > 0.0)
        scores = plan.step(a.at + ".capped_scores", ops::SoftCap{cap}, {scores});
    const ops::FillMasked fill = {ops::fill_in(plan.arithmetic(), b.config.mask_value)};
    const auto [mask, masked] = plan.in_float32(true, [&] {  // the scores are rounded already
        const ops::CombineMasks masks = masks_of(b, a, scores);
        const Ref made = plan.step(a.at + ".mask", masks,
                                   {OptionalRef{a.padding}, OptionalRef{a.custom}, OptionalRef{a.segments},
                                    OptionalRef{masks.places.given ? a.positions : nullptr}});
        return std::pair{made, plan.step(a.at + ".masked_scores", fill, {scores, made})};
    });
    const Ref left = dropout(b, DropoutSite::attention_scores, masked);
    const Ref sinks = self && b.config.attention_sinks ? sink_parameter(b, a.parameters) : nullptr;
    Ref sink = nullptr;  // [batch, head, query, 1]
    if (sinks != nullptr) sink = plan.step(a.at + ".sink", ops::SinkWeight{}, {left, sinks});
    const Ref pattern = sinks != nullptr ? plan.step(a.at + ".pattern", ops::SoftmaxWithSink{}, {left, sinks})
                                         : plan.step(a.at + ".pattern", ops::Softmax{}, {left});
    const Ref kept_weights = dropout(b, DropoutSite::attention_weights, pattern);

    const Ref z = plan.step(a.at + ".z", ops::WeightedSum{}, {kept_weights, v});  // [batch, head, query, d_head]
    const LinearParameters o_proj =
        linear_parameters(b, a.parameters + ".o_proj", d_model, b.config.nhead * v->axes[3].size);
    // An edited result must affect the output, not only be shown.
    const bool by_results = b.edited(a.at + ".result");
    const Ref result = plan.step(a.at + ".result", ops::HeadResults{}, {z, o_proj.weight}, std::nullopt,
                                 by_results ? Role::recorded : Role::on_demand);
    const Ref out = by_results ? plan.step(a.at + "_out", ops::SumHeads{}, {result, o_proj.bias})
                               : plan.step(a.at + "_out", ops::ProjectOutput{}, {z, o_proj.weight, o_proj.bias});
    plan.name_steps({{AttentionStep::query, q},
                     {AttentionStep::key, k},
                     {AttentionStep::value, v},
                     {AttentionStep::kv_latent, kv_latent},
                     {AttentionStep::k_shared, k_shared},
                     {AttentionStep::scores, raw_scores},
                     {AttentionStep::mask, mask},
                     {AttentionStep::masked_scores, masked},
                     {AttentionStep::sink, sink},
                     {AttentionStep::pattern, pattern},
                     {AttentionStep::z, z},
                     {AttentionStep::result, result},
                     {AttentionStep::out, out}});
    return dropout(b, DropoutSite::attention_out, out);
}

}  // namespace decoderscope::decoder

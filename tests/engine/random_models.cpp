#include "tests/engine/random_models.h"

#include <algorithm>

namespace decoderscope::testing {

namespace {

std::string number(Index value) { return std::to_string(value); }

constexpr auto kYesOrNo = {"false", "true"};

std::string random_sites(Dice& dice) {
    std::string sites;
    for (const char* site : {"attention_scores", "attention_weights", "attention_out", "mlp_post", "mlp_out"})
        if (dice.one_in(2)) sites += (sites.empty() ? "" : ",") + std::string(site);
    return sites;
}

void add_attention(Dice& dice, Overrides& config) {
    const Index heads = dice.between(1, 4), d_head = 2 * dice.between(1, 2);
    config.emplace_back("d_model", number(heads * d_head));
    config.emplace_back("nhead", number(heads));
    if (dice.one_in(3))
        config.emplace_back("shared_qkv", "true");
    else if (dice.one_in(2))
        config.emplace_back("num_key_value_heads", number(heads % 2 == 0 ? dice.between(1, 2) : 1));
    config.emplace_back("causal", dice.word(kYesOrNo));
    config.emplace_back("mask_value", dice.word({"-inf", "-1e9", "-3.5"}));
}

bool has(const Overrides& config, std::string_view key, std::string_view value) {
    return std::ranges::any_of(config, [&](const auto& one) { return one.first == key && one.second == value; });
}

void add_feed_forward(Dice& dice, Overrides& config) {
    const std::string width = dice.word({"0", "1", "6"});
    config.emplace_back("dim_feedforward", width);
    config.emplace_back("gated_mlp", width == "0" ? "false" : dice.word(kYesOrNo));
    const bool gated = has(config, "gated_mlp", "true");
    const bool xielu = !gated && width != "0" && dice.one_in(4);
    config.emplace_back("activation", xielu ? "xielu"
                                      : gated && dice.one_in(3)
                                          ? "swiglu_clamped"
                                          : dice.word({"relu", "gelu", "gelu_tanh", "silu", "relu2", "mish", "tanh2"}));
    config.emplace_back("swiglu_alpha", dice.word({"1.702", "0.5"}));
    config.emplace_back("swiglu_limit", dice.word({"7", "0.3"}));
    if (width == "0" || xielu || !dice.one_in(3)) return;
    const bool grouped = dice.one_in(2);
    const Index experts = grouped ? 4 : dice.between(1, 4);
    const bool sparsemixer = !grouped && dice.one_in(3);
    config.emplace_back("router_scale", sparsemixer ? "1" : dice.word({"1", "-0.5"}));
    config.emplace_back("router_jitter", dice.word({"0.01", "0.4"}));
    config.emplace_back("router_groups", grouped ? "2" : "1");
    config.emplace_back("router_top_groups", grouped ? dice.word({"1", "2"}) : "1");
    if (grouped) config.emplace_back("router_group_best", dice.word({"1", "2"}));
    config.emplace_back("experts", number(experts));
    config.emplace_back("experts_per_token", number(dice.between(1, grouped ? 2 : experts)));
    config.emplace_back("expert_dim_feedforward", dice.word({"0", "3"}));
    config.emplace_back("router", sparsemixer ? "sparsemixer" : dice.word({"softmax", "sigmoid"}));
    config.emplace_back("router_normalize", sparsemixer ? "false" : dice.word(kYesOrNo));
    if (dice.one_in(2)) config.emplace_back("moe_layers", dice.word({"0", "1"}));
    if (!dice.one_in(2)) return;
    config.emplace_back("shared_dim_feedforward", "4");
    config.emplace_back("shared_gate", dice.word(kYesOrNo));
}

void add_norms(Dice& dice, Overrides& config) {
    config.emplace_back("norm_first", dice.word(kYesOrNo));
    config.emplace_back("norm", dice.word({"layernorm", "rmsnorm", "layernorm_std", "rmsnorm_plus_one", "dynamic_tanh",
                                           "layernorm_plus_one"}));
    config.emplace_back("layer_norm_eps", dice.word({"1e-5", "1e-6", "0.1"}));
    config.emplace_back("final_norm", dice.word(kYesOrNo));
    config.emplace_back("bias", dice.word(kYesOrNo));
    if (dice.one_in(5)) config.emplace_back("norm_gain", "false");
}

void add_tokens(Dice& dice, Overrides& config) {
    config.emplace_back("positional_encoding", dice.word({"none", "sinusoidal", "learned", "rope"}));
    config.emplace_back("max_positions", dice.word({"5", "6"}));
    config.emplace_back("rope_theta", dice.word({"10000", "7.5"}));
    if (dice.one_in(3)) return;
    config.emplace_back("vocab_size", number(dice.between(2, 5)));
    config.emplace_back("scale_embedding", dice.word(kYesOrNo));
    config.emplace_back("embedding_scale", dice.word({"1", "-2"}));
    config.emplace_back("lm_head", dice.word(kYesOrNo));
    config.emplace_back("tie_word_embeddings", dice.word(kYesOrNo));
}

void add_caps(Dice& dice, Overrides& config) {
    if (dice.one_in(4)) config.emplace_back("attention_soft_cap", dice.word({"0.5", "3"}));
    if (dice.one_in(4)) config.emplace_back("logit_soft_cap", dice.word({"0.5", "3"}));
}

void add_encoder(Dice& dice, Overrides& config) {
    config.emplace_back("num_layers", number(dice.between(1, 2)));
    if (dice.one_in(2)) return;
    config.emplace_back("cross_attention", "true");
    config.emplace_back("encoder_layers", number(dice.between(0, 2)));
    config.emplace_back("encoder_vocab_size", dice.word({"0", "3", "4"}));
}

// A parallel block only where allowed: under Pre-Norm, with an MLP and without cross-attention.
void add_residual(Dice& dice, Overrides& config) {
    const bool parallel = has(config, "norm_first", "true") && !has(config, "cross_attention", "true") &&
                          !has(config, "dim_feedforward", "0");
    if (parallel && dice.one_in(2))
        config.emplace_back("parallel_residual", dice.word({"one_norm", "two_norms"}));
    else if (dice.one_in(2))
        config.emplace_back("norm_placement", dice.word({"pre", "post", "peri", "reordered"}));
    if (dice.one_in(3)) config.emplace_back("residual_scale", dice.word({"1.5", "-0.5"}));
    if (dice.one_in(3)) config.emplace_back("update_scale", dice.word({"0.5", "-2"}));
    if (dice.one_in(4)) config.emplace_back("layer_scale", "true");
}

void add_heads_of_today(Dice& dice, Overrides& config) {
    const bool rope = has(config, "positional_encoding", "rope");
    if (dice.one_in(3)) config.emplace_back("attention_sinks", "true");
    if (rope && dice.one_in(3)) config.emplace_back("rope_layers", dice.word({"0", "1"}));
    if (rope && dice.one_in(3)) config.emplace_back("rope_local_theta", "3");
    if (!has(config, "shared_qkv", "true") && dice.one_in(4)) {
        std::erase_if(config, [](const auto& one) { return one.first == "num_key_value_heads"; });
        for (const auto& [key, value] : {std::pair{"head_dim", "5"}, {"kv_lora_rank", "3"}, {"qk_rope_head_dim", "2"}})
            config.emplace_back(key, value);
        config.emplace_back("v_head_dim", dice.word({"0", "3"}));
        config.emplace_back("latent_norm_eps", dice.word({"0", "0.2"}));
        config.emplace_back("q_lora_rank", dice.word({"0", "4"}));
        return;
    }
    const bool wide = dice.one_in(3);
    if (wide) config.emplace_back("head_dim", dice.word({"2", "6"}));
    if (rope) config.emplace_back("rope_interleaved", dice.word(kYesOrNo));
    if (rope && dice.one_in(2)) config.emplace_back("rotary_dim", "2");
    if (rope && dice.one_in(3)) {
        const bool one_pair = has(config, "rotary_dim", "2");
        config.emplace_back("rope_scaling", one_pair ? dice.word({"linear", "llama3", "yarn", "longrope"})
                                                     : dice.word({"linear", "llama3", "yarn"}));
        const bool yarn = has(config, "rope_scaling", "yarn"), longrope = has(config, "rope_scaling", "longrope");
        if (yarn) config.emplace_back("rope_beta_fast", dice.word({"32", "5"}));
        if (yarn) config.emplace_back("rope_beta_slow", dice.word({"1", "0.5"}));
        if (yarn) config.emplace_back("rope_truncate", dice.word(kYesOrNo));
        if (yarn || longrope) config.emplace_back("rope_attention_factor", dice.word({"0", "1.5"}));
        if (longrope) config.emplace_back("rope_short_factors", dice.word({"1.5", "2"}));
        if (longrope) config.emplace_back("rope_long_factors", dice.word({"3", "4"}));
        config.emplace_back("rope_factor", "4");
        config.emplace_back("rope_original_positions", "8");
        config.emplace_back("rope_low_freq_factor", dice.word({"1", "2"}));
        config.emplace_back("rope_high_freq_factor", dice.word({"4", "5.5"}));
    }
    if (dice.one_in(3)) config.emplace_back("attention_scale", dice.word({"0.3", "1"}));
    if (dice.one_in(3)) {
        config.emplace_back("qk_norm", "true");
        const std::string how = dice.word({"by head", "qk_norm_across_heads", "qk_norm_after_rope"});
        if (how != "by head") config.emplace_back(how, "true");
        const bool plus_one = has(config, "norm", "rmsnorm_plus_one") || has(config, "norm", "layernorm_plus_one");
        if (how != "qk_norm_across_heads" && !plus_one && dice.one_in(2)) {
            config.emplace_back("qk_norm_centred", "true");
            if (!has(config, "norm_gain", "false")) config.emplace_back("qk_norm_bias", dice.word(kYesOrNo));
        }
        config.emplace_back("qk_norm_eps", dice.word({"0", "0.2"}));
    }
    if (dice.one_in(3)) config.emplace_back("clip_qkv", dice.word({"0.3", "2"}));
    if (dice.one_in(3)) {
        config.emplace_back("query_scale_beta", dice.word({"0.5", "2"}));
        config.emplace_back("query_scale_positions", dice.word({"1", "2"}));
    }
    if (dice.one_in(3)) config.emplace_back("alibi", "true");
    if (dice.one_in(3)) {
        config.emplace_back("relative_attention_num_buckets", dice.word({"4", "6", "9"}));
        config.emplace_back("relative_attention_max_distance", dice.word({"5", "8"}));
        config.emplace_back("relative_attention_by_layer", dice.word(kYesOrNo));
    }
    if (dice.one_in(3)) config.emplace_back("sliding_window", dice.word({"1", "2", "3"}));
    if (dice.one_in(4)) config.emplace_back("sliding_window_layers", dice.word({"0", "1"}));
}

void add_scales(Dice& dice, Overrides& config) {
    const bool table =
        has(config, "positional_encoding", "sinusoidal") || has(config, "positional_encoding", "learned");
    if (table && dice.one_in(2)) config.emplace_back("position_scale", dice.word({"0.5", "-2"}));
    if (has(config, "lm_head", "true") && dice.one_in(2)) config.emplace_back("logit_scale", dice.word({"0.25", "3"}));
    config.emplace_back("embedding_norm", dice.word(kYesOrNo));
}

Tensor random_mask(Dice& dice, Axes axes) {
    Tensor mask(std::move(axes));
    for (float& keep : mask.writable()) keep = dice.one_in(4) ? 0.0F : 1.0F;
    return mask;
}

// Sizes as they are, or 1 for all.
Index broadcast(Dice& dice, Index size) { return dice.one_in(2) ? size : 1; }

void add_masks(Dice& dice, SmallModel& model, const Sizes& sizes) {
    const Axis batch = {axis::batch, sizes.batch}, pos = {axis::pos, sizes.pos}, src = {axis::src, sizes.src};
    if (dice.one_in(2)) model.inputs.attention_mask = random_mask(dice, {batch, pos});
    if (dice.one_in(2) && model.config.cross_attention)
        model.inputs.encoder_attention_mask = random_mask(dice, {batch, src});
    if (dice.one_in(3))
        model.inputs.custom_mask = random_mask(dice, {{axis::batch, broadcast(dice, sizes.batch)},
                                                      {axis::head, broadcast(dice, model.config.nhead)},
                                                      {axis::query, broadcast(dice, sizes.pos)},
                                                      {axis::key, sizes.pos}});
    const auto numbers = [&](Index below) {
        Tensor made({batch, pos});
        for (float& number : made.writable()) number = static_cast<float>(dice.below(below));
        return made;
    };
    if (dice.one_in(4)) model.inputs.positions = numbers(sizes.pos);
    if (dice.one_in(4)) model.inputs.segments = numbers(2);
}

Cell random_cell(Dice& dice, const Axes& axes) {
    Cell cell;
    for (const Axis& axis : axes) cell.push_back(dice.below(axis.size));
    return cell;
}

// A value that the tensor may hold: tokens are ids, experts numbers, masks 0 or 1.
float random_value(Dice& dice, const std::string& tensor, const Config& config) {
    if (tensor == "tokens") return static_cast<float>(dice.below(config.vocab_size));
    if (tensor == "encoder_tokens") return static_cast<float>(dice.below(config.encoder_vocab_size));
    if (tensor.ends_with(".mlp.expert")) return static_cast<float>(dice.below(config.experts));
    if (tensor.ends_with("positions")) return static_cast<float>(dice.below(2));
    if (tensor.ends_with("mask") || tensor == "segments") return static_cast<float>(dice.below(2));
    return dice.number();
}

std::optional<Index> index_or_all(Dice& dice, Index size) {
    return dice.one_in(3) ? std::nullopt : std::optional(dice.below(size));
}

// "blocks.0.attn", "encoder.blocks.1.attn", "blocks.0.cross_attn": any of them.
std::string random_attention(Dice& dice, const Plan& plan) {
    constexpr std::string_view kMask = ".mask";
    std::vector<std::string> attentions;
    for (const Step& step : plan.steps())
        if (step.name.ends_with(kMask)) attentions.push_back(step.name.substr(0, step.name.size() - kMask.size()));
    return attentions[static_cast<std::size_t>(dice.below(static_cast<Index>(attentions.size())))];
}

}  // namespace

Overrides random_configuration(Dice& dice) {
    Overrides config;
    add_attention(dice, config);
    add_feed_forward(dice, config);
    add_norms(dice, config);
    add_tokens(dice, config);
    add_encoder(dice, config);
    add_residual(dice, config);
    add_heads_of_today(dice, config);
    add_scales(dice, config);
    add_caps(dice, config);
    if (dice.one_in(2)) {
        config.emplace_back("dropout", "0.3");
        config.emplace_back("dropout_sites", random_sites(dice));
    }
    return config;
}

SmallModel random_model(Dice& dice, const Overrides& configuration) {
    const Sizes sizes = {.batch = dice.between(1, 2), .pos = dice.between(1, 5), .src = dice.between(1, 4)};
    SmallModel model = small_model(configuration, sizes);
    add_masks(dice, model, sizes);
    return model;
}

Edit random_edit(Dice& dice, const SmallModel& model) {
    const std::shared_ptr<const Plan> plan = model.plan();
    const std::string attention = random_attention(dice, *plan);
    const Axes& mask = plan->find(attention + ".mask")->axes;
    const Step& any = plan->steps()[static_cast<std::size_t>(dice.below(static_cast<Index>(plan->steps().size())))];
    switch (dice.below(4)) {
        case 0:
            return MaskEdit{attention,
                            index_or_all(dice, mask[0].size),
                            index_or_all(dice, mask[1].size),
                            index_or_all(dice, mask[2].size),
                            index_or_all(dice, mask[3].size),
                            dice.one_in(2)};
        case 1:
            return ScaleHead{attention, dice.below(model.config.nhead), dice.number()};
        default:
            return SetCell{any.name, random_cell(dice, any.axes), random_value(dice, any.name, model.config)};
    }
}

}  // namespace decoderscope::testing

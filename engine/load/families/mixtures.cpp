#include "engine/load/families/readers.h"

#include <cmath>
#include <set>
#include <string>

// Families whose MLPs are mixtures of experts, and DeepSeek's, which have latent attention, too.
namespace decoderscope::load::families {

namespace {

// What training does to the router, and what of it is returned.
void ignore_router_training(Reading& r) {
    r.keys.ignore({"output_router_logits", "router_aux_loss_coef", "router_jitter_noise"});
}

// The layers that `has_experts` says have experts; if there are none at all, the configuration belongs to another
// family.
void layers_with_experts(Reading& r, const KeyNames& by, const std::function<bool(Index)>& has_experts) {
    OrderedJson found = OrderedJson::array();
    for (Index layer = 0; layer < r.layers(); ++layer)
        if (has_experts(layer)) found.push_back(layer);
    if (found.empty()) r.keys.fail(by, message("a number that leaves some blocks with experts"));
    if (static_cast<Index>(found.size()) < r.layers()) r.config["moe_layers"] = found;
}

// Qwen's: every decoder_sparse_step-th block, but for those of mlp_only_layers.
void qwen_layers(Reading& r) {
    const Index step = r.keys.size("decoder_sparse_step", 1);
    const OrderedJson said = r.keys.value("mlp_only_layers");
    std::set<Index> dense;
    if (!said.is_null() && !said.is_array()) r.keys.fail("mlp_only_layers", message("a list of layer numbers"));
    for (const OrderedJson& layer : said) {
        if (!layer.is_number_unsigned()) r.keys.fail("mlp_only_layers", message("a list of layer numbers"));
        dense.insert(layer.get<Index>());
    }
    layers_with_experts(r, "decoder_sparse_step",
                        [&](Index layer) { return !dense.contains(layer) && (layer + 1) % step == 0; });
}

void qwen_experts(Reading& r, Index experts, Index per_token, Index width) {
    FamilyKeys& keys = r.keys;
    r.config["experts"] = keys.size("num_experts", experts);
    r.config["experts_per_token"] = keys.size("num_experts_per_tok", per_token);
    r.config["expert_dim_feedforward"] = keys.size("moe_intermediate_size", width);
    r.config["router_normalize"] = keys.flag("norm_topk_prob", false);
    qwen_layers(r);
    ignore_router_training(r);
}

// Versions of transformers differ in which blocks have the window.
void refuse_window(Reading& r) {
    r.keys.expect("use_sliding_window", false, message("this family's window is not supported"));
    r.keys.ignore({"max_window_layers", "sliding_window"});
    no_sliding_window(r);
}

}  // namespace

// transformers.MixtralConfig
void read_mixtral(Reading& r) {
    llama_like(r, {.eps = 1e-5}, {.theta = 1e6});
    r.config["experts"] = r.keys.size("num_local_experts", 8);
    r.config["experts_per_token"] = r.keys.size("num_experts_per_tok", 2);
    r.config["expert_dim_feedforward"] = r.config["dim_feedforward"];
    r.config["router_normalize"] = true;
    ignore_router_training(r);
    sliding_window(r, r.keys.size("sliding_window", 0), [](Index) { return true; });
    biases(r, {});
}

// transformers.Qwen2MoeConfig; an MLP beside the experts, with a gate.
void read_qwen2_moe(Reading& r) {
    llama_like(r);
    qwen_experts(r, 60, 4, 1408);
    r.config["shared_dim_feedforward"] = r.keys.size("shared_expert_intermediate_size", 5632);
    r.config["shared_gate"] = true;
    refuse_window(r);
    biases(r, {.qkv = r.keys.flag("qkv_bias", true)});
}

// transformers.Qwen3MoeConfig
void read_qwen3_moe(Reading& r) {
    llama_like(r);
    qwen_experts(r, 128, 8, 768);
    r.config["qk_norm"] = true;
    refuse_window(r);
    const bool attention = r.keys.flag("attention_bias", false);
    biases(r, {.qkv = attention, .out = attention});
}

// transformers.GptOssConfig; sinks, biased experts with a clamped gate.
void read_gpt_oss(Reading& r) {
    FamilyKeys& keys = r.keys;
    llama_like(r, {.eps = 1e-5, .head_dim = 64}, {.theta = 150000.0});
    // The default of the class itself, if the file has none.
    if (!r.config.contains("rope_scaling")) keys.fail("rope_scaling", message("YaRN's settings"));
    keys.expect("hidden_act", "silu", message("the gate is a clamped SiLU"));
    r.config["activation"] = "swiglu_clamped";
    r.config["swiglu_limit"] = keys.positive("swiglu_limit", 7.0);
    r.config["experts"] = keys.size("num_local_experts", 128);
    r.config["experts_per_token"] = keys.size({"num_experts_per_tok", "experts_per_token"}, 4);
    r.config["expert_dim_feedforward"] = r.config["dim_feedforward"];
    r.config["router_normalize"] = true;  // a softmax over the chosen alone
    r.config["attention_sinks"] = true;
    sliding_window(r, keys.size("sliding_window", 128), [](Index layer) { return layer % 2 == 0; });
    ignore_router_training(r);
    keys.ignore({"initial_context_length"});
    const bool attention = keys.flag("attention_bias", true);
    biases(r, {.qkv = attention, .out = attention, .mlp = true, .router = true});
}

// ---- DeepSeek

namespace {

// Latent attention; head_dim and what else llama_like would read.
void latent_attention(Reading& r) {
    FamilyKeys& keys = r.keys;
    const Index plain = keys.size("qk_nope_head_dim", 128), turned = keys.size("qk_rope_head_dim", 64);
    r.config["head_dim"] = plain + turned;
    r.config["kv_lora_rank"] = keys.size("kv_lora_rank", 512);
    r.config["q_lora_rank"] = keys.is_null("q_lora_rank") ? 0 : keys.size("q_lora_rank", 1536);
    r.config["qk_rope_head_dim"] = turned;
    r.config["v_head_dim"] = keys.size("v_head_dim", 128);
    constexpr double kEps = 1e-6;  // of the latent rows' norms, whatever rms_norm_eps says
    if (r.config["layer_norm_eps"] != kEps) r.config["latent_norm_eps"] = kEps;
    keys.expect("head_dim", turned, message("it is qk_rope_head_dim's"));
    keys.expect("qk_head_dim", plain + turned, message("it is the sum of qk_nope_head_dim and qk_rope_head_dim"));
    keys.expect("num_key_value_heads", r.config["nhead"], message("all heads share one latent row"));
    r.config["num_key_value_heads"] = r.config["nhead"];
}

// YaRN's mscale_all_dim also sharpens the scores.
void scale_of_scores(Reading& r) {
    FamilyKeys scaled = r.keys.object("rope_scaling"), parameters = r.keys.object("rope_parameters");
    FamilyKeys& object = scaled.has("mscale_all_dim") ? scaled : parameters;
    const double of_all = object.number("mscale_all_dim", 0.0);
    if (r.config.value("rope_scaling", "none") != "yarn" || of_all == 0.0) return;
    const double factor = r.config["rope_factor"].get<double>();
    const double by = factor > 1.0 ? 0.1 * of_all * std::log(factor) + 1.0 : 1.0;
    r.config["attention_scale"] = by * by / std::sqrt(r.config["head_dim"].get<double>());
}

void deepseek_experts(Reading& r, const char* scoring, bool normalized) {
    FamilyKeys& keys = r.keys;
    const Index width = keys.size("moe_intermediate_size", 2048);
    r.config["experts"] = keys.size("n_routed_experts");
    r.config["experts_per_token"] = keys.size("num_experts_per_tok");
    r.config["expert_dim_feedforward"] = width;
    r.config["shared_dim_feedforward"] = keys.size("n_shared_experts", 0) * width;
    r.config["router"] = scoring;
    keys.expect("scoring_func", scoring, message("the experts are scored differently in this family"));
    r.config["router_normalize"] = keys.flag("norm_topk_prob", normalized);
    r.config["router_scale"] = keys.number("routed_scaling_factor", 1.0);
    const double first = keys.number("first_k_dense_replace", 0.0);
    keys.expect("moe_layer_freq", 1, message("each block after the first dense ones has experts"));
    layers_with_experts(r, "first_k_dense_replace", [&](Index layer) { return static_cast<double>(layer) >= first; });
    keys.ignore({"aux_loss_alpha", "ep_size", "seq_aux", "num_nextn_predict_layers"});
    // Blocks that predict several tokens ahead come after the others.
    r.family.unused_beginnings.push_back("model.layers." + std::to_string(r.layers()) + ".");
    const bool attention = keys.flag("attention_bias", false);
    biases(r, {.out = attention, .latent = attention});
}

void deepseek(Reading& r) {
    FamilyKeys& keys = r.keys;
    r.sizes("hidden_size", "num_attention_heads", "num_hidden_layers");
    r.causal_lm(false);
    r.config["dim_feedforward"] = keys.size("intermediate_size");
    r.config["norm"] = "rmsnorm";
    r.config["layer_norm_eps"] = keys.positive("rms_norm_eps", 1e-6);
    r.config["activation"] = keys.activation("hidden_act", "silu");
    r.config["gated_mlp"] = true;
    latent_attention(r);
    rope(r);
    scale_of_scores(r);
    no_sliding_window(r);
}

}  // namespace

// DeepSeek-V2 (2024); the best by a softmax.
void read_deepseek_v2(Reading& r) {
    FamilyKeys& keys = r.keys;
    deepseek(r);
    r.config["rope_interleaved"] = true;
    deepseek_experts(r, "softmax", false);
    const std::string method = keys.word("topk_method", "greedy");
    const Index groups = keys.size("n_group", 1), top = keys.size("topk_group", groups);
    if (method == "group_limited_greedy") {
        r.config["router_groups"] = groups;
        r.config["router_top_groups"] = top;
        r.config["router_group_best"] = 1;
    } else if (method != "greedy") {
        keys.fail("topk_method", message("greedy or group_limited_greedy"));
    }
    if (keys.flag("norm_topk_prob", false) && keys.number("routed_scaling_factor", 1.0) != 1.0)
        keys.fail("norm_topk_prob", message("false: this family's own code doesn't scale weights that it normalises, "
                                            "transformers does"));
}

// DeepSeek-V3 (2024), Kimi K2, Moonlight; the best by sigmoids with a correction, of the best groups.
void read_deepseek_v3(Reading& r) {
    FamilyKeys& keys = r.keys;
    deepseek(r);
    r.config["rope_interleaved"] = keys.flag("rope_interleave", true);
    deepseek_experts(r, "sigmoid", true);
    keys.expect("topk_method", "noaux_tc", message("the experts are chosen differently in this family"));
    const Index experts = r.config["experts"].get<Index>(), groups = keys.size("n_group", 1);
    if (experts % groups != 0) keys.fail("n_group", message("a divisor of {number}", {{"number", experts}}));
    r.config["router_groups"] = groups;
    r.config["router_top_groups"] = keys.size("topk_group", 1);
    if (r.config["router_top_groups"].get<Index>() > groups)
        keys.fail("topk_group", message("an integer from 1 to {highest}", {{"highest", groups}}));
}

}  // namespace decoderscope::load::families

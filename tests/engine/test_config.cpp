// The configuration: the contract's keys and defaults, and the errors for a bad one.
#include "engine/load/bundled_models.h"
#include "engine/load/families/family.h"
#include "engine/model/config.h"
#include "tests/catch.h"
#include "tests/engine/fixtures.h"
#include "tests/engine/messages.h"

#include <cmath>

using namespace decoderscope::testing;

namespace {

// A complete configuration plus `more`.
std::string json_with(const std::string& more) {
    return R"({"model_type": "decoderscope", "d_model": 12, "nhead": 6, "num_layers": 1)" +
           (more.empty() ? "" : ", " + more) + "}";
}

std::string error_with(const std::string& more) {
    return error_of([&] { static_cast<void>(parse_config(json_with(more))); });
}

std::string error_in(const std::string& json) {
    return error_of([&] { static_cast<void>(parse_config(json)); });
}

struct Bad {
    std::string json;
    std::vector<std::string> says;
};

}  // namespace

// ---- what is read

TEST_CASE("the defaults are the contract's") {
    const Config c = parse_config(json_with(""));
    CHECK(c.d_model == 12);
    CHECK(c.nhead == 6);
    CHECK(c.num_layers == 1);
    CHECK(c.num_key_value_heads == 6);
    CHECK(c.dim_feedforward == 48);
    CHECK_FALSE(c.norm_first);
    CHECK(c.norm == NormKind::layernorm);
    CHECK(c.layer_norm_eps == 1e-5);
    CHECK_FALSE(c.final_norm);
    CHECK(c.activation == ActivationKind::relu);
    CHECK_FALSE(c.gated_mlp);
    CHECK(c.bias);
    CHECK(c.causal);
    CHECK_FALSE(c.cross_attention);
    CHECK(c.encoder_layers == 0);
    CHECK(c.vocab_size == 0);
    CHECK(c.encoder_vocab_size == 0);
    CHECK(c.positional_encoding == PositionalEncoding::none);
    CHECK(c.max_positions == 0);
    CHECK(c.rope_theta == 10000.0);
    CHECK_FALSE(c.scale_embedding);
    CHECK_FALSE(c.lm_head);
    CHECK_FALSE(c.tie_word_embeddings);
    CHECK(c.mask_value == -std::numeric_limits<float>::infinity());
    CHECK(c.dropout == 0.0);
    CHECK(c.dropout_sites ==
          std::vector{DropoutSite::attention_weights, DropoutSite::attention_out, DropoutSite::mlp_out});
    CHECK_FALSE(c.shared_qkv);
    CHECK(c.head_dim == 0);
    CHECK(c.d_head() == 2);
    CHECK(c.attention_scale == 0.0);
    CHECK(c.logit_scale == 1.0);
    CHECK(c.position_scale == 1.0);
    CHECK_FALSE(c.embedding_norm);
    CHECK_FALSE(c.rope_interleaved);
    CHECK(c.rotary_dim == 0);
    CHECK(c.rotary_columns() == 2);
    CHECK(c.placement() == NormPlacement::post);
    CHECK(c.residual_scale == 1.0);
    CHECK(c.parallel_residual == ParallelResidual::none);
    CHECK_FALSE(c.qk_norm);
    CHECK_FALSE(c.qk_norm_across_heads);
    CHECK_FALSE(c.qk_norm_after_rope);
    CHECK(c.clip_qkv == 0.0);
    CHECK(c.query_scale_beta == 0.0);
    CHECK(c.router_jitter == 0.01);
    CHECK(c.attention_soft_cap == 0.0);
    CHECK(c.logit_soft_cap == 0.0);
    CHECK(c.sliding_window == 0);
    CHECK(c.window_of(0) == 0);
    CHECK_FALSE(c.alibi);
    CHECK(c.relative_attention_num_buckets == 0);
    CHECK(c.relative_attention_max_distance == 128);
    CHECK(c.norm_gain);
    CHECK(c.swiglu_alpha == 1.702);
    CHECK(c.swiglu_limit == 7.0);
    CHECK(c.embedding_scale == 1.0);
    CHECK(c.update_scale == 1.0);
    CHECK(c.rope_local_theta == 0.0);
    CHECK(c.rope_layers.empty());
    CHECK(c.rope_beta_fast == 32.0);
    CHECK(c.rope_beta_slow == 1.0);
    CHECK(c.rope_truncate);
    CHECK(c.rope_attention_factor == 0.0);
    CHECK_FALSE(c.attention_sinks);
    CHECK_FALSE(c.is_latent());
    CHECK(c.value_width() == 2);
    CHECK(c.experts == 0);
    CHECK_FALSE(c.is_mixture(0));
    CHECK(c.router == RouterKind::softmax);
    CHECK_FALSE(c.router_normalize);
    CHECK(c.router_scale == 1.0);
    CHECK(c.router_groups == 1);
    CHECK(c.router_top_groups == 1);
}

TEST_CASE("an error about a current decoder's keys names what they need") {
    const auto refused = [](const char* more, std::vector<std::string> says) {
        INFO(more);
        check_message(error_with(more), says);
    };
    refused(R"("activation": "swiglu_clamped")", {"activation", "gated_mlp"});
    refused(R"("rope_layers": [0])", {"rope_layers", "positional_encoding"});
    refused(R"("rope_local_theta": 5)", {"rope_local_theta", "positional_encoding"});
    const std::string rope = R"("positional_encoding": "rope", "head_dim": 4, )";
    refused((rope + R"("rope_scaling": "yarn", "rope_factor": 4)").c_str(), {"rope_original_positions", "0"});
    refused((rope + R"("rope_scaling": "yarn", "rope_factor": 0.5, "rope_original_positions": 8)").c_str(),
            {"rope_factor", "0.5"});
    refused((rope + R"("rope_scaling": "yarn", "rope_factor": 4, "rope_original_positions": 8, "rope_beta_slow": 40)")
                .c_str(),
            {"rope_beta_fast", "rope_beta_slow = 40", "32"});
    refused((rope + R"("rope_attention_factor": 2)").c_str(), {"rope_attention_factor", "yarn"});
    refused((rope + R"("rope_short_factors": [1, 1])").c_str(), {"rope_short_factors", "longrope"});
    refused((rope + R"("rope_scaling": "longrope", "rope_factor": 4, "rope_original_positions": 8,
                       "rope_short_factors": [1, 1], "rope_long_factors": [1])")
                .c_str(),
            {"rope_long_factors", "2 numbers", "a list of 1"});
    refused((rope + R"("rope_scaling": "longrope", "rope_short_factors": [1, 0])").c_str(),
            {"rope_short_factors", "a list of positive numbers", "0"});
    refused(R"("q_lora_rank": 4)", {"q_lora_rank", "kv_lora_rank"});
    refused(R"("kv_lora_rank": 4)", {"qk_rope_head_dim", "0"});
    refused(R"("kv_lora_rank": 4, "qk_rope_head_dim": 2)", {"qk_rope_head_dim", "d_head = 2", "2"});
    const std::string latent = R"("kv_lora_rank": 4, "head_dim": 5, )";
    refused((latent + R"("qk_rope_head_dim": 3, "positional_encoding": "rope")").c_str(),
            {"qk_rope_head_dim", "even", "3"});
    refused((latent + R"("qk_rope_head_dim": 2, "num_key_value_heads": 3)").c_str(), {"num_key_value_heads", "3"});
    refused((latent + R"("qk_rope_head_dim": 2, "qk_norm": true)").c_str(), {"qk_norm", "kv_lora_rank"});
    refused((latent + R"("qk_rope_head_dim": 2, "shared_qkv": true)").c_str(), {"shared_qkv", "kv_lora_rank"});
    refused(R"("experts_per_token": 2)", {"experts_per_token", "experts"});
    refused(R"("moe_layers": [0])", {"moe_layers", "experts"});
    refused(R"("experts": 4)", {"experts_per_token", "from 1 to 4", "0"});
    refused(R"("experts": 4, "experts_per_token": 5)", {"experts_per_token", "from 1 to 4", "5"});
    refused(R"("experts": 4, "experts_per_token": 1, "router_groups": 3)", {"router_groups", "experts = 4", "3"});
    refused(R"("experts": 4, "experts_per_token": 1, "router_top_groups": 2)", {"router_top_groups", "2"});
    refused(R"("experts": 4, "experts_per_token": 3, "router_groups": 2)", {"experts_per_token", "from 1 to 2", "3"});
    refused(R"("experts": 4, "experts_per_token": 1, "dim_feedforward": 0)", {"dim_feedforward", "experts"});
    refused(R"("experts": 4, "experts_per_token": 1, "shared_gate": true)", {"shared_gate", "shared_dim_feedforward"});
    refused(R"("router": "tanh")", {"router", "softmax, sigmoid", "tanh"});
}

TEST_CASE("norm_placement is what norm_first says where it says nothing, and whatever is overridden last") {
    const auto placement = [](const std::string& more, const Overrides& overrides = {}) {
        return parse_config(json_with(more), overrides).placement();
    };
    using enum NormPlacement;
    CHECK(placement(R"("norm_first": true)") == pre);
    CHECK(placement(R"("norm_placement": "pre")") == pre);
    CHECK(parse_config(json_with(R"("norm_placement": "pre")")).norm_first);
    CHECK(placement(R"("norm_placement": "peri")") == peri);
    CHECK(placement(R"("norm_placement": "reordered", "norm_first": true)") == reordered);
    CHECK(placement(R"("norm_first": true)", {{"norm_placement", "post"}}) == post);
    CHECK(placement(R"("norm_placement": "peri")", {{"norm_first", "true"}}) == pre);
    CHECK(placement(R"("norm_placement": "post")", {{"norm_first", "true"}, {"norm_placement", "reordered"}}) ==
          reordered);
    CHECK(placement("", {{"norm_placement", "reordered"}, {"norm_first", "false"}}) == post);
    check_message(error_with(R"("norm_first": true, "norm_placement": "post")"),
                  {"norm_placement", "norm_first is true"});
    check_message(error_with(R"("norm_first": false, "norm_placement": "pre")"),
                  {"norm_placement", "norm_first is false"});
}

TEST_CASE("a window is every layer's, or those layers' that are listed") {
    const Config all = parse_config(json_with(R"("sliding_window": 4)"));
    const Config some = parse_config(json_with(R"("sliding_window": 4, "sliding_window_layers": [0, 2])"));
    for (Index layer = 0; layer < 3; ++layer) {
        CHECK(all.window_of(layer) == 4);
        CHECK(some.window_of(layer) == (layer == 1 ? 0 : 4));
    }
    CHECK(parse_config(json_with(""), {{"sliding_window_layers", "0,2"}}).sliding_window_layers ==
          std::vector<Index>{0, 2});
    check_message(error_with(R"("sliding_window_layers": [0, -1])"), {"sliding_window_layers", "layer numbers", "-1"});
    check_message(error_with(R"("sliding_window_layers": 1)"), {"sliding_window_layers", "layer numbers", "1"});
}

TEST_CASE("what a default follows: heads, four times the width, the decoder's vocabulary") {
    CHECK(parse_config(json_with(R"("vocab_size": 9)")).encoder_vocab_size == 9);
    CHECK(parse_config(json_with(R"("vocab_size": 9, "encoder_vocab_size": 0)")).encoder_vocab_size == 0);
    CHECK(parse_config(json_with(R"("dim_feedforward": 0)")).dim_feedforward == 0);
    CHECK(parse_config(json_with(R"("num_key_value_heads": 3)")).num_key_value_heads == 3);
}

TEST_CASE("a configuration written out reads back the same") {
    std::vector<Config> configs;
    for (const std::string& name : fixture_names()) configs.push_back(load_fixture(name).config);
    for (const BundledModel& model : bundled_models()) configs.push_back(make_bundled_model(model.name)->config());
    configs.push_back(parse_config(json_with(
        R"("layer_norm_eps": 1.2345678901234567e-7, "mask_value": "-3.4028235e38", "rope_theta": 0.1, "dropout_sites": [])")));
    for (const Config& config : configs) {
        INFO(config_to_json(config));
        CHECK(parse_config(config_to_json(config)) == config);
        // As overrides, the way --set gives them.
        CHECK(parse_config(json_with(""), config_values(config)) == config);
    }
}

TEST_CASE("each key refuses a value that is none by its own name") {
    for (const ConfigKey& key : config_keys())
        for (const std::string& value : {std::string("x"), std::string("nan"), std::string("-1e400"),
                                         std::string("[[["), std::string("{}"), std::string("99999999999999999999"),
                                         std::string("1e308"), std::string(100'000, '7'), std::string("\x1b[31m")}) {
            const std::string error = error_of([&] {
                static_cast<void>(parse_config(json_with(""), {{key.name, value}}));
            });
            INFO(key.name << "=" << value.substr(0, 30) << ": " << error);
            const bool may_be =
                (key.is_real || key.name == "mask_value") && (value[0] == '1' || value.starts_with("99"));
            CHECK((may_be || error.starts_with(key.name + ": expected ")));
            CHECK(error.size() < 400);
        }
}

TEST_CASE("overrides are put over the file, each read as its key wants it") {
    const Config c =
        parse_config(json_with(R"("norm_first": false, "dim_feedforward": 5)"), {{"norm_first", "true"},
                                                                                 {"norm", "rmsnorm"},
                                                                                 {"activation", "gelu_tanh"},
                                                                                 {"mask_value", "-1e9"},
                                                                                 {"layer_norm_eps", "1e-6"},
                                                                                 {"dropout_sites", "mlp_out,mlp_post"},
                                                                                 {"nhead", "4"},
                                                                                 {"nhead", "3"}});
    CHECK(c.norm_first);
    CHECK(c.dim_feedforward == 5);
    CHECK(c.norm == NormKind::rmsnorm);
    CHECK(c.activation == ActivationKind::gelu_tanh);
    CHECK(c.mask_value == -1e9F);
    CHECK(c.layer_norm_eps == 1e-6);
    CHECK(c.dropout_sites == std::vector{DropoutSite::mlp_out, DropoutSite::mlp_post});
    CHECK(c.nhead == 3);  // the last one counts
    CHECK(c.num_key_value_heads == 3);
    CHECK(parse_config(json_with(""), {{"dropout_sites", ""}}).dropout_sites.empty());
    CHECK(parse_config(json_with(""), {{"dropout_sites", R"(["mlp_out"])"}}).dropout_sites.size() == 1);
}

// ---- what is refused

TEST_CASE("a key of the wrong type says its name, what was expected and what was found") {
    for (const Bad& bad :
         std::vector<Bad>{{R"("num_layers": "2")", {"num_layers", "a positive integer", "\"2\""}},
                          {R"("d_model": 8.5)", {"d_model", "a positive integer", "8.5"}},
                          {R"("nhead": null)", {"nhead", "a positive integer", "null"}},
                          {R"("dim_feedforward": [4])", {"dim_feedforward", "an integer", "list"}},
                          {R"("vocab_size": {"a": 1})", {"vocab_size", "an integer", "object"}},
                          {R"("norm_first": 1)", {"norm_first", "true or false", "1"}},
                          {R"("bias": "true")", {"bias", "true or false", "\"true\""}},
                          {R"("norm": "batchnorm")", {"norm", "layernorm, rmsnorm", "batchnorm"}},
                          {R"("activation": 3)", {"activation", "relu, gelu, gelu_tanh, silu", "3"}},
                          {R"("positional_encoding": "alibi")", {"positional_encoding", "rope", "alibi"}},
                          {R"("layer_norm_eps": "1e-5")", {"layer_norm_eps", "a positive number"}},
                          {R"("mask_value": -1e9)", {"mask_value", "\"-1e9\"", "-1000000000.0"}},
                          {R"("mask_value": "-infinity?")", {"mask_value", "\"-inf\""}},
                          {R"("mask_value": "nan")", {"mask_value", "\"-inf\"", "nan"}},
                          {R"("mask_value": "")", {"mask_value", "\"-inf\""}},
                          {R"("dropout_sites": "mlp_out")", {"dropout_sites", "a list"}},
                          {R"("dropout_sites": ["mlp_in"])", {"dropout_sites", "mlp_out", "mlp_in"}},
                          {R"("dropout_sites": [1])", {"dropout_sites", "mlp_out", "1"}}}) {
        // An override replaces a key of the base, since a file may not give it twice.
        const std::string key = bad.says.front();
        const bool in_base = key == "num_layers" || key == "d_model" || key == "nhead";
        const std::string value = bad.json.substr(bad.json.find(": ") + 2);
        check_message(in_base ? error_of([&] {
                          static_cast<void>(parse_config(json_with(""), {{key, value}}));
                      })
                              : error_with(bad.json),
                      bad.says);
    }
}

TEST_CASE("a number out of range says the range") {
    for (const Bad& bad : std::vector<Bad>{
             {R"("dim_feedforward": -1)", {"dim_feedforward", "from 0", "-1"}},
             {R"("vocab_size": 99999999999999999999)", {"vocab_size", "integer", "1e+20"}},
             {R"("vocab_size": 9223372036854775807)", {"vocab_size", "up to 16777216", "9223372036854775807"}},
             {R"("vocab_size": 18446744073709551615)", {"vocab_size", "up to 16777216", "18446744073709551615"}},
             {R"("max_positions": -9223372036854775808)", {"max_positions", "from 0", "-9223372036854775808"}},
             {R"("vocab_size": 1e400)", {"not valid JSON"}},
             {R"("encoder_layers": 4097)", {"encoder_layers", "up to 4096"}},
             {R"("num_key_value_heads": 0)", {"num_key_value_heads", "a positive integer", "0"}},
             {R"("layer_norm_eps": 0)", {"layer_norm_eps", "a positive number", "0"}},
             {R"("layer_norm_eps": -1e-5)", {"layer_norm_eps", "a positive number"}},
             {R"("rope_theta": 0.0)", {"rope_theta", "a positive number"}},
             {R"("parallel_residual": "both")", {"parallel_residual", "one of none, one_norm, two_norms", "both"}},
             {R"("attention_soft_cap": -1)", {"attention_soft_cap", "a number from 0", "-1"}},
             {R"("logit_soft_cap": "30")", {"logit_soft_cap", "a number from 0", "30"}},
             {R"("norm": "rmsnorm_plus")", {"norm", "layernorm_std, rmsnorm_plus_one"}},
             {R"("norm_placement": "both")", {"norm_placement", "one of pre, post, peri, reordered", "both"}},
             {R"("head_dim": -1)", {"head_dim", "from 0", "-1"}},
             {R"("attention_scale": -0.1)", {"attention_scale", "a number from 0", "-0.1"}},
             {R"("logit_scale": "2")", {"logit_scale", "a number", "2"}},
             {R"("position_scale": null)", {"position_scale", "a number", "null"}},
             {R"("residual_scale": true)", {"residual_scale", "a number", "true"}},
             {R"("embedding_norm": 1)", {"embedding_norm", "true or false", "1"}},
             {R"("qk_norm": "rms")", {"qk_norm", "true or false", "rms"}},
             {R"("alibi": 8)", {"alibi", "true or false", "8"}},
             {R"("sliding_window": -4)", {"sliding_window", "from 0", "-4"}},
             {R"("rotary_dim": 1.5)", {"rotary_dim", "an integer from 0", "1.5"}},
             {R"("dropout": 1.5)", {"dropout", "from 0 to 1", "1.5"}},
             {R"("dropout": -0.1)", {"dropout", "from 0 to 1"}},
             {R"("mask_value": "-1e39")", {"mask_value", "\"-1e9\"", "-1e39"}}})
        check_message(error_with(bad.json), bad.says);
    for (const char* size : {"0", "-3", "16777217"})
        check_message(error_of([&] {
                          static_cast<void>(parse_config(json_with(""), {{"d_model", size}}));
                      }),
                      {"d_model", "a positive integer", size});
    check_message(error_of([&] {
                      static_cast<void>(parse_config(json_with(""), {{"num_layers", "16777216"}}));
                  }),
                  {"num_layers", "up to 4096"});
}

TEST_CASE("keys that don't go together name one of them and the reason") {
    for (const Bad& bad : std::vector<Bad>{
             {R"("num_key_value_heads": 4)", {"num_key_value_heads", "a divisor of nhead = 6", "4"}},
             {R"("num_key_value_heads": 3, "shared_qkv": true)", {"num_key_value_heads", "shared_qkv"}},
             {R"("positional_encoding": "learned")", {"max_positions", "learned"}},
             {R"("encoder_layers": 1)", {"cross_attention", "encoder_layers"}},
             {R"("parallel_residual": "one_norm")", {"parallel_residual", "none when norm_first is false"}},
             {R"("parallel_residual": "two_norms", "norm_first": true, "cross_attention": true)",
              {"parallel_residual", "cross_attention"}},
             {R"("parallel_residual": "one_norm", "norm_first": true, "dim_feedforward": 0)",
              {"parallel_residual", "dim_feedforward"}},
             {R"("parallel_residual": "one_norm", "norm_placement": "peri")", {"parallel_residual", "norm_placement"}},
             {R"("parallel_residual": "one_norm", "norm_placement": "reordered")",
              {"parallel_residual", "norm_placement"}},
             {R"("head_dim": 3, "positional_encoding": "rope")", {"head_dim", "even", "3"}},
             {R"("head_dim": 16777216)", {"head_dim", "nhead · head_dim up to 16777216"}},
             {R"("rotary_dim": 2)", {"rotary_dim", "positional_encoding is not rope", "2"}},
             {R"("rotary_dim": 3, "head_dim": 4, "positional_encoding": "rope")", {"rotary_dim", "even", "3"}},
             {R"("rotary_dim": 4, "positional_encoding": "rope")", {"rotary_dim", "up to d_head = 2", "4"}},
             {R"("rope_interleaved": true)", {"rope_interleaved", "positional_encoding is not rope"}},
             {R"("rope_scaling": "linear")", {"rope_scaling", "positional_encoding is not rope"}},
             {R"("rope_factor": 8)", {"rope_factor", "rope_scaling is none", "8"}},
             {R"("rope_scaling": "llama3", "positional_encoding": "rope")", {"rope_original_positions", "llama3"}},
             {R"("rope_scaling": "llama3", "positional_encoding": "rope", "rope_original_positions": 8,
                 "rope_high_freq_factor": 1)",
              {"rope_high_freq_factor", "more than rope_low_freq_factor = 1"}},
             {R"("position_scale": 0.5, "positional_encoding": "rope")", {"position_scale", "sinusoidal nor learned"}},
             {R"("logit_scale": 0.5)", {"logit_scale", "lm_head is false"}},
             {R"("qk_norm_across_heads": true)", {"qk_norm", "qk_norm_across_heads"}},
             {R"("qk_norm_after_rope": true)", {"qk_norm_after_rope", "normalised by themselves"}},
             {R"("query_scale_beta": 0.1)", {"query_scale_positions", "a positive integer"}},
             {R"("activation": "xielu", "gated_mlp": true)", {"activation", "gated_mlp", "xielu"}},
             {R"("experts": 2, "experts_per_token": 1, "router": "sparsemixer", "router_scale": 2)",
              {"router", "router_scale", "sparsemixer"}},
             {R"("relative_attention_num_buckets": 3)", {"relative_attention_num_buckets", "from 4", "3"}},
             {R"("relative_attention_num_buckets": 8, "relative_attention_max_distance": 4)",
              {"relative_attention_max_distance", "more than half of the 8 buckets", "4"}},
             {R"("lm_head": true)", {"vocab_size", "lm_head"}},
             {R"("gated_mlp": true, "dim_feedforward": 0)", {"dim_feedforward", "gated_mlp"}}})
        check_message(error_with(bad.json), bad.says);
    const auto override_error = [](const Overrides& overrides) {
        return error_of([&] { static_cast<void>(parse_config(json_with(""), overrides)); });
    };
    check_message(override_error({{"nhead", "5"}}), {"nhead", "a divisor of d_model = 12", "5"});
    check_message(override_error({{"nhead", "24"}}), {"nhead", "a divisor of d_model = 12", "24"});
    check_message(override_error({{"nhead", "4"}, {"positional_encoding", "rope"}}),
                  {"positional_encoding", "even", "3"});
}

TEST_CASE("an unknown, a missing and a repeated key are named") {
    check_message(error_with(R"("d_modle": 12)"), {"d_modle", "unknown key"});
    check_message(error_with(R"("": 12)"), {"unknown key"});
    check_message(error_with(R"("bias": true, "causal": true, "bias": false)"), {"bias", "twice"});
    check_message(error_in(R"({"model_type": "decoderscope", "d_model": 8, "nhead": 2})"),
                  {"num_layers", "a positive integer"});
    check_message(error_in(R"({"model_type": "decoderscope", "nhead": 2, "num_layers": 1})"),
                  {"d_model", "a positive integer"});
    check_message(error_in(R"({"model_type": "decoderscope", "d_model": 8, "num_layers": 1})"),
                  {"nhead", "a positive integer"});
    check_message(error_of([] {
                      static_cast<void>(parse_config(json_with(""), {{"heads", "1"}}));
                  }),
                  {"heads", "unknown key"});
    check_message(error_of([] {
                      static_cast<void>(parse_config(json_with(""), {{"model_type", "gpt2"}}));
                  }),
                  {"model_type"});
}

TEST_CASE("a model_type that this program doesn't know is named") {
    check_message(error_in(R"({"d_model": 8, "nhead": 2, "num_layers": 1})"), {"model_type", "\"decoderscope\""});
    check_message(error_in(R"({"model_type": "bert", "d_model": 8})"), {"model_type", "\"decoderscope\"", "bert"});
    check_message(error_in(R"({"model_type": 1, "d_model": 8})"), {"model_type", "\"decoderscope\"", "1"});
}

TEST_CASE("what is no JSON object says in which line") {
    check_message(error_in(""), {"not valid JSON from line 1", "configuration keys"});
    check_message(error_in("{\n\"d_model\": 8,\n\"nhead\": }"), {"not valid JSON from line 3"});
    check_message(error_in("{\"d_model\": 8"), {"not valid JSON"});
    check_message(error_in("{} {}"), {"not valid JSON"});
    check_message(error_in("{\"d_model\": NaN}"), {"not valid JSON"});
    check_message(error_in("{\"d_model\xff\": 1}"), {"not valid JSON"});
    check_message(error_in("[1, 2]"), {"a JSON object", "list"});
    check_message(error_in("12"), {"a JSON object", "12"});
}

TEST_CASE("JSON nested without end is refused, and not a matter of the stack") {
    const std::string deep(100'000, '['), closing(100'000, ']');
    check_message(error_in(deep), {"nested", "configuration keys"});
    check_message(error_in(deep + closing), {"nested", "configuration keys"});
    check_message(error_with("\"norm_first\": " + deep + closing), {"nested"});
    check_message(error_with("\"norm_first\": [[[[1]]]]"), {"norm_first", "true or false", "list"});
    check_message(error_of([&] {
                      static_cast<void>(parse_config(json_with(""), {{"bias", deep + closing}}));
                  }),
                  {"bias"});
    // Hugging Face's values are quoted and compared, nested ones too.
    for (const char* key : {"activation_function", "scale_attn_weights", "n_inner"}) {
        INFO(key);
        const std::string json = R"({"model_type": "gpt2", "n_embd": 8, "n_head": 2, "n_layer": 1, ")";
        const std::string end = std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}";
        check_message(error_of([&] { static_cast<void>(load::families::read_family(json + key + "\": " + end)); }),
                      {"nested"});
    }
}

TEST_CASE("a message stays one line of readable length whatever it quotes") {
    check_message(error_with(R"("two\nlines": 1)"), {"two lines", "unknown key"});
    check_message(error_with("\"" + std::string(1'000'000, 'k') + "\": 1"), {"kkk", "unknown key"});
    const std::string long_value = error_with("\"norm\": \"" + std::string(1'000'000, 'n') + "\"");
    check_message(long_value, {"norm", "layernorm, rmsnorm", "1000002 bytes"});
    CHECK(long_value.size() < 200);
    // The cut falls between characters, so that the message is still UTF-8: "ß" is two bytes.
    std::string many;
    for (int i = 0; i < 4000; ++i) many += "ß";
    const std::string cut = error_with("\"a" + many + "\": 1"), uncut = error_with("\"" + many + "\": 1");
    for (const std::string& message : {cut, uncut}) {
        check_message(message, {"ß … ß", "unknown key"});
        CHECK(std::ranges::count(message, '\xc3') == std::ranges::count(message, '\x9f'));
    }
    // The bytes of a command line need not be UTF-8.
    check_message(error_of([] {
                      static_cast<void>(parse_config(json_with(""), {{"norm", "\xff\xfe"}}));
                  }),
                  {"norm", "layernorm"});
}

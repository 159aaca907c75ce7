// Hugging Face's config.json, family by family: what its keys mean, and that none is passed over.
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/load/families/family.h"
#include "engine/model/config.h"
#include "tests/catch.h"
#include "tests/engine/foreign_models.h"
#include "tests/engine/messages.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::load::families;
namespace fs = std::filesystem;

namespace {

nlohmann::json with(nlohmann::json config, const char* more) {
    config.update(parse_json(more, message("keys")));
    return config;
}

Config config_of(const nlohmann::json& json) { return parse_config(read_family(json.dump()).config_json); }

std::string error_in_family(const nlohmann::json& json) {
    return error_of([&] { static_cast<void>(read_family(json.dump())); });
}

const nlohmann::json kGpt2 = {
    {"model_type", "gpt2"}, {"n_embd", 768}, {"n_head", 12}, {"n_layer", 12}, {"vocab_size", 50257}};
const nlohmann::json kLlama = {{"model_type", "llama"},  {"hidden_size", 64},        {"intermediate_size", 172},
                               {"num_hidden_layers", 5}, {"num_attention_heads", 8}, {"num_key_value_heads", 4},
                               {"vocab_size", 512}};

bool is_read(const std::string& model_type) {
    const std::vector<std::string_view> names = family_names();
    return std::ranges::find(names, model_type) != names.end();
}

nlohmann::json like_llama(const char* model_type, const char* more = "{}") {
    nlohmann::json config = with(kLlama, more);
    config["model_type"] = model_type;
    return config;
}

}  // namespace

TEST_CASE("a key that a family isn't known to have is refused by its name") {
    if (!fs::exists(kForeignModels)) return;
    for (const auto& entry : fs::directory_iterator(kForeignModels)) {
        const fs::path path = entry.path() / "config.json";
        if (!fs::exists(path)) continue;
        INFO(path.string());
        const nlohmann::json config = parse_json(read_text(path.string()), message("a configuration"));
        if (!is_read(config["model_type"])) continue;
        CHECK(error_in_family(config) == "(no error)");
        for (const char* key : {"residual_multiplier", "attn_temperature", "hidden_sizes", "quantization_config"})
            if (!config.contains(key))
                check_message(error_in_family(with(config, ("{\"" + std::string(key) + "\": 1}").c_str())), {key});
        // Null is what a key has that isn't used.
        CHECK(error_in_family(with(config, R"({"residual_multiplier": null})")) == "(no error)");
        // Of every key that is read, another kind of value is refused by the key's name.
        for (const auto& [key, value] : config.items()) {
            if (!value.is_number() && !value.is_boolean()) continue;
            nlohmann::json other = config;
            other[key] = nlohmann::json::array({"a", "list"});
            const std::string error = error_in_family(other);
            if (error != "(no error)") check_message(error, {key});
        }
    }
}

TEST_CASE("a family that isn't read is named, with those that are") {
    check_message(error_in_family({{"model_type", "mamba"}}), {"model_type", "mamba", "decoderscope", "gpt2", "qwen3"});
    check_message(error_in_family({{"model_type", std::string(100'000, 'm')}}), {"model_type", "mmm"});
    CHECK(read_family(R"({"model_type": "decoderscope", "strange": 1})").model_type.empty());
    const std::vector<std::string_view> names = family_names();
    CHECK(std::ranges::is_sorted(names));
    const std::string page = read_text(DECODERSCOPE_TESTS_DIR "/../docs/opening.md");
    for (const std::string_view name : names) {
        INFO("docs/opening.md lists " << name);
        CHECK(page.find("`" + std::string(name) + "`") != std::string::npos);
    }
}

TEST_CASE("GPT-2's configuration is read as it is written") {
    const Config config =
        config_of(with(kGpt2, R"({"n_positions": 1024, "n_ctx": 1024, "activation_function": "gelu_new",
        "layer_norm_epsilon": 1e-05, "architectures": ["GPT2LMHeadModel"], "n_inner": null,
        "task_specific_params": {"text-generation": {"do_sample": true}}})"));
    CHECK(config.d_model == 768);
    CHECK(config.dim_feedforward == 3072);
    CHECK(config.norm_first);
    CHECK(config.final_norm);
    CHECK(config.activation == ActivationKind::gelu_tanh);
    CHECK(config.positional_encoding == PositionalEncoding::learned);
    CHECK(config.tie_word_embeddings);
    nlohmann::json without = kGpt2;
    without.erase("n_layer");
    check_message(error_in_family(without), {"n_layer", "a positive integer"});
    check_message(error_in_family(with(kGpt2, R"({"activation_function": "tanh"})")), {"activation_function", "tanh"});
    check_message(error_in_family(with(kGpt2, R"({"n_head": "12"})")), {"n_head", "\"12\""});
    // The same under two names, or not the same.
    CHECK(config_of(with(kGpt2, R"({"num_hidden_layers": 12})")).num_layers == 12);
    check_message(error_in_family(with(kGpt2, R"({"num_hidden_layers": 6})")),
                  {"num_hidden_layers", "6", "n_layer", "12"});
}

TEST_CASE("Llama's configuration is read as it is written") {
    const Config config = config_of(with(kLlama, R"({"rms_norm_eps": 1e-05, "rope_theta": 20000.0})"));
    CHECK(config.num_key_value_heads == 4);
    CHECK(config.norm == NormKind::rmsnorm);
    CHECK(config.layer_norm_eps == 1e-5);
    CHECK(config.rope_theta == 20000.0);
    CHECK_FALSE(config.bias);
    CHECK(config.gated_mlp);
    CHECK(config.head_dim == 0);
    const ModelFamily biased = read_family(with(kLlama, R"({"attention_bias": true})").dump());
    CHECK(parse_config(biased.config_json).bias);
    CHECK(biased.unbiased == std::vector<std::string>{"up_proj", "gate_proj", "down_proj", "lm_head", "norm1",
                                                      "norm1_post", "norm2", "norm2_post", "norm3", "norm3_post",
                                                      "norm", "embed_norm"});
}

TEST_CASE("an error names the key as the family calls it") {
    check_message(error_in_family(with(kGpt2, R"({"n_head": 5})")), {"n_head", "a divisor of 768", "5"});
    check_message(error_in_family(with(kLlama, R"({"rms_norm_eps": 0})")), {"rms_norm_eps", "a positive number", "0"});
    check_message(error_in_family(with(kLlama, R"({"rope_theta": -1})")), {"rope_theta", "a positive number", "-1"});
    check_message(error_in_family(with(kLlama, R"({"hidden_size": 1.5})")),
                  {"hidden_size", "a positive integer", "1.5"});
    check_message(error_in_family(with(kLlama, R"({"tie_word_embeddings": 1})")),
                  {"tie_word_embeddings", "true or false"});
    check_message(error_in_family(with(kLlama, R"({"num_attention_heads": 7})")),
                  {"num_attention_heads", "a divisor of 64"});
    CHECK(config_of(with(kLlama, R"({"num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 10})")).d_head() ==
          10);
}

TEST_CASE("T5's configuration says both stacks") {
    const nlohmann::json small = {{"model_type", "t5"}, {"d_model", 16},   {"d_kv", 5},
                                  {"d_ff", 24},         {"num_layers", 3}, {"num_decoder_layers", 2},
                                  {"num_heads", 4},     {"vocab_size", 32}};
    const Config config = config_of(small);
    CHECK(config.encoder_layers == 3);
    CHECK(config.num_layers == 2);
    CHECK(config.d_head() == 5);
    CHECK(config.attention_scale == 1.0);
    CHECK(config.logit_scale == 0.25);  // where the head is tied
    CHECK(config.relative_attention_num_buckets == 32);
    CHECK(config.activation == ActivationKind::relu);
    const Config later = config_of(with(small, R"({"feed_forward_proj": "gated-gelu", "tie_word_embeddings": false})"));
    CHECK(later.gated_mlp);
    CHECK(later.activation == ActivationKind::gelu_tanh);
    CHECK(later.logit_scale == 1.0);
    check_message(error_in_family(with(small, R"({"feed_forward_proj": "gated-tanh"})")),
                  {"feed_forward_proj", "gated-tanh"});
    check_message(error_in_family(with(small, R"({"is_gated_act": true})")), {"is_gated_act", "feed_forward_proj"});
}

TEST_CASE("RoPE's settings are read in either of Hugging Face's forms") {
    const auto scaled = [](const char* more) { return config_of(with(kLlama, more)); };
    const Config linear = scaled(R"({"rope_scaling": {"type": "linear", "factor": 2}})");
    CHECK(linear.rope_scaling == RopeScalingKind::linear);
    CHECK(linear.rope_factor == 2.0);
    const Config llama3 = scaled(R"({"rope_parameters": {"rope_theta": 5e5, "rope_type": "llama3", "factor": 8.0,
        "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}})");
    CHECK(llama3.rope_scaling == RopeScalingKind::llama3);
    CHECK(llama3.rope_original_positions == 8192);
    CHECK(llama3.rope_theta == 5e5);
    CHECK(scaled(R"({"rope_scaling": {"rope_type": "default"}})").rope_scaling == RopeScalingKind::none);
    for (const char* bad : {R"({"rope_scaling": {"rope_type": "dynamic", "factor": 2.0}})",
                            R"({"rope_scaling": {"rope_type": "longrope", "short_factor": [1]}})",
                            R"({"rope_scaling": {"rope_type": "llama3", "factor": 8.0}})",
                            R"({"rope_scaling": {"rope_type": "linear", "factor": 2, "mystery": 1}})",
                            R"({"rope_scaling": {"factor": 2}})", R"({"rope_scaling": "linear"})",
                            R"({"rope_scaling": {"rope_type": "linear"}})",
                            R"({"rope_scaling": {"rope_type": "linear", "factor": [2]}})"})
        check_message(error_in_family(with(kLlama, bad)), {"rope_scaling"});
    // Transformers 4 would take the one and 5 the other.
    check_message(error_in_family(with(kLlama, R"({"rope_theta": 1e6, "rope_parameters": {"rope_theta": 5e5,
                                            "rope_type": "default"}})")),
                  {"rope_parameters.rope_theta", "500000", "1000000"});
    CHECK(scaled(R"({"rope_theta": 5e5, "rope_parameters": {"rope_theta": 500000, "rope_type": "default"}})")
              .rope_theta == 5e5);
    check_message(error_in_family(with(kLlama, R"({"rope_parameters": {"sliding_attention": {"rope_theta": 1e4}}})")),
                  {"rope_parameters.sliding_attention"});
    check_message(error_in_family(with(kLlama, R"({"rope_scaling": {"type": "linear", "factor": 2},
                                            "rope_parameters": {"rope_type": "default"}})")),
                  {"rope_scaling", "rope_parameters"});
}

TEST_CASE("what a family's files may ask for and isn't computed is refused by its key") {
    std::size_t refused = 0;
    for (const fs::path& model : decoderscope::testing::foreign_models()) {
        const nlohmann::json said = decoderscope::testing::about(model);
        if (!said.contains("refuses") || !fs::exists(model / "config.json")) continue;
        nlohmann::json config = parse_json(read_text((model / "config.json").string()), message("a configuration"));
        for (const auto& [key, what] : said["refuses"].items()) {
            INFO(model.filename().string() << ", " << key);
            nlohmann::json other = config;
            other[key] = what["value"];
            check_message(error_in_family(other), {key});
            ++refused;
        }
    }
    CHECK(refused > 10);
}

TEST_CASE("each kind of layer has its own RoPE where a family says so") {
    const Config gemma = config_of(like_llama("gemma3_text", R"({"sliding_window": 8, "head_dim": 16})"));
    CHECK(gemma.rope_theta == 1e6);
    CHECK(gemma.rope_local_theta == 1e4);
    CHECK(gemma.qk_norm);
    CHECK(gemma.sliding_window_layers.empty());  // five blocks: the sixth would see everything
    const Config later = config_of(like_llama("gemma3_text", R"({"sliding_window": 8, "head_dim": 16,
        "layer_types": ["sliding_attention", "full_attention", "full_attention", "full_attention", "full_attention"],
        "rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 5e5},
                            "sliding_attention": {"rope_type": "default", "rope_theta": 500.0}}})"));
    CHECK(later.rope_theta == 5e5);
    CHECK(later.rope_local_theta == 500.0);
    CHECK(later.rope_scaling == RopeScalingKind::linear);
    CHECK(later.sliding_window_layers == std::vector<Index>{0});
    const Config smollm = config_of(like_llama("smollm3", R"({"no_rope_layers": [1, 1, 0, 1, 0]})"));
    CHECK(smollm.rope_layers == std::vector<Index>{0, 1, 3});
    CHECK(config_of(like_llama("smollm3")).rope_layers == std::vector<Index>{0, 1, 2, 4});
    const Config yarn = config_of(with(kLlama, R"({"max_position_embeddings": 64, "rope_scaling": {"rope_type": "yarn",
        "factor": 4.0, "original_max_position_embeddings": 16, "beta_fast": 8, "truncate": false,
        "mscale": 1.0, "mscale_all_dim": 0.5}})"));
    CHECK(yarn.rope_scaling == RopeScalingKind::yarn);
    CHECK(yarn.rope_beta_fast == 8.0);
    CHECK_FALSE(yarn.rope_truncate);
    CHECK(yarn.rope_attention_factor ==
          Approx((0.1 * std::log(4.0) + 1.0) / (0.05 * std::log(4.0) + 1.0)).epsilon(1e-12));
}

TEST_CASE("windows are those of the blocks that have one") {
    CHECK(config_of(like_llama("mistral")).sliding_window == 4096);
    CHECK(config_of(like_llama("mistral", R"({"sliding_window": null})")).sliding_window == 0);
    CHECK(config_of(like_llama("qwen2", R"({"sliding_window": 8})")).sliding_window == 0);
    const Config some =
        config_of(like_llama("qwen2", R"({"sliding_window": 8, "use_sliding_window": true, "max_window_layers": 3})"));
    CHECK(some.sliding_window == 8);
    CHECK(some.sliding_window_layers == std::vector<Index>{3, 4});
    const Config gemma = config_of(like_llama("gemma2", R"({"sliding_window": 8, "head_dim": 16})"));
    CHECK(gemma.sliding_window_layers == std::vector<Index>{0, 2, 4});
    const Config said = config_of(like_llama("gemma2", R"({"sliding_window": 8, "layer_types": ["full_attention",
        "full_attention", "full_attention", "full_attention", "sliding_attention"]})"));
    CHECK(said.sliding_window_layers == std::vector<Index>{4});
    check_message(error_in_family(like_llama("gemma2", R"({"layer_types": ["full_attention"]})")),
                  {"layer_types", "5"});
    check_message(error_in_family(like_llama("gemma2", R"({"layer_types": ["full_attention", "chunked_attention",
        "full_attention", "full_attention", "sliding_attention"]})")),
                  {"layer_types", "chunked_attention", "block 1"});
    check_message(
        error_in_family(with(kLlama, R"({"layer_types": ["sliding_attention", "full_attention", "full_attention",
                                           "full_attention", "full_attention"]})")),
        {"sliding_window"});
}

TEST_CASE("what a family has beyond Llama is read by its key, and by its class's defaults") {
    CHECK(config_of(like_llama("olmo")).clip_qkv == 0.0);
    CHECK(config_of(like_llama("olmo", R"({"clip_qkv": 8.0})")).clip_qkv == 8.0);
    check_message(error_in_family(like_llama("olmoe", R"({"clip_qkv": -1, "num_experts": 4})")), {"clip_qkv", "-1"});
    const Config ministral = config_of(like_llama("ministral3"));
    CHECK(ministral.rope_scaling == RopeScalingKind::yarn);
    CHECK(ministral.query_scale_beta == 0.1);
    CHECK(ministral.query_scale_positions == 16384);
    CHECK(ministral.sliding_window == 0);
    CHECK(config_of(like_llama("apertus", R"({"head_dim": 8})")).rope_scaling == RopeScalingKind::llama3);
    check_message(error_in_family(like_llama("apertus", R"({"hidden_act": "silu"})")), {"hidden_act", "xIELU"});
    const Config hunyuan = config_of(like_llama("hunyuan_v1_dense", R"({"rope_theta": 10000.0,
        "rope_scaling": {"type": "dynamic", "alpha": 1000.0, "factor": 1.0}})"));
    CHECK(hunyuan.rope_theta == Approx(1e4 * std::pow(1000.0, 8.0 / 6.0)).epsilon(1e-12));
    CHECK(hunyuan.qk_norm_after_rope);
    CHECK(config_of(like_llama("exaone4", R"({"sliding_window": 8})")).rope_layers == std::vector<Index>{0, 1, 2, 4});
    CHECK(config_of(like_llama("exaone4", R"({"sliding_window": null})")).rotates(0));
    CHECK(config_of(like_llama("nemotron")).rotary_dim == 4);
    CHECK(config_of(like_llama("phimoe")).router_jitter == 0.01);
    check_message(error_in_family(like_llama("phimoe", R"({"rope_parameters": {"rope_type": "longrope", "short_factor":
        [1, 1, 1, 1], "long_factor": [1, 1, 1, 1], "short_mscale": 1.2, "long_mscale": 1.3,
        "original_max_position_embeddings": 8}})")),
                  {"long_mscale", "1.3", "1.2"});
    // As Transformers 5 writes it, beside experts; a bias there is another thing.
    const char* const v2 =
        R"({"num_key_value_heads": 8, "n_routed_experts": 4, "num_experts_per_tok": 2, "mlp_bias": false})";
    CHECK(error_in_family(like_llama("deepseek_v2", v2)) == "(no error)");
    check_message(error_in_family(with(like_llama("deepseek_v2", v2), R"({"mlp_bias": true})")), {"mlp_bias"});
}

TEST_CASE("Gemma's activation is said, or what was taken for it is") {
    const auto gemma = [](const char* more) { return read_family(like_llama("gemma", more).dump()); };
    CHECK(parse_config(gemma(R"({"hidden_activation": "gelu"})").config_json).activation == ActivationKind::gelu);
    CHECK(gemma(R"({"hidden_act": "gelu", "hidden_activation": "gelu_pytorch_tanh"})").questions.empty());
    const ModelFamily first = gemma(R"({"hidden_act": "gelu"})");
    CHECK(parse_config(first.config_json).activation == ActivationKind::gelu_tanh);
    REQUIRE(first.questions.size() == 1);
    CHECK(first.questions[0].key == "activation");
    const Config config = config_of(like_llama("gemma2", R"({"query_pre_attn_scalar": 144})"));
    CHECK(config.attention_scale == 1.0 / 12.0);
    CHECK(config.attention_soft_cap == 50.0);
    CHECK(config.logit_soft_cap == 30.0);
    CHECK(config.head_dim == 256);
    CHECK(config_of(like_llama("gemma2", R"({"attn_logit_softcapping": null})")).attention_soft_cap == 0.0);
}

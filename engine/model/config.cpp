#include "engine/model/config.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/limits.h"
#include "engine/base/tables.h"
#include "engine/graph/explanation.h"
#include "engine/ops/activation.h"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>

namespace decoderscope {

namespace {

[[noreturn]] void fail(std::string_view key, const Sentence& expected, const Sentence& found) {
    throw Error("{key}: expected {expected}, found {found}", {{"key", key}, {"expected", expected}, {"found", found}});
}

// ---- one key

// A key of the contract: how it is read into a configuration, how it is written, and what it can be.
struct Key {
    std::string_view name;
    std::function<void(Config&, const Json&)> read;
    std::function<Json(const Config&)> write;
    std::vector<std::string> values = {};
    bool has_others = true;
};

Key with_values(Key key, std::vector<std::string> values) {
    key.values = std::move(values);
    return key;
}

Key with_no_others(Key key) {
    key.has_others = false;
    return key;
}

// A key whose value a member holds as it is; `check` fails for one that doesn't fit.
template <class T, class Check>
Key plain(std::string_view name, T Config::*member, Check check) {
    return {name,
            [=](Config& config, const Json& value) {
                check(value);
                config.*member = value.get<T>();
            },
            [=](const Config& config) { return Json(config.*member); }};
}

Key integer(std::string_view name, Index Config::*member, Index lowest, Index highest = limits::kSize) {
    const auto check = [=](const Json& value) {
        const Sentence expected = lowest > 0 ? message("a positive integer") : message("an integer from 0");
        if (!value.is_number_integer()) fail(name, expected, found_text(value));
        const double size = value.get<double>();
        if (size < static_cast<double>(lowest) || size > static_cast<double>(highest))
            fail(name, message("{expected} up to {highest}", {{"expected", expected}, {"highest", highest}}),
                 found_text(value));
    };
    return with_values(plain(name, member, check), {"1", "2", "4"});
}

Key boolean(std::string_view name, bool Config::*member) {
    const auto check = [=](const Json& value) {
        if (!value.is_boolean()) fail(name, message("true or false"), found_text(value));
    };
    return with_no_others(with_values(plain(name, member, check), {"true", "false"}));
}

Key real(std::string_view name, double Config::*member, Sentence expected, std::function<bool(double)> fits,
         std::vector<std::string> values = {"0.5", "2"}) {
    const auto check = [=](const Json& value) {
        if (!value.is_number() || !fits(value.get<double>())) fail(name, expected, found_text(value));
    };
    return with_values(plain(name, member, check), std::move(values));
}

// A list, of which every item must fit.
template <class T>
Key list(std::string_view name, std::vector<T> Config::*member, Sentence expected, bool (*fits)(const Json&)) {
    return plain(name, member, [=](const Json& value) {
        if (!value.is_array()) fail(name, expected, found_text(value));
        for (const Json& item : value)
            if (!fits(item)) fail(name, expected, found_text(item));
    });
}

// The numbers of some layers.
Key layers(std::string_view name, std::vector<Index> Config::*member) {
    const auto is_layer = [](const Json& layer) {
        return layer.is_number_unsigned() && layer.get<std::uint64_t>() < limits::kLayers;
    };
    return with_values(list(name, member, message("a list of layer numbers"), is_layer), {"[]", "[0]"});
}

// RoPE's divisors, one per pair of columns.
Key divisors(std::string_view name, std::vector<double> Config::*member) {
    return list(name, member, message("a list of positive numbers"), [](const Json& divisor) {
        return divisor.is_number() && divisor.get<double>() > 0.0 && std::isfinite(divisor.get<double>());
    });
}

// An enumeration's values under the contract's words, in the order of the enumerators.
using Words = std::vector<std::string_view>;

// Whether a word is the contract's, or another program's for the same.
bool says(std::string_view name, std::string_view ours, const std::string& word) {
    if (word == ours) return true;
    const OrderedJson others = asset_table("words").value(name, OrderedJson::object());
    const auto found = others.find(ours);
    return found != others.end() && std::ranges::count(found->value("word", std::vector<std::string>()), word) > 0;
}

template <class E>
E from_word(std::string_view name, const Words& words, const Json& value) {
    std::string expected;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (value.is_string() && says(name, words[i], value.get<std::string>())) return static_cast<E>(i);
        expected += (expected.empty() ? "" : ", ") + std::string(words[i]);
    }
    fail(name, message("one of {expected}", {{"expected", expected}}), found_text(value));
}

template <class E>
Key word(std::string_view name, E Config::*member, const Words& words) {
    return {name,
            [=](Config& config, const Json& value) { config.*member = from_word<E>(name, words, value); },
            [=](const Config& config) { return Json(words[static_cast<std::size_t>(config.*member)]); },
            {words.begin(), words.end()},
            false};
}

Key activation() {
    std::vector<ActivationKind> kinds = ops::activations();
    kinds.insert(kinds.end(), {ActivationKind::swiglu_clamped, ActivationKind::xielu});
    Words words;
    for (const ActivationKind kind : kinds) words.push_back(kind.name);
    return {"activation",
            [=](Config& config, const Json& value) {
                config.activation = kinds[from_word<std::size_t>("activation", words, value)];
            },
            [](const Config& config) { return Json(config.activation.name); },
            {words.begin(), words.end()},
            false};
}

Key norm_placement() {
    const Words words = {"pre", "post", "peri", "reordered"};
    return {"norm_placement",
            [=](Config& config, const Json& value) {
                config.norm_placement = from_word<NormPlacement>("norm_placement", words, value);
            },
            [=](const Config& config) { return Json(words[static_cast<std::size_t>(config.placement())]); },
            {words.begin(), words.end()},
            false};
}

Key dropout_sites() {
    const std::string_view name = "dropout_sites";
    const Words words = {"attention_scores", "attention_weights", "attention_out", "mlp_post", "mlp_out"};
    return {name,
            [=](Config& config, const Json& value) {
                if (!value.is_array()) fail(name, message("a list of sites"), found_text(value));
                config.dropout_sites.clear();
                for (const Json& site : value)
                    config.dropout_sites.push_back(from_word<DropoutSite>(name, words, site));
            },
            [=](const Config& config) {
                Json list = Json::array();
                for (const DropoutSite site : config.dropout_sites)
                    list.push_back(words[static_cast<std::size_t>(site)]);
                return list;
            },
            {words.begin(), words.end()}};
}

// A number as the contract writes a mask_value: text, so that −∞ can be written.
std::string fill_text(float value) {
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    return {text, end};
}

Key mask_value() {
    const std::string_view name = "mask_value";
    return {name,
            [=](Config& config, const Json& value) {
                const Sentence expected = message("\"-inf\" or a number written as a string, such as \"-1e9\"");
                if (!value.is_string()) fail(name, expected, found_text(value));
                const std::string text = value.get<std::string>();
                if (text == "-inf") {
                    config.mask_value = -std::numeric_limits<float>::infinity();
                    return;
                }
                const auto [end, error] =
                    fast_float::from_chars(text.data(), text.data() + text.size(), config.mask_value);
                if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(config.mask_value))
                    fail(name, expected, found_text(value));
            },
            [](const Config& config) { return Json(fill_text(config.mask_value)); },
            {"-inf", "-1e4", "-1e9", "-1e20"}};
}

// Every key of the contract, in its order. Reading, checking, writing and showing keys all use this table.
const std::vector<Key>& keys() {
    const auto positive = [](double x) { return x > 0.0 && std::isfinite(x); };
    const auto from_zero = [](double x) { return x >= 0.0 && std::isfinite(x); };
    const auto finite = [](double x) { return std::isfinite(x); };
    const auto probability = [](double x) { return x >= 0.0 && x <= 1.0; };
    static const std::vector<Key> table = {
        integer("d_model", &Config::d_model, 1),
        integer("nhead", &Config::nhead, 1),
        integer("num_layers", &Config::num_layers, 1, limits::kLayers),
        integer("num_key_value_heads", &Config::num_key_value_heads, 1),
        integer("dim_feedforward", &Config::dim_feedforward, 0),
        boolean("norm_first", &Config::norm_first),
        word("norm", &Config::norm,
             {"layernorm", "rmsnorm", "layernorm_std", "rmsnorm_plus_one", "dynamic_tanh", "layernorm_plus_one"}),
        boolean("norm_gain", &Config::norm_gain),
        real("layer_norm_eps", &Config::layer_norm_eps, message("a positive number"), positive,
             {"1e-5", "1e-6", "1e-12"}),
        boolean("final_norm", &Config::final_norm),
        activation(),
        boolean("gated_mlp", &Config::gated_mlp),
        real("swiglu_alpha", &Config::swiglu_alpha, message("a positive number"), positive),
        real("swiglu_limit", &Config::swiglu_limit, message("a positive number"), positive),
        boolean("bias", &Config::bias),
        boolean("causal", &Config::causal),
        boolean("cross_attention", &Config::cross_attention),
        integer("encoder_layers", &Config::encoder_layers, 0, limits::kLayers),
        integer("vocab_size", &Config::vocab_size, 0),
        integer("encoder_vocab_size", &Config::encoder_vocab_size, 0),
        word("positional_encoding", &Config::positional_encoding, {"none", "sinusoidal", "learned", "rope"}),
        integer("max_positions", &Config::max_positions, 0),
        word("positions", &Config::positions, {"plain", "from_mask", "from_segments"}),
        real("rope_theta", &Config::rope_theta, message("a positive number"), positive),
        real("rope_local_theta", &Config::rope_local_theta, message("a number from 0"), from_zero),
        layers("rope_layers", &Config::rope_layers),
        boolean("scale_embedding", &Config::scale_embedding),
        real("embedding_scale", &Config::embedding_scale, message("a number"), finite),
        boolean("lm_head", &Config::lm_head),
        boolean("tie_word_embeddings", &Config::tie_word_embeddings),
        mask_value(),
        real("dropout", &Config::dropout, message("a probability from 0 to 1"), probability, {"0", "0.1", "0.5"}),
        dropout_sites(),
        integer("head_dim", &Config::head_dim, 0),
        real("attention_scale", &Config::attention_scale, message("a number from 0"), from_zero),
        real("logit_scale", &Config::logit_scale, message("a number"), finite),
        real("position_scale", &Config::position_scale, message("a number"), finite),
        boolean("embedding_norm", &Config::embedding_norm),
        boolean("rope_interleaved", &Config::rope_interleaved),
        integer("rotary_dim", &Config::rotary_dim, 0),
        word("rope_scaling", &Config::rope_scaling, {"none", "linear", "llama3", "yarn", "longrope"}),
        real("rope_factor", &Config::rope_factor, message("a positive number"), positive),
        real("rope_low_freq_factor", &Config::rope_low_freq_factor, message("a positive number"), positive),
        real("rope_high_freq_factor", &Config::rope_high_freq_factor, message("a positive number"), positive),
        integer("rope_original_positions", &Config::rope_original_positions, 0),
        real("rope_beta_fast", &Config::rope_beta_fast, message("a positive number"), positive),
        real("rope_beta_slow", &Config::rope_beta_slow, message("a positive number"), positive),
        boolean("rope_truncate", &Config::rope_truncate),
        real("rope_attention_factor", &Config::rope_attention_factor, message("a number from 0"), from_zero),
        divisors("rope_short_factors", &Config::rope_short_factors),
        divisors("rope_long_factors", &Config::rope_long_factors),
        norm_placement(),
        real("residual_scale", &Config::residual_scale, message("a number"), finite),
        real("update_scale", &Config::update_scale, message("a number"), finite),
        boolean("layer_scale", &Config::layer_scale),
        word("parallel_residual", &Config::parallel_residual, {"none", "one_norm", "two_norms"}),
        boolean("qk_norm", &Config::qk_norm),
        boolean("qk_norm_across_heads", &Config::qk_norm_across_heads),
        boolean("qk_norm_after_rope", &Config::qk_norm_after_rope),
        boolean("qk_norm_centred", &Config::qk_norm_centred),
        boolean("qk_norm_bias", &Config::qk_norm_bias),
        real("qk_norm_eps", &Config::qk_norm_eps, message("a number from 0"), from_zero),
        real("clip_qkv", &Config::clip_qkv, message("a number from 0"), from_zero),
        real("query_scale_beta", &Config::query_scale_beta, message("a number from 0"), from_zero),
        integer("query_scale_positions", &Config::query_scale_positions, 0),
        real("attention_soft_cap", &Config::attention_soft_cap, message("a number from 0"), from_zero),
        real("logit_soft_cap", &Config::logit_soft_cap, message("a number from 0"), from_zero),
        integer("sliding_window", &Config::sliding_window, 0),
        layers("sliding_window_layers", &Config::sliding_window_layers),
        boolean("alibi", &Config::alibi),
        boolean("alibi_scaled", &Config::alibi_scaled),
        integer("relative_attention_num_buckets", &Config::relative_attention_num_buckets, 0),
        integer("relative_attention_max_distance", &Config::relative_attention_max_distance, 1),
        boolean("relative_attention_by_layer", &Config::relative_attention_by_layer),
        boolean("shared_qkv", &Config::shared_qkv),
        boolean("attention_sinks", &Config::attention_sinks),
        integer("kv_lora_rank", &Config::kv_lora_rank, 0),
        integer("q_lora_rank", &Config::q_lora_rank, 0),
        integer("qk_rope_head_dim", &Config::qk_rope_head_dim, 0),
        integer("v_head_dim", &Config::v_head_dim, 0),
        real("latent_norm_eps", &Config::latent_norm_eps, message("a number from 0"), from_zero),
        integer("experts", &Config::experts, 0, limits::kExperts),
        integer("experts_per_token", &Config::experts_per_token, 0, limits::kExperts),
        integer("expert_dim_feedforward", &Config::expert_dim_feedforward, 0),
        layers("moe_layers", &Config::moe_layers),
        word("router", &Config::router, {"softmax", "sigmoid", "sparsemixer"}),
        real("router_jitter", &Config::router_jitter, message("a number from 0"), from_zero),
        boolean("router_normalize", &Config::router_normalize),
        real("router_scale", &Config::router_scale, message("a number"), finite),
        integer("router_groups", &Config::router_groups, 1, limits::kExperts),
        integer("router_top_groups", &Config::router_top_groups, 1, limits::kExperts),
        integer("router_group_best", &Config::router_group_best, 1, limits::kExperts),
        integer("shared_dim_feedforward", &Config::shared_dim_feedforward, 0),
        boolean("shared_gate", &Config::shared_gate),
        word("arithmetic", &Config::arithmetic, {kArithmetics.begin(), kArithmetics.end()}),
        word("norm_cast", &Config::norm_cast, {"before_gain", "after_gain"}),
        boolean("router_float32", &Config::router_float32),
        boolean("logits_float32", &Config::logits_float32),
    };
    return table;
}

const Key& key_named(std::string_view name) {
    const auto found = std::find_if(keys().begin(), keys().end(), [&](const Key& key) { return key.name == name; });
    if (found == keys().end()) throw Error("{name}: unknown key", {{"name", name}});
    return *found;
}

// ---- overrides

Json list_from_commas(const std::string& text) {
    Json list = Json::array();
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t comma = std::min(text.find(',', start), text.size());
        list.push_back(text.substr(start, comma - start));
        start = comma + 1;
    }
    return list;
}

// The text of an override as the JSON that the key expects: a word, a list, or JSON itself.
Json override_json(const std::string& key, const std::string& text) {
    const Json usual = key_named(key).write({});
    if (usual.is_string()) return text;
    if (key == "dropout_sites" && !text.starts_with('[')) return list_from_commas(text);
    try {
        return parse_json(usual.is_array() && !text.starts_with('[') ? "[" + text + "]" : text, message("a value"));
    } catch (const Error&) {
        return text;
    }
}

// Two keys give the norm placement: the one overridden last applies.
void override_key(Json& json, const std::string& key, const std::string& text) {
    if (key == "norm_first") json.erase("norm_placement");
    if (key == "norm_placement") json.erase("norm_first");
    json[key] = override_json(key, text);
}

// ---- the whole

// Keeps norm_placement only if norm_first can't express it.
void settle_placement(Config& c, const Json& json) {
    if (!c.norm_placement) return;
    const NormPlacement placement = *c.norm_placement;
    const bool before = placement == NormPlacement::pre, after = placement == NormPlacement::post;
    if (json.contains("norm_first") && (before || after) && c.norm_first != before)
        throw Error("norm_placement can't be \"{placement}\" when norm_first is {first}",
                    {{"placement", before ? "pre" : "post"}, {"first", c.norm_first ? "true" : "false"}});
    c.norm_first = before;
    if (before || after) c.norm_placement.reset();
}

void expect(bool holds, const char* key, const Sentence& expected, const Sentence& found) {
    if (!holds) fail(key, expected, found);
}

// The value of the key, as it is read and written, is what was found.
void expect(const Config& c, bool holds, const char* key, const Sentence& expected) {
    if (holds) return;
    const Json found = key_named(key).write(c);
    if (found.is_array()) fail(key, expected, found_text(found));
    fail(key, expected,
         Sentence::verbatim(found.is_number_float() ? short_number(found.get<double>())
                            : found.is_string()     ? found.get<std::string>()
                                                    : found.dump()));
}

Sentence text(Index value) { return Sentence::verbatim(std::to_string(value)); }

// What yarn and longrope need.
void check_long_texts(const Config& c) {
    const bool yarn = c.rope_scaling == RopeScalingKind::yarn, longrope = c.rope_scaling == RopeScalingKind::longrope;
    expect(c, yarn || longrope || c.rope_attention_factor == 0.0, "rope_attention_factor",
           message("0 when rope_scaling is neither yarn nor longrope"));
    const auto check_divisors = [&](const char* key, const std::vector<double>& divisors) {
        const Index pairs = longrope ? c.rotary_columns() / 2 : 0, found = static_cast<Index>(divisors.size());
        expect(found == pairs, key,
               longrope ? message("a list of {count} numbers, one per pair of columns", {{"count", pairs}})
                        : message("[] when rope_scaling is not longrope"),
               message("a list of {count}", {{"count", found}}));
    };
    check_divisors("rope_short_factors", c.rope_short_factors);
    check_divisors("rope_long_factors", c.rope_long_factors);
    if (!yarn && !longrope) return;
    expect(c, c.rope_factor >= 1.0, "rope_factor", message("a number from 1 when rope_scaling is yarn or longrope"));
    expect(c, c.rope_original_positions > 1, "rope_original_positions",
           message("an integer from 2 when rope_scaling is yarn or longrope"));
    expect(c, !yarn || c.rope_beta_fast >= c.rope_beta_slow, "rope_beta_fast",
           message("at least rope_beta_slow = {number}", {{"number", short_number(c.rope_beta_slow)}}));
    expect(c, !yarn || c.rope_theta > 1.0, "rope_theta", message("more than 1 when rope_scaling is yarn"));
}

void check_positions(const Config& c) {
    const bool rope = c.positional_encoding == PositionalEncoding::rope;
    if (rope && c.is_latent())
        expect(c, c.qk_rope_head_dim % 2 == 0, "qk_rope_head_dim", message("an even number for rope"));
    if (rope && !c.is_latent() && c.rotary_dim == 0 && c.head_dim == 0)
        expect(c.d_head() % 2 == 0, "positional_encoding", message("an even d_model / nhead for rope"),
               text(c.d_head()));
    if (rope && !c.is_latent() && c.rotary_dim == 0)
        expect(c, c.d_head() % 2 == 0, "head_dim", message("an even number for rope"));
    expect(c, rope || c.rotary_dim == 0, "rotary_dim", message("0 when positional_encoding is not rope"));
    expect(c, c.rotary_dim % 2 == 0 && c.rotary_dim <= c.d_head(), "rotary_dim",
           message("an even number up to d_head = {number}", {{"number", text(c.d_head())}}));
    expect(c, rope || !c.rope_interleaved, "rope_interleaved", message("false when positional_encoding is not rope"));
    expect(rope || c.rope_scaling == RopeScalingKind::none, "rope_scaling",
           message("none when positional_encoding is not rope"),
           Sentence::verbatim("linear, llama3, yarn or longrope"));
    expect(c, c.rope_scaling != RopeScalingKind::none || c.rope_factor == 1.0, "rope_factor",
           message("1 when rope_scaling is none"));
    if (c.rope_scaling == RopeScalingKind::llama3) {
        expect(c, c.rope_original_positions > 0, "rope_original_positions",
               message("a positive integer when rope_scaling is llama3"));
        expect(
            c, c.rope_high_freq_factor > c.rope_low_freq_factor, "rope_high_freq_factor",
            message("more than rope_low_freq_factor = {number}", {{"number", short_number(c.rope_low_freq_factor)}}));
    }
    check_long_texts(c);
    expect(c, rope || c.rope_layers.empty(), "rope_layers", message("[] when positional_encoding is not rope"));
    expect(c, rope || c.rope_local_theta == 0.0, "rope_local_theta", message("0 when positional_encoding is not rope"));
    const bool table =
        c.positional_encoding == PositionalEncoding::sinusoidal || c.positional_encoding == PositionalEncoding::learned;
    expect(c, table || c.position_scale == 1.0, "position_scale",
           message("1 when positional_encoding is neither sinusoidal nor learned"));
}

void check_relative_bias(const Config& c) {
    const Index rows = c.relative_attention_num_buckets;
    expect(c, rows > 0 || !c.relative_attention_by_layer, "relative_attention_by_layer",
           message("false when relative_attention_num_buckets is 0"));
    expect(c, rows == 0 || rows >= 4, "relative_attention_num_buckets", message("0, or an integer from 4"));
    expect(c, rows == 0 || c.relative_attention_max_distance > rows / 2, "relative_attention_max_distance",
           message("more than half of the {count} buckets", {{"count", rows}}));
}

void check_parallel(const Config& c) {
    if (c.parallel_residual == ParallelResidual::none) return;
    const Sentence found = Sentence::verbatim("one_norm or two_norms");
    const auto needs = [&](bool holds, const Sentence& expected) {
        expect(holds, "parallel_residual", expected, found);
    };
    needs(c.placement() != NormPlacement::post, message("none when norm_first is false"));
    needs(c.placement() == NormPlacement::pre, message("none when norm_placement is peri or reordered"));
    needs(!c.cross_attention, message("none when cross_attention is on"));
    needs(c.dim_feedforward > 0, message("none when dim_feedforward is 0"));
}

void check_latent(const Config& c) {
    const std::pair<const char*, Index> parts[] = {
        {"q_lora_rank", c.q_lora_rank}, {"qk_rope_head_dim", c.qk_rope_head_dim}, {"v_head_dim", c.v_head_dim}};
    for (const auto& [key, value] : parts)
        expect(c, c.is_latent() || value == 0, key, message("0 when kv_lora_rank is 0"));
    expect(c, c.is_latent() || c.latent_norm_eps == 0.0, "latent_norm_eps", message("0 when kv_lora_rank is 0"));
    if (!c.is_latent()) return;
    expect(c, c.qk_rope_head_dim > 0 && c.qk_rope_head_dim < c.d_head(), "qk_rope_head_dim",
           message("a positive integer below d_head = {number} when kv_lora_rank is not 0",
                   {{"number", text(c.d_head())}}));
    expect(c, c.v_head_dim <= limits::kSize / c.nhead, "v_head_dim",
           message("nhead · v_head_dim up to {highest}", {{"highest", limits::kSize}}));
    expect(c, c.num_key_value_heads == c.nhead, "num_key_value_heads",
           message("nhead = {number} when kv_lora_rank is not 0", {{"number", text(c.nhead)}}));
    expect(c, !c.qk_norm, "qk_norm", message("false when kv_lora_rank is not 0"));
    expect(c, c.clip_qkv == 0.0, "clip_qkv", message("0 when kv_lora_rank is not 0"));
    expect(c, c.query_scale_beta == 0.0, "query_scale_beta", message("0 when kv_lora_rank is not 0"));
    expect(c, !c.shared_qkv, "shared_qkv", message("false when kv_lora_rank is not 0"));
    expect(c, c.rotary_dim == 0, "rotary_dim", message("0 when kv_lora_rank is not 0"));
}

void check_mixture(const Config& c) {
    if (c.experts == 0) {
        const std::pair<const char*, Index> parts[] = {{"experts_per_token", c.experts_per_token},
                                                       {"expert_dim_feedforward", c.expert_dim_feedforward},
                                                       {"shared_dim_feedforward", c.shared_dim_feedforward}};
        for (const auto& [key, value] : parts) expect(c, value == 0, key, message("0 when experts is 0"));
        expect(c, c.moe_layers.empty(), "moe_layers", message("[] when experts is 0"));
        expect(c, !c.shared_gate, "shared_gate", message("false when experts is 0"));
        return;
    }
    const auto some_experts = [](Index highest) {
        return message("an integer from 1 to {highest}", {{"highest", highest}});
    };
    expect(c, c.experts_per_token > 0 && c.experts_per_token <= c.experts, "experts_per_token",
           some_experts(c.experts));
    expect(c, c.experts % c.router_groups == 0, "router_groups",
           message("a divisor of experts = {number}", {{"number", text(c.experts)}}));
    expect(c, c.router_top_groups <= c.router_groups, "router_top_groups", some_experts(c.router_groups));
    const Index in_groups = c.experts / c.router_groups * c.router_top_groups;
    expect(c, c.experts_per_token <= in_groups, "experts_per_token", some_experts(in_groups));
    expect(c, c.dim_feedforward > 0, "dim_feedforward", message("a positive integer when experts is not 0"));
    expect(
        c,
        c.router != RouterKind::sparsemixer || (c.router_groups == 1 && !c.router_normalize && c.router_scale == 1.0),
        "router", message("a different one when router_groups, router_normalize or router_scale is set"));
    expect(c, !c.shared_gate || c.shared_dim_feedforward > 0, "shared_gate",
           message("false when shared_dim_feedforward is 0"));
}

void check_together(const Config& c) {
    expect(c, c.head_dim > 0 || c.d_model % c.nhead == 0, "nhead",
           message("a divisor of d_model = {number}", {{"number", text(c.d_model)}}));
    expect(c, c.head_dim <= limits::kSize / c.nhead, "head_dim",
           message("nhead · head_dim up to {highest}", {{"highest", limits::kSize}}));
    expect(c, c.nhead % c.num_key_value_heads == 0, "num_key_value_heads",
           message("a divisor of nhead = {number}", {{"number", text(c.nhead)}}));
    expect(c, !c.shared_qkv || c.num_key_value_heads == c.nhead, "num_key_value_heads",
           message("nhead = {number} when shared_qkv is on", {{"number", text(c.nhead)}}));
    check_latent(c);
    check_positions(c);
    check_mixture(c);
    expect(c, c.positional_encoding != PositionalEncoding::learned || c.max_positions > 0, "max_positions",
           message("a positive integer when positional_encoding is learned"));
    expect(c, c.encoder_layers == 0 || c.cross_attention, "cross_attention",
           message("true when encoder_layers is not 0"));
    expect(c, !c.lm_head || c.vocab_size > 0, "vocab_size", message("a positive integer when lm_head is on"));
    check_parallel(c);
    check_relative_bias(c);
    expect(c, !c.qk_norm_across_heads || c.qk_norm, "qk_norm", message("true when qk_norm_across_heads is on"));
    expect(c, !c.qk_norm_after_rope || (c.qk_norm && !c.qk_norm_across_heads), "qk_norm_after_rope",
           message("false unless each head's q and k are normalised by themselves"));
    expect(c, !c.qk_norm_centred || (c.qk_norm && !c.qk_norm_across_heads), "qk_norm_centred",
           message("false unless each head's q and k are normalised by themselves"));
    expect(c, !c.qk_norm_centred || !c.adds_one_to_gain(), "qk_norm_centred",
           message("false when norm is rmsnorm_plus_one or layernorm_plus_one"));
    expect(c, !c.qk_norm_bias || (c.qk_norm_centred && c.norm_gain), "qk_norm_bias",
           message("false unless qk_norm_centred and norm_gain are on"));
    expect(c, c.qk_norm_eps == 0.0 || c.qk_norm, "qk_norm_eps", message("0 when qk_norm is false"));
    expect(c, c.query_scale_beta == 0.0 || c.query_scale_positions > 0, "query_scale_positions",
           message("a positive integer when query_scale_beta is not 0"));
    expect(c, c.logit_scale == 1.0 || c.lm_head, "logit_scale", message("1 when lm_head is false"));
    expect(c, c.gated_mlp || c.activation != ActivationKind::swiglu_clamped, "activation",
           message("a different one when gated_mlp is false"));
    expect(c, c.activation != ActivationKind::xielu || (!c.gated_mlp && c.experts == 0), "activation",
           message("a different one when gated_mlp is on or experts is not 0"));
    expect(c, !c.gated_mlp || c.dim_feedforward > 0, "dim_feedforward",
           message("a positive integer when gated_mlp is on"));
}

void check_model_type(const Json& json) {
    const auto type = json.find("model_type");
    if (type == json.end()) fail("model_type", Sentence::verbatim("\"decoderscope\""), message("no such key"));
    if (*type != "decoderscope") fail("model_type", Sentence::verbatim("\"decoderscope\""), found_text(*type));
}

Json parse_object(std::string_view text) {
    Json json = parse_json(text, message("an object of configuration keys"));
    if (!json.is_object())
        throw Error("expected a JSON object of configuration keys, found {found}", {{"found", found_text(json)}});
    return json;
}

// Whether a layer is among those that are listed; an empty list is all of them.
bool is_listed(const std::vector<Index>& layers, Index layer) {
    return layers.empty() || std::ranges::find(layers, layer) != layers.end();
}

}  // namespace

Config parse_config(std::string_view text, const Overrides& overrides) {
    Json json = parse_object(text);
    check_model_type(json);
    json.erase("model_type");
    for (const auto& [key, value] : overrides) {
        static_cast<void>(key_named(key));
        override_key(json, key, value);
    }
    for (const char* required : {"d_model", "nhead", "num_layers"})
        if (!json.contains(required)) fail(required, message("a positive integer"), message("no such key"));

    Config config;
    for (const auto& [key, value] : json.items()) key_named(key).read(config, value);
    if (!json.contains("num_key_value_heads")) config.num_key_value_heads = config.nhead;
    if (!json.contains("dim_feedforward")) config.dim_feedforward = 4 * config.d_model;
    if (!json.contains("encoder_vocab_size")) config.encoder_vocab_size = config.vocab_size;
    if (!json.contains("norm_cast") && config.norm == NormKind::rmsnorm_plus_one)
        config.norm_cast = NormCast::after_gain;  // as in Gemma
    settle_placement(config, json);
    check_together(config);
    return config;
}

void set_keys(Config& config, const Overrides& overrides) {
    for (const auto& [key, text] : overrides) {
        if (key == "norm_first") config.norm_placement.reset();
        key_named(key).read(config, override_json(key, text));
    }
}

Phrase name_of(NormKind kind) {
    if (kind == NormKind::dynamic_tanh) return message("dynamic tanh");
    return is_centred(kind) ? message("LayerNorm") : message("RMSNorm");
}

Index Config::window_of(Index layer) const { return is_listed(sliding_window_layers, layer) ? sliding_window : 0; }

bool Config::is_mixture(Index layer) const { return experts > 0 && is_listed(moe_layers, layer); }

bool Config::rotates(Index layer) const {
    return positional_encoding == PositionalEncoding::rope && is_listed(rope_layers, layer);
}

std::string config_to_json(const Config& config) {
    nlohmann::ordered_json json = {{"model_type", "decoderscope"}};
    for (const Key& key : keys()) json[std::string(key.name)] = key.write(config);
    return json.dump(2) + "\n";
}

std::map<std::string, double, std::less<>> config_numbers(const Config& config) {
    const auto d_head = static_cast<double>(config.d_head());
    // Of keys whose 0 means “as usual”, what is usual.
    std::map<std::string, double, std::less<>> numbers = {
        {"d_head", d_head},
        {"head_dim", d_head},
        {"v_head_dim", static_cast<double>(config.value_width())},
        {"attention_scale", config.attention_scale > 0.0 ? config.attention_scale : 1.0 / std::sqrt(d_head)},
        {"eps", config.layer_norm_eps},
        // The largest relative error of one rounding.
        {"unit_roundoff", ulp_at(1.0, config.arithmetic) / 2.0},
        {"mask_value", static_cast<double>(config.mask_value)}};
    for (const Key& key : keys()) {
        const Json value = key.write(config);
        if (value.is_boolean()) numbers.try_emplace(std::string(key.name), value.get<bool>() ? 1.0 : 0.0);
        if (value.is_number()) numbers.try_emplace(std::string(key.name), value.get<double>());
    }
    return numbers;
}

Overrides config_values(const Config& config) {
    Overrides values;
    for (const Key& key : keys()) {
        const Json value = key.write(config);
        values.emplace_back(key.name, value.is_string() ? value.get<std::string>() : value.dump());
    }
    return values;
}

std::vector<ConfigKey> config_keys() {
    std::vector<ConfigKey> all;
    for (const Key& key : keys())
        all.push_back({std::string(key.name), key.values, key.has_others, key.write(Config()).is_number_float()});
    return all;
}

}  // namespace decoderscope

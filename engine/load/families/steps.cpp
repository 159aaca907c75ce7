#include "engine/load/families/reading.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

// What entries of assets/tables/families.json ask for by name.
namespace decoderscope::load::families {

namespace {

using Layers = std::function<bool(Index)>;

// The layers for which it is true.
OrderedJson layers_with(const Reading& r, const Layers& is) {
    OrderedJson found = OrderedJson::array();
    for (Index layer = 0; layer < r.ours("num_layers"); ++layer)
        if (is(layer)) found.push_back(layer);
    return found;
}

// Puts the layers into our configuration, unless they are all.
void put_some(Reading& r, const char* key, const OrderedJson& layers) {
    if (static_cast<Index>(layers.size()) < r.ours("num_layers")) r.config[key] = layers;
}

Sentence one_for_each(const Reading& r) {
    return message("one for each of the {count} blocks", {{"count", r.ours("num_layers")}});
}

// Which parts have a bias: each true, or the flag that says so.
void biases(Reading& r, const OrderedJson& with) {
    static const std::vector<std::pair<std::string, std::vector<const char*>>> kParts = {
        {"qkv", {"q_proj", "k_proj", "v_proj"}},
        {"out", {"o_proj"}},
        {"mlp", {"up_proj", "gate_proj", "down_proj"}},
        {"head", {"lm_head"}},
        {"latent", {"q_down_proj", "kv_down_proj"}},
        {"latent_up", {"q_up_proj", "k_up_proj", "v_up_proj"}},
        {"router", {"router"}},
        {"norms", {"norm1", "norm1_post", "norm2", "norm2_post", "norm3", "norm3_post", "norm", "embed_norm"}}};
    std::set<std::string> biased;
    for (const auto& [part, rule] : with.items())
        if (rule.is_string() ? r.flag(rule) : r.value(rule).get<bool>()) biased.insert(part);
    r.config["bias"] = !biased.empty();
    if (biased.empty()) return;
    for (const auto& [part, names] : kParts) {
        const bool there = part.starts_with("latent") ? r.config.contains("kv_lora_rank")
                                                      : part != "router" || r.config.contains("experts");
        if (there && !biased.contains(part))
            r.family.unbiased.insert(r.family.unbiased.end(), names.begin(), names.end());
    }
}

// ---- heads

// Latent attention, whose heads are as wide as the columns that RoPE turns and those that it leaves.
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
}

// head_dim, if it is not d_model / nhead; 0: that is the default.
void heads(Reading& r, const OrderedJson& with) {
    if (with == "latent") return latent_attention(r);
    const Index usual = r.ours("d_model") / r.ours("nhead"), otherwise = with.get<Index>();
    const Index width = r.keys.size("head_dim", otherwise > 0 ? otherwise : usual);
    const bool uneven = r.ours("d_model") % r.ours("nhead") != 0;
    if (width != usual || (uneven && r.keys.has("head_dim"))) r.config["head_dim"] = width;
}

// YaRN's mscale_all_dim also sharpens the scores.
void scores_of_yarn(Reading& r, const OrderedJson& /*with*/) {
    FamilyKeys scaled = r.keys.object("rope_scaling"), parameters = r.keys.object("rope_parameters");
    FamilyKeys& object = scaled.has("mscale_all_dim") ? scaled : parameters;
    const double of_all = object.number("mscale_all_dim", 0.0);
    if (r.config.value("rope_scaling", "none") != "yarn" || of_all == 0.0) return;
    const double factor = r.config["rope_factor"].get<double>();
    const double by = factor > 1.0 ? 0.1 * of_all * std::log(factor) + 1.0 : 1.0;
    r.config["attention_scale"] = by * by / std::sqrt(r.config["head_dim"].get<double>());
}

// One key and value for all heads, for a group of them, or for each, and one sum of attention and MLP.
void groups_of_falcon(Reading& r, const OrderedJson& /*with*/) {
    FamilyKeys& keys = r.keys;
    const bool later = r.flag("new_decoder_architecture"), multi_query = keys.flag("multi_query", true);
    const bool parallel = keys.flag("parallel_attn", true) || later;
    const Index all = r.ours("nhead"), given = keys.size({"num_kv_heads", "n_head_kv"}, all);
    const Index norms = keys.size("num_ln_in_parallel_attn", 2);
    r.config["num_key_value_heads"] = later ? given : multi_query ? 1 : all;
    if (parallel) r.config["parallel_residual"] = later && norms == 2 ? "two_norms" : "one_norm";
    r.family.names = {{"qkv_order", later || multi_query ? "by_group" : "by_head"}};
}

// ---- layers

constexpr const char* kLayerTypes = "full_attention, sliding_attention";  // not a message: the key's words

// The blocks that layer_types names, or without it those for which `slides` is true, see this many positions; with a
// window of 0 none is limited.
void sliding_window(Reading& r, Index width, const Layers& slides) {
    const std::vector<std::string> types = r.keys.list("layer_types");
    if (!types.empty() && static_cast<Index>(types.size()) != r.ours("num_layers"))
        r.keys.fail("layer_types", one_for_each(r));
    const OrderedJson sliding = layers_with(r, [&](Index layer) {
        if (types.empty()) return width > 0 && slides(layer);
        const std::string& type = types[static_cast<std::size_t>(layer)];
        if (type != "full_attention" && type != "sliding_attention")
            r.keys.fail("layer_types",
                        message("one of {expected} for each block, not \"{type}\" as in block {layer}",
                                {{"expected", kLayerTypes}, {"type", type.substr(0, 60)}, {"layer", layer}}));
        if (type == "sliding_attention" && width == 0) r.keys.fail("sliding_window", message("a positive integer"));
        return type == "sliding_attention";
    });
    if (sliding.empty()) return;
    r.config["sliding_window"] = width;
    put_some(r, "sliding_window_layers", sliding);
}

// A window by a rule, 0: none, which the flag "if" may switch off; in the blocks "from" a number on, or in all but
// "every" n-th one.
void window(Reading& r, const OrderedJson& with) {
    if (!with.is_object()) return sliding_window(r, 0, {});
    const bool used = !with.contains("if") || r.flag(with["if"]);
    const Index width = r.size(with);
    if (with.contains("if") && !with.contains("null") && used && width == 0)
        r.keys.fail("sliding_window", message("a positive integer when use_sliding_window is on"));
    const bool by_rule = r.keys.list("layer_types").empty();
    if (!by_rule && with.contains("every") && with["every"].is_object()) r.keys.ignore(with["every"]["size"]);
    const Index from = with.contains("from") ? static_cast<Index>(r.value(with["from"]).get<double>()) : 0;
    const Index every = by_rule && with.contains("every") ? r.size(with["every"]) : 0;
    sliding_window(r, used ? width : 0,
                   [&](Index layer) { return every > 0 ? (layer + 1) % every != 0 : layer >= from; });
}

constexpr const char* kKinds = "global, local";  // not a message: the key's words

// attention_types: [[["global", "local"], 12]], each list repeated that many times; or attention_layers, the blocks one
// by one.
std::vector<std::string> attention_layers(FamilyKeys& keys, Index layers, const Sentence& one_for_each) {
    std::vector<std::string> kinds = keys.list("attention_layers"), repeated;
    const Sentence expected = message("lists of global and local, each with how often it is repeated");
    const OrderedJson types = keys.value("attention_types");
    if (!types.is_null() && !types.is_array()) keys.fail("attention_types", expected);
    for (const OrderedJson& type : types) {
        if (!type.is_array() || type.size() != 2 || !type[0].is_array() || !type[1].is_number_unsigned())
            keys.fail("attention_types", expected);
        for (Index i = 0; i < type[1].get<Index>() && static_cast<Index>(repeated.size()) <= layers; ++i)
            for (const OrderedJson& kind : type[0]) {
                if (kind != "global" && kind != "local") keys.fail("attention_types", expected);
                repeated.push_back(kind.get<std::string>());
            }
    }
    if (kinds.empty()) kinds = repeated;
    if (!repeated.empty() && kinds != repeated) keys.fail("attention_layers", message("what attention_types says"));
    const KeyNames key = repeated.empty() ? "attention_layers" : "attention_types";
    if (static_cast<Index>(kinds.size()) != layers) keys.fail(key, one_for_each);
    for (const std::string& kind : kinds)
        if (kind != "global" && kind != "local") keys.fail(key, message("one of {expected}", {{"expected", kKinds}}));
    return kinds;
}

void window_of_local_layers(Reading& r, const OrderedJson& with) {
    const std::vector<std::string> kinds = attention_layers(r.keys, r.ours("num_layers"), one_for_each(r));
    sliding_window(r, r.size(with), [&](Index layer) { return kinds[static_cast<std::size_t>(layer)] == "local"; });
}

// Not if the key that `with` names is null.
void rope_in_windows(Reading& r, const OrderedJson& with) {
    if (with.is_string() && r.keys.is_null(with.get<std::string>())) return;
    if (!r.config.contains("sliding_window"))
        r.config["positional_encoding"] = "none";
    else if (r.config.contains("sliding_window_layers"))
        r.config["rope_layers"] = r.config["sliding_window_layers"];
}

void unscaled_in_windows(Reading& r, const OrderedJson& /*with*/) {
    if (r.config.contains("rope_scaling")) r.config["rope_local_theta"] = r.config["rope_theta"];
}

// The layers that turn q and k. no_rope_layers has a number for each layer: 1 means *with* RoPE.
void some_layers_rotate(Reading& r, const OrderedJson& /*with*/) {
    const Index interval = r.keys.size("no_rope_layer_interval", 4);
    const OrderedJson said = r.keys.value("no_rope_layers");
    const bool fits = said.is_null() || (said.is_array() && static_cast<Index>(said.size()) == r.ours("num_layers") &&
                                         std::ranges::all_of(said, [](const OrderedJson& one) {
                                             return one.is_number_integer() && (one == 0 || one == 1);
                                         }));
    if (!fits)
        r.keys.fail("no_rope_layers",
                    message("0 or 1 for each of the {count} blocks", {{"count", r.ours("num_layers")}}));
    const OrderedJson turned = layers_with(r, [&](Index layer) {
        return said.is_null() ? (layer + 1) % interval != 0 : said[static_cast<std::size_t>(layer)] == 1;
    });
    if (turned.empty())
        r.config["positional_encoding"] = "none";
    else
        put_some(r, "rope_layers", turned);
}

// ---- experts

// The layers that `has_experts` says have experts; if there are none at all, the configuration belongs to another
// family.
void layers_with_experts(Reading& r, const KeyNames& by, const Layers& has_experts) {
    const OrderedJson found = layers_with(r, has_experts);
    if (found.empty()) r.keys.fail(by, message("a number that leaves some blocks with experts"));
    put_some(r, "moe_layers", found);
}

// Every decoder_sparse_step-th block, but for those of mlp_only_layers.
void sparse_layers(Reading& r, const OrderedJson& /*with*/) {
    const Index step = r.keys.size("decoder_sparse_step", 1);
    const OrderedJson said = r.keys.value("mlp_only_layers");
    if ((!said.is_null() && !said.is_array()) ||
        std::ranges::any_of(said, [](const OrderedJson& layer) { return !layer.is_number_unsigned(); }))
        r.keys.fail("mlp_only_layers", message("a list of layer numbers"));
    layers_with_experts(r, "decoder_sparse_step", [&](Index layer) {
        return std::ranges::find(said, OrderedJson(layer)) == said.end() && (layer + 1) % step == 0;
    });
}

// `with`: how many are dense if the configuration doesn't say.
void first_dense(Reading& r, const OrderedJson& with) {
    const double first = r.keys.number("first_k_dense_replace", with.get<double>());
    layers_with_experts(r, "first_k_dense_replace", [&](Index layer) { return static_cast<double>(layer) >= first; });
    // Blocks that predict several tokens ahead come after the others.
    r.family.unused_beginnings.push_back("model.layers." + std::to_string(r.ours("num_layers")) + ".");
}

void best_experts_of_v2(Reading& r, const OrderedJson& /*with*/) {
    FamilyKeys& keys = r.keys;
    const std::string method = keys.word("topk_method", "greedy");
    const Index groups = keys.size("n_group", 1), top = keys.size("topk_group", groups);
    if (method == "group_limited_greedy")
        r.config.update({{"router_groups", groups}, {"router_top_groups", top}, {"router_group_best", 1}});
    else if (method != "greedy")
        keys.fail("topk_method", message("greedy or group_limited_greedy"));
    if (r.flag("norm_topk_prob") && keys.number("routed_scaling_factor", 1.0) != 1.0)
        keys.fail("norm_topk_prob", message("false: this family's own code doesn't scale weights that it normalises, "
                                            "transformers does"));
}

void best_experts_of_v3(Reading& r, const OrderedJson& /*with*/) {
    const Index experts = r.ours("experts"), groups = r.keys.size("n_group", 1), top = r.keys.size("topk_group", 1);
    if (experts % groups != 0) r.keys.fail("n_group", message("a divisor of {number}", {{"number", experts}}));
    if (top > groups) r.keys.fail("topk_group", message("an integer from 1 to {highest}", {{"highest", groups}}));
    r.config.update({{"router_groups", groups}, {"router_top_groups", top}});
}

// ---- MLPs

// hidden_activation; if it is missing, hidden_act, and transformers has read "gelu" as gelu_pytorch_tanh in some
// versions.
void activation_of_gemma(Reading& r, const OrderedJson& /*with*/) {
    const bool said = r.keys.has("hidden_activation");
    const bool first = r.keys.word("hidden_act", "gelu_pytorch_tanh") == "gelu" && !said;
    const std::string otherwise = r.keys.activation("hidden_act", "gelu_pytorch_tanh");
    r.config["activation"] = said ? r.keys.activation("hidden_activation", "gelu") : first ? "gelu_tanh" : otherwise;
    if (first)
        r.family.questions.push_back({"activation",
                                      "gelu_tanh",
                                      {"gelu_tanh", "gelu"},
                                      false,
                                      message("hidden_act is gelu without a hidden_activation, which Gemma's first "
                                              "files mean as gelu_pytorch_tanh")});
}

constexpr const char* kForms =
    "relu, gelu, silu, gated-gelu, gated-silu, gated-relu";  // not a message: the key's words

// "relu", "gated-gelu", …; gated-gelu means the tanh form. A tied head scales the logits.
void head_and_mlp_of_t5(Reading& r, const OrderedJson& /*with*/) {
    FamilyKeys& keys = r.keys;
    if (keys.flag("scale_decoder_outputs", r.config["tie_word_embeddings"].get<bool>()))
        r.config["logit_scale"] = 1.0 / std::sqrt(r.config["d_model"].get<double>());
    const std::string kind = keys.word("feed_forward_proj", "relu");
    const bool gated = kind.starts_with("gated-");
    const std::string act = kind == "gated-gelu" ? "gelu_new" : gated ? kind.substr(6) : kind;
    if (act != "relu" && act != "gelu" && act != "gelu_new" && act != "silu")
        keys.fail("feed_forward_proj", message("one of {expected}", {{"expected", kForms}}));
    r.config["activation"] = act == "gelu_new" ? "gelu_tanh" : act;
    r.config["gated_mlp"] = gated;
    keys.expect("dense_act_fn", act, message("feed_forward_proj implies it"));
    keys.expect("is_gated_act", gated, message("feed_forward_proj implies it"));
}

// ---- a configuration in several objects

// Objects of the configuration, each by an entry of its own.
void inside(Reading& r, const OrderedJson& with) {
    for (const auto& [key, entry] : with.items()) {
        FamilyKeys keys = r.keys.object(key);
        Reading object = {keys, r.family, r.config};
        object.take(entry);
        keys.finish(r.family.model_type);
        r.config = object.config;
    }
}

// One that is another family's, and all that is read.
void half(Reading& r, const OrderedJson& with) {
    FamilyKeys keys = r.keys.configuration(with["key"], with["defaults"]);
    Reading text = {keys, r.family};
    text.take(entry_named(with["is"].get<std::string>()));
    keys.finish(r.family.model_type);
    r.config = text.config;
    r.names_of_heads = text.names_of_heads;
}

void names(Reading& r, const OrderedJson& with) {
    for (const auto& [key, answer] : with.items()) r.family.names.emplace_back(key, answer.get<std::string>());
}

template <auto member>
void settle(Reading& r, const OrderedJson& with) {
    with.get_to(r.family.*member);
}

constexpr auto kInstructions = std::to_array<std::pair<std::string_view, Instruction>>({
    {"activation_of_gemma", activation_of_gemma},
    {"best_experts_of_v2", best_experts_of_v2},
    {"best_experts_of_v3", best_experts_of_v3},
    {"biases", biases},
    {"first_dense", first_dense},
    {"groups_of_falcon", groups_of_falcon},
    {"half", half},
    {"head_and_mlp_of_t5", head_and_mlp_of_t5},
    {"heads", heads},
    {"ignore", [](Reading& r, const OrderedJson& with) { r.keys.ignore(with); }},
    {"in_out", settle<&ModelFamily::in_out>},
    {"inside", inside},
    {"makes_positions", settle<&ModelFamily::makes_positions>},
    {"names", names},
    {"rope", rope},
    {"rope_in_windows", rope_in_windows},
    {"scores_of_yarn", scores_of_yarn},
    {"some_layers_rotate", some_layers_rotate},
    {"sparse_layers", sparse_layers},
    {"unscaled_in_windows", unscaled_in_windows},
    {"unused", settle<&ModelFamily::unused>},
    {"unused_beginnings", settle<&ModelFamily::unused_beginnings>},
    {"window", window},
    {"window_of_local_layers", window_of_local_layers},
});

}  // namespace

Instruction instruction_named(std::string_view name) {
    const auto found = std::ranges::find(kInstructions, name, [](const auto& known) { return known.first; });
    return found != kInstructions.end() ? found->second : nullptr;
}

}  // namespace decoderscope::load::families

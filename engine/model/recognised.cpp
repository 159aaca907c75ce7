#include "engine/model/recognised.h"

#include "engine/error.h"
#include "engine/json.h"
#include "engine/limits.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>

namespace decoderscope {

namespace {

using Json = nlohmann::ordered_json;

// A kind of module and its known properties.
struct Module {
    Sentence name;
    bool norm_first = false;
    const char* activation = "relu";
    const char* eps = "1e-05";
    const char* norm = "layernorm";
    const char* positions = "none";
    bool tied_head = false;  // a head that is not stored is the embedding
};

bool any(const Shapes& shapes, std::string_view part) {
    return std::any_of(shapes.begin(), shapes.end(),
                       [&](const auto& entry) { return entry.first.find(part) != std::string::npos; });
}

Module gpt(Sentence name, const char* activation) {
    return {.name = std::move(name), .norm_first = true, .activation = activation, .tied_head = true};
}

Module module_of(const Shapes& stored, const StateDict& dict) {
    const auto has = [&](std::string_view part) { return any(stored, part); };
    if (has(".c_attn.") && dict.conv1d) return gpt(message("Hugging Face GPT-2"), "gelu_tanh");
    if (has(".c_attn.")) return gpt(message("minGPT or nanoGPT"), "gelu");
    if (dict.heads > 0) return {message("a GPT with one matrix a head"), true, "relu"};
    if (has("embed_tokens") && has("post_attention_layernorm"))
        return {message("Hugging Face Llama"), true, "silu", "1e-06", "rmsnorm", "rope", true};
    if (has("in_proj_weight") && has("multihead_attn")) return {Sentence::verbatim("torch.nn.TransformerDecoder")};
    if (has("in_proj_weight")) return {Sentence::verbatim("torch.nn.TransformerEncoder")};
    if (has("layernorm_att"))
        return {has("layer_list") ? message("Decoder, a stack of SimpleDecoder") : Sentence::verbatim("SimpleDecoder")};
    if (has("enc_dec_attn")) return {Sentence::verbatim("DecoderLayer")};
    if (has("cross_attn") && has("ffn.0."))
        return {Sentence::verbatim(has("layers.") ? "TransformerDecoder" : "TransformerDecoderBlock"), true};
    if (has("ln_f.") || has("ln_1.") || has("ln1.")) return {message("a GPT"), true, "gelu"};
    if (has("gate_proj")) return {message("a decoder with a gated MLP"), true, "silu", "1e-06", "rmsnorm"};
    return {message("a decoder")};
}

// ---- what shapes say

Index rows_of(const Shapes& shapes, const std::string& name) {
    const auto found = shapes.find(name);
    return found != shapes.end() && !found->second.empty() ? found->second[0] : 0;
}

Index columns_of(const Shapes& shapes, const std::string& name) {
    const auto found = shapes.find(name);
    return found != shapes.end() && found->second.size() == 2 ? found->second[1] : 0;
}

Index count_layers(const Shapes& shapes, const std::string& prefix) {
    Index layers = 0;
    while (shapes.contains(prefix + "layers." + std::to_string(layers) + ".self_attn.q_proj.weight")) ++layers;
    return layers;
}

bool is_projection(std::string_view name) { return name.ends_with("_proj.weight") || name == "lm_head.weight"; }

bool is_norm(std::string_view name) {
    const std::size_t at = name.rfind("norm");
    return at != std::string_view::npos && name.ends_with(".weight") && name.substr(at).size() <= 12;
}

std::string bias_of(const std::string& weight) {
    return weight.substr(0, weight.size() - std::string_view("weight").size()) + "bias";
}

// Whether any of these parameters has a bias.
template <class Is>
bool has_bias(const Shapes& shapes, Is is) {
    return std::any_of(shapes.begin(), shapes.end(),
                       [&](const auto& entry) { return is(entry.first) && shapes.contains(bias_of(entry.first)); });
}

// Zero biases compute the same as none.
void add_zero_biases(Shapes& shapes, bool norms) {
    Shapes zeros;
    for (const auto& [name, shape] : shapes)
        if ((is_projection(name) || (norms && is_norm(name))) && !shape.empty() && !shapes.contains(bias_of(name)))
            zeros.emplace(bias_of(name), std::vector<Index>{shape[0]});
    shapes.merge(zeros);
}

// ---- what is asked

std::vector<std::string> head_counts(Index d_model, Index queries_per_key, bool rope) {
    std::vector<std::string> counts;
    for (Index heads = queries_per_key; heads <= d_model; heads += queries_per_key)
        if (d_model % heads == 0 && (!rope || d_model / heads % 2 == 0)) counts.push_back(std::to_string(heads));
    return counts;
}

// 64 columns a head, as GPT-2, BERT and Llama have them, or as near as possible.
std::string likely_heads(Index d_model, const std::vector<std::string>& counts) {
    std::string best;
    Index nearest = 0;
    for (const std::string& count : counts) {
        const Index distance = std::abs(d_model / std::atoll(count.c_str()) - 64);
        if (best.empty() || distance < nearest) {
            best = count;
            nearest = distance;
        }
    }
    return best;
}

const char* text(bool value) { return value ? "true" : "false"; }

class Recogniser {
public:
    Recogniser(const Shapes& stored, StateDict& dict)
        : stored_(stored), dict_(dict), shapes_(dict.shapes), module_(module_of(stored, dict)) {
        result_.module = module_.name;
    }

    Recognised take() {
        sizes();
        norms_and_biases();
        vocabulary();
        heads();
        for (const Question& question : result_.questions)
            if (!question.required) config_[question.key] = value_of(question);
        result_.config_json = config_.dump(2);
        return std::move(result_);
    }

private:
    static Json value_of(const Question& question) {
        const Json parsed = Json::parse(question.proposal, nullptr, false);
        return parsed.is_discarded() ? Json(question.proposal) : parsed;
    }

    void fact(const std::string& key, const Json& value) {
        config_[key] = value;
        result_.facts.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
    }
    void ask(Question question) { result_.questions.push_back(std::move(question)); }
    void ask_whether(const char* key, bool proposal, Sentence why) {
        ask({key, text(proposal), {"true", "false"}, false, std::move(why)});
    }
    [[nodiscard]] bool has(const std::string& name) const { return shapes_.contains(name); }

    void sizes() {
        d_model_ = columns_of(shapes_, "layers.0.self_attn.q_proj.weight");
        if (d_model_ < 1 || d_model_ > limits::kSize)
            throw Error(
                "its tensors are not a decoder's: expected a query projection such as "
                "layers.0.self_attn.q_proj.weight [d_model, d_model], found {tensors}",
                {{"tensors", stored_.empty() ? Sentence(message("no tensor at all"))
                                             : message("{first} and the like", {{"first", stored_.begin()->first}})}});
        fact("d_model", d_model_);
        if (const Index layers = count_layers(shapes_, ""); layers > 0) fact("num_layers", layers);
        fact("dim_feedforward", rows_of(shapes_, "layers.0.up_proj.weight"));
        if (has("layers.0.gate_proj.weight")) fact("gated_mlp", true);
        fact("cross_attention", has("layers.0.cross_attn.q_proj.weight"));
        if (const Index layers = count_layers(shapes_, "encoder."); layers > 0) fact("encoder_layers", layers);
    }

    void norms_and_biases() {
        const bool norm_biases = has_bias(shapes_, is_norm);
        const bool biases = norm_biases || has_bias(shapes_, is_projection);
        fact("bias", biases);
        fact("final_norm", has("norm.weight"));
        if (norm_biases)
            fact("norm", "layernorm");
        else
            ask({"norm",
                 module_.norm,
                 {"layernorm", "rmsnorm"},
                 false,
                 message("no norm has a bias: it may be either")});
        ask_whether("norm_first", module_.norm_first, message("true: Pre-Norm, false: Post-Norm"));
        ask({"layer_norm_eps", module_.eps, {}, false, message("what the norms add to the variance")});
        if (rows_of(shapes_, "layers.0.up_proj.weight") > 0)
            ask({"activation",
                 module_.activation,
                 {"relu", "gelu", "gelu_tanh", "silu"},
                 false,
                 message("of the MLP")});
        ask_whether("causal", true, message("whether a query sees only what came before"));
        if (biases) add_zero_biases(dict_.shapes, norm_biases || std::string_view(module_.norm) == "layernorm");
    }

    void vocabulary() {
        const Index words = rows_of(shapes_, "embed.weight");
        fact("vocab_size", words);
        if (const Index rows = rows_of(shapes_, "encoder.embed.weight"); rows > 0) fact("encoder_vocab_size", rows);
        if (const Index rows = rows_of(shapes_, "pos_embed.weight"); rows > 0) {
            fact("positional_encoding", "learned");
            fact("max_positions", rows);
        } else {
            const bool code = any(stored_, ".pe") || stored_.contains("pe");
            ask({"positional_encoding",
                 code ? "sinusoidal" : module_.positions,
                 {"none", "sinusoidal", "rope"},
                 false,
                 message("no table of positions is stored")});
            if (std::string_view(module_.positions) == "rope")
                ask({"rope_theta", "10000", {}, false, message("the base of RoPE's frequencies")});
        }
        if (has("lm_head.weight"))
            fact("lm_head", true);
        else if (words > 0)
            ask_whether("lm_head", module_.tied_head,
                        message("none is stored; true: the embedding serves as the head"));
        if (words > 0 && !has("lm_head.weight")) config_["tie_word_embeddings"] = true;
        if (words > 0) ask_whether("scale_embedding", false, message("the embedding times √d_model"));
    }

    void heads() {
        const Index keys = rows_of(shapes_, "layers.0.self_attn.k_proj.weight");
        if (keys > 0 && d_model_ % keys == 0) result_.queries_per_key = d_model_ / keys;
        if (dict_.heads > 0) return fact("nhead", dict_.heads);
        const bool rope = std::string_view(module_.positions) == "rope";
        const std::vector<std::string> counts = head_counts(d_model_, result_.queries_per_key, rope);
        const std::string likely = likely_heads(d_model_, counts);
        const bool usual = !likely.empty() && d_model_ / std::atoll(likely.c_str()) == 64;
        result_.questions.insert(result_.questions.begin(), {"nhead", likely, counts, true,
                                                             usual ? message("a guess: heads of 64 columns are usual")
                                                                   : message("a guess: no shape tells how many")});
    }

    const Shapes& stored_;
    StateDict& dict_;
    const Shapes shapes_;  // as stored, without the added zeros
    Module module_;
    Recognised result_;
    Json config_ = {{"model_type", "decoderscope"}};
    Index d_model_ = 0;
};

bool answered(const Overrides& answers, const std::string& key) {
    return std::any_of(answers.begin(), answers.end(), [&](const auto& answer) { return answer.first == key; });
}

std::string listed(const std::vector<std::string>& choices) {
    std::string list;
    for (const std::string& choice : choices) list += (list.empty() ? "" : ", ") + choice;
    return list;
}

}  // namespace

Recognised recognise(const Shapes& stored, StateDict& state_dict) { return Recogniser(stored, state_dict).take(); }

std::string taken_unasked(const Recognised& recognised, const Overrides& answers) {
    std::string taken;
    for (const Question& question : recognised.questions)
        if (!question.required && !answered(answers, question.key))
            taken += (taken.empty() ? "" : ", ") + question.key + "=" + question.proposal;
    return taken;
}

std::string answered_config(const Recognised& recognised, const Overrides& answers) {
    Json config = Json::parse(recognised.config_json);
    for (const Question& question : recognised.questions) {
        if (!question.required || answered(answers, question.key)) continue;
        const std::string also = taken_unasked(recognised, answers);
        const Arguments named = {{"key", question.key},
                                 {"module", recognised.module},
                                 {"choices", listed(question.choices)},
                                 {"also", also}};
        if (also.empty())
            throw Error(
                "{key}: not said by the tensors, which look like {module}; expected --set {key}=N with N one of "
                "{choices}",
                named);
        throw Error(
            "{key}: not said by the tensors, which look like {module}; expected --set {key}=N with N one of {choices}; "
            "also taken unless --set says otherwise: {also}",
            named);
    }
    if (recognised.queries_per_key == 1) return config.dump(2);
    // How many queries share a key is known; either head count determines the other.
    for (const auto& [key, value] : answers)
        if (key == "nhead" && !answered(answers, "num_key_value_heads"))
            config["num_key_value_heads"] = std::atoll(value.c_str()) / recognised.queries_per_key;
    return config.dump(2);
}

}  // namespace decoderscope

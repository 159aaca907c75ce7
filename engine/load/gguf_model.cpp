#include "engine/load/gguf_model.h"

#include "engine/base/error.h"
#include "engine/base/tables.h"
#include "engine/load/families/reading.h"
#include "engine/load/names/modules.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace decoderscope::load {

namespace {

using families::FamilyKeys;

// An architecture's name, and what assets/tables/names.json says of how its tensors lie: RoPE turns "neighbours", q's
// and k's rows standing accordingly; "norms_behind" each sublayer; ffn_up with a "fused_gate", whose rows come first.
struct GgufArchitecture {
    std::string name;
    OrderedJson entry;
    [[nodiscard]] bool is(const char* what) const { return entry.value(what, false); }
};

GgufArchitecture architecture_of(const Json& metadata) {
    const auto said = metadata.find("general.architecture");
    const std::string name = said != metadata.end() && said->is_string() ? said->get<std::string>() : std::string();
    const OrderedJson& known = asset_table("names")["gguf"]["architectures"];
    if (known.contains(name)) return {name, known[name]};
    std::string read;
    for (const auto& [one, is] : known.items()) read += (read.empty() ? "" : ", ") + one;
    throw Error("general.architecture: {found}, expected one of {architectures}",
                {{"found", "\"" + name.substr(0, 60) + "\""}, {"architectures", read}});
}

// The metadata's keys that begin with the architecture's name, without it.
FamilyKeys keys_of(const Json& metadata, std::string_view architecture) {
    const std::string beginning = std::string(architecture) + ".";
    OrderedJson own = OrderedJson::object();
    for (const auto& [key, value] : metadata.items())
        if (key.starts_with(beginning)) own[key.substr(beginning.size())] = value;
    return FamilyKeys(std::move(own), std::string(architecture));
}

// ---- the configuration

class MetadataReader {
public:
    explicit MetadataReader(const GgufFile& file)
        : file_(file), is_(architecture_of(file.metadata())), keys_(keys_of(file.metadata(), is_.name)) {}

    families::ModelFamily take() {
        const auto embedding = file_.entries().find("token_embd.weight");
        if (embedding == file_.entries().end() || embedding->second.shape.size() != 2)
            throw Error("token_embd.weight: missing, expected a matrix, [vocabulary, embedding]");
        families::Reading reading = {keys_, family_};
        reading.take(families::entry_named("gguf:" + is_.name));
        config_ = std::move(reading.config);
        config_["vocab_size"] = embedding->second.shape[0];
        config_["tie_word_embeddings"] = !has("output.weight");
        attention();
        if (config_["positional_encoding"] == "rope") rope();
        experts();
        biases();
        keys_.finish(is_.name);
        family_.model_type = is_.name;
        family_.config_json = config_.dump(2);
        return std::move(family_);
    }

private:
    [[nodiscard]] bool has(const std::string& tensor) const { return file_.entries().contains(tensor); }
    [[nodiscard]] Index ours(const char* key) const { return config_[key].get<Index>(); }

    void attention() {
        const Index width = ours("d_model"), heads = ours("nhead");
        if (!keys_.has("attention.key_length") && width % heads != 0)
            keys_.fail("attention.head_count", message("a divisor of {number}", {{"number", width}}));
        head_ = keys_.size("attention.key_length", width / heads);
        keys_.expect("attention.value_length", head_, message("values are as wide as keys"));
        if (width % heads != 0 || head_ != width / heads) config_["head_dim"] = head_;
        if (has("blk.0.attn_q_norm.weight")) config_["qk_norm"] = true;
        // Gemma's largest model scales scores by d_model / nhead.
        if (is_.entry.value("layers_of_largest", Index{0}) == ours("num_layers"))
            config_["attention_scale"] = 1.0 / std::sqrt(static_cast<double>(width) / static_cast<double>(heads));
    }

    // All numbers of a small tensor.
    [[nodiscard]] OrderedJson numbers_of(const std::string& tensor) const {
        OrderedJson numbers = OrderedJson::array();
        const Tensor values = file_.floats(tensor);
        for (const float value : values.values()) numbers.push_back(value);
        return numbers;
    }

    void rope() {
        const Index columns = keys_.size("rope.dimension_count", head_);
        if (columns != head_) config_["rotary_dim"] = columns;
        const std::string kind = keys_.word("rope.scaling.type", "none");
        const Index original = keys_.size("rope.scaling.original_context_length", 0);
        const double factor = keys_.positive({"rope.scaling.factor", "rope.scale_linear"}, 1.0);
        const double attention = keys_.number("rope.scaling.attn_factor", 0.0);
        if (has("rope_freqs.weight") || has("rope_factors_long.weight")) {
            by_factors(original, attention);
        } else if (kind == "yarn") {
            yarn(factor, original);
        } else if (kind == "linear" || (kind == "none" && factor != 1.0)) {
            config_["rope_scaling"] = "linear";
            config_["rope_factor"] = factor;
        } else if (kind != "none") {
            keys_.fail("rope.scaling.type", message("one of {expected}", {{"expected", "none | linear | yarn"}}));
        }
    }

    // Each frequency has a divisor: Llama 3's, the same for all texts, or Phi-3's for short and for long ones.
    void by_factors(Index original, double attention) {
        const bool one = has("rope_freqs.weight");
        config_["rope_scaling"] = "longrope";
        config_["rope_original_positions"] = original > 0 ? OrderedJson(original) : config_["max_positions"];
        config_["rope_long_factors"] = numbers_of(one ? "rope_freqs.weight" : "rope_factors_long.weight");
        config_["rope_short_factors"] = numbers_of(one ? "rope_freqs.weight" : "rope_factors_short.weight");
        config_["rope_attention_factor"] = attention > 0.0 ? attention : 1.0;
    }

    void yarn(double factor, Index original) {
        if (original == 0) keys_.fail("rope.scaling.original_context_length", message("a positive integer"));
        config_["rope_scaling"] = "yarn";
        config_["rope_factor"] = factor;
        config_["rope_original_positions"] = original;
        config_["rope_beta_fast"] = keys_.positive("rope.scaling.yarn_beta_fast", 32.0);
        config_["rope_beta_slow"] = keys_.positive("rope.scaling.yarn_beta_slow", 1.0);
        config_["rope_truncate"] = is_.name != "gpt-oss";
        keys_.expect("rope.scaling.attn_factor", 1.0, message("cos and sin are multiplied by YaRN's own factor"));
    }

    void experts() {
        const Index experts = keys_.size("expert_count", 0);
        if (experts == 0) return;
        config_["experts"] = experts;
        config_["experts_per_token"] = keys_.size("expert_used_count");
        config_["expert_dim_feedforward"] = keys_.size("expert_feed_forward_length", ours("dim_feedforward"));
        config_["router_normalize"] = true;
    }

    // Parts without a bias although others have one.
    void biases() {
        const bool any = std::ranges::any_of(
            file_.entries(), [](const auto& entry) { return std::string_view(entry.first).ends_with(".bias"); });
        config_["bias"] = any;
        if (!any) return;
        const bool fused = has("blk.0.attn_qkv.bias");
        const auto without = [&](bool biased, std::initializer_list<const char*> parts) {
            if (!biased) family_.unbiased.insert(family_.unbiased.end(), parts.begin(), parts.end());
        };
        without(fused || has("blk.0.attn_q.bias"), {"q_proj"});
        without(fused || has("blk.0.attn_k.bias"), {"k_proj"});
        without(fused || has("blk.0.attn_v.bias"), {"v_proj"});
        without(has("blk.0.attn_output.bias"), {"o_proj"});
        const bool mlp = has("blk.0.ffn_up.bias") || has("blk.0.ffn_up_exps.bias");
        without(mlp, {"up_proj", "gate_proj", "down_proj"});
        without(has("blk.0.ffn_gate_inp.bias"), {"router"});
        without(has("output.bias"), {"lm_head"});
    }

    const GgufFile& file_;
    const GgufArchitecture is_;
    FamilyKeys keys_;
    families::ModelFamily family_;
    OrderedJson config_;
    Index head_ = 0;  // how wide a head is
};

// ---- tensors

// A block's tensors: ours by theirs.
std::optional<names::Target> target_in_block(const std::string& name, const GgufArchitecture& is) {
    if (name == "post_attention_norm") return names::Target{is.is("norms_behind") ? "norm1_post" : "norm2"};
    if (name == "ffn_up" && is.is("fused_gate")) return names::Target{"{gate,up}_proj"};
    const bool turns = is.is("neighbours") && (name == "attn_q" || name == "attn_k");
    const OrderedJson& known = asset_table("names")["gguf"]["block"];
    if (!known.contains(name)) return std::nullopt;
    return names::Target{known[name], turns ? names::RowLayout::halves_in_turn : names::RowLayout::as_stored};
}

std::vector<names::Target> targets_of(const std::string& name, const GgufArchitecture& is) {
    const OrderedJson& known = asset_table("names")["gguf"];
    if (std::ranges::find(known["read"], OrderedJson(name)) != known["read"].end()) return {};
    const names::Path path = names::split(name);
    const std::string& ending = path.back();
    if (ending == "weight" || ending == "bias") {
        if (path.size() == 2)
            if (const auto found = known["outside"].find(path[0]); found != known["outside"].end())
                return {{found->get<std::string>() + "." + ending}};
        if (path.size() == 4 && path[0] == "blk" && names::number(path[1]) >= 0) {
            const std::string layer = "layers." + path[1] + ".";
            if (path[2] == "attn_sinks") return {{layer + "self_attn.sinks"}};
            if (auto target = target_in_block(path[2], is)) {
                target->name = layer + target->name + "." + ending;
                return {*target};
            }
        }
    }
    throw Error("{name}: a tensor that {architecture} isn't known to have; expected none that may change the numbers",
                {{"name", name}, {"architecture", is.name}});
}

// ---- the tokenizer

enum class TokenType { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

struct Token {
    std::string text;
    TokenType type = TokenType::normal;
    double score = 0.0;
};

// A text or a flag of the metadata; `otherwise` if there is none.
std::string text_in(const Json& metadata, const char* key, const char* otherwise) {
    const auto found = metadata.find(key);
    return found != metadata.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

bool flag_in(const Json& metadata, const char* key, bool otherwise) {
    const auto found = metadata.find(key);
    return found != metadata.end() && found->is_boolean() ? found->get<bool>() : otherwise;
}

std::vector<Token> tokens_in(const Json& metadata) {
    std::vector<Token> tokens;
    const auto texts = metadata.find("tokenizer.ggml.tokens");
    if (texts == metadata.end() || !texts->is_array()) return tokens;
    const auto at = [&](const char* key, std::size_t i) {
        const auto list = metadata.find(key);
        const bool there = list != metadata.end() && list->is_array() && i < list->size() && (*list)[i].is_number();
        return there ? (*list)[i].get<double>() : 0.0;
    };
    for (std::size_t i = 0; i < texts->size(); ++i) {
        if (!(*texts)[i].is_string()) throw Error("tokenizer.ggml.tokens: expected a list of texts");
        const double type = at("tokenizer.ggml.token_type", i);
        const bool known = type >= 1.0 && type <= 6.0;
        tokens.push_back({(*texts)[i].get<std::string>(),
                          known ? static_cast<TokenType>(static_cast<int>(type)) : TokenType::normal,
                          at("tokenizer.ggml.scores", i)});
    }
    return tokens;
}

// A token that is cut out of a text before anything else.
bool is_added(const Token& token) { return token.type == TokenType::control || token.type == TokenType::user_defined; }

Json added_tokens(const std::vector<Token>& tokens) {
    Json added = Json::array();
    for (std::size_t id = 0; id < tokens.size(); ++id) {
        const bool unknown = tokens[id].type == TokenType::unknown;
        if (!is_added(tokens[id]) && !unknown) continue;
        added.push_back({{"id", id},
                         {"content", tokens[id].text},
                         {"single_word", false},
                         {"lstrip", false},
                         {"rstrip", false},
                         {"normalized", false},
                         {"special", tokens[id].type != TokenType::user_defined}});
    }
    return added;
}

Json vocabulary_of(const std::vector<Token>& tokens) {
    Json vocabulary = Json::object();
    for (std::size_t id = 0; id < tokens.size(); ++id)
        if (!is_added(tokens[id])) vocabulary[tokens[id].text] = id;
    return vocabulary;
}

constexpr const char* kSequence = "Sequence";  // not a message: tokenizer.json's

const OrderedJson& tokenizer_table() { return asset_table("gguf_tokenizers"); }

// Byte-level BPE with merges. How a text is split before, "tokenizer.ggml.pre" says by the name that llama.cpp has for
// it.
Json byte_level(const Json& metadata, const std::vector<Token>& tokens) {
    const std::string pre = text_in(metadata, "tokenizer.ggml.pre", "gpt-2");
    const auto merges = metadata.find("tokenizer.ggml.merges");
    Json json = tokenizer_table()["byte_level"];
    if (pre == "qwen2") json["normalizer"] = {{"type", "NFC"}};
    if (const auto known = tokenizer_table()["patterns"].find(pre); known != tokenizer_table()["patterns"].end()) {
        json["pre_tokenizer"] = tokenizer_table()["split"];
        json["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = *known;  // not a message: tokenizer.json's
    } else if (pre != "gpt-2" && pre != "gpt2") {
        json["pre_tokenizer"] = {{"type", "tokenizer.ggml.pre = " + pre}};
    }
    json["model"]["ignore_merges"] = pre.starts_with("llama");
    json["model"]["vocab"] = vocabulary_of(tokens);
    json["model"]["merges"] = merges != metadata.end() ? Json(*merges) : Json::array();
    return json;
}

// Where a UTF-8 character begins.
bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

// The merges that scores stand for: of each token every pair of tokens that it can be joined from, the best score
// first.
Json merges_by_score(const std::vector<Token>& tokens) {
    std::map<std::string_view, std::size_t> ids;
    std::vector<std::size_t> order;
    for (std::size_t id = 0; id < tokens.size(); ++id)
        if (tokens[id].type == TokenType::normal) {
            ids.emplace(tokens[id].text, id);
            order.push_back(id);
        }
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return tokens[a].score > tokens[b].score; });
    Json merges = Json::array();
    for (const std::size_t id : order) {
        const std::string_view text = tokens[id].text;
        for (std::size_t at = 1; at < text.size(); ++at)
            if (begins_character(text[at]) && ids.contains(text.substr(0, at)) && ids.contains(text.substr(at)))
                merges.push_back({text.substr(0, at), text.substr(at)});
    }
    return merges;
}

// SentencePiece's BPE, whose merges are scores.
Json by_scores(const Json& metadata, const std::vector<Token>& tokens) {
    Json json = tokenizer_table()["by_scores"];
    if (!flag_in(metadata, "tokenizer.ggml.add_space_prefix", true)) {
        json["normalizer"]["normalizers"].erase(0);
        json["decoder"]["decoders"].erase(3);
    }
    Json& model = json["model"];
    model["unk_token"] = nullptr;
    for (const Token& token : tokens)
        if (token.type == TokenType::unknown) model["unk_token"] = token.text;
    model["vocab"] = vocabulary_of(tokens);
    model["merges"] = merges_by_score(tokens);
    return json;
}

// What comes before and after a text.
Json around(const Json& metadata, const std::vector<Token>& tokens, bool usually_begins) {
    Json single = Json::array(), special = Json::object();
    const auto add = [&](const char* whether, const char* which, bool usual) {
        const auto id = metadata.find(which);
        if (!flag_in(metadata, whether, usual) || id == metadata.end() || !id->is_number_unsigned()) return;
        const auto at = id->get<std::size_t>();
        if (at >= tokens.size()) return;
        const std::string& text = tokens[at].text;
        single.push_back({{"SpecialToken", {{"id", text}, {"type_id", 0}}}});
        special[text] = {{"id", text}, {"ids", {at}}, {"tokens", {text}}};
    };
    add("tokenizer.ggml.add_bos_token", "tokenizer.ggml.bos_token_id", usually_begins);
    single.push_back({{kSequence, {{"id", "A"}, {"type_id", 0}}}});
    add("tokenizer.ggml.add_eos_token", "tokenizer.ggml.eos_token_id", false);
    if (special.empty()) return {};
    return {{"type", "TemplateProcessing"}, {"single", single}, {"pair", Json::array()}, {"special_tokens", special}};
}

}  // namespace

GgufModel read_gguf_model(const GgufFile& file) {
    const GgufArchitecture is = architecture_of(file.metadata());
    GgufModel model = {MetadataReader(file).take(), {}};
    for (const auto& [name, tensor] : file.entries()) model.mapping[name] = targets_of(name, is);
    return model;
}

Json tokenizer_of_gguf(const Json& metadata) {
    const std::vector<Token> tokens = tokens_in(metadata);
    if (tokens.empty()) return {};
    const std::string kind = text_in(metadata, "tokenizer.ggml.model", "");
    // If the file doesn't say how a text is joined, tokens are only labelled.
    const char* needed = kind == "gpt2" ? "tokenizer.ggml.merges" : "tokenizer.ggml.scores";
    const auto found = metadata.find(needed);
    const bool joins = found != metadata.end() && found->is_array();
    Json json;
    if (kind == "gpt2" && joins)
        json = byte_level(metadata, tokens);
    else if (kind == "llama" && joins)
        json = by_scores(metadata, tokens);
    else if (kind == "gpt2" || kind == "llama")
        json = {{"model", {{"type", kind + " without " + needed}, {"vocab", vocabulary_of(tokens)}}}};
    else
        json = {{"model", {{"type", kind}, {"vocab", vocabulary_of(tokens)}}}};
    const std::string pre = text_in(metadata, "tokenizer.ggml.pre", "");
    json["added_tokens"] = added_tokens(tokens);
    json["post_processor"] = around(metadata, tokens, kind == "llama" || pre.starts_with("llama"));
    return json;
}

}  // namespace decoderscope::load

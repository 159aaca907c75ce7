#include "engine/load/gguf_model.h"

#include "engine/base/error.h"
#include "engine/base/tables.h"
#include "engine/load/families/reading.h"
#include "engine/load/names/modules.h"

#include <algorithm>
#include <cmath>
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

}  // namespace

GgufModel read_gguf_model(const GgufFile& file) {
    const GgufArchitecture is = architecture_of(file.metadata());
    GgufModel model = {MetadataReader(file).take(), {}};
    for (const auto& [name, tensor] : file.entries()) model.mapping[name] = targets_of(name, is);
    return model;
}

}  // namespace decoderscope::load

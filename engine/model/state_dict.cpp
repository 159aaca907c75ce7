#include "engine/model/state_dict.h"

#include "engine/error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope {

namespace {

using Path = std::vector<std::string>;  // a name's components: "layers", "0", "self_attn", …
using Names = std::vector<std::pair<std::string_view, std::string_view>>;

Path split(std::string_view name) {
    Path path;
    for (std::size_t start = 0; start <= name.size();) {
        const std::size_t point = std::min(name.find('.', start), name.size());
        path.emplace_back(name.substr(start, point - start));
        start = point + 1;
    }
    return path;
}

std::string join(const Path& path) {
    std::string name;
    for (const std::string& part : path) name += (name.empty() ? "" : ".") + part;
    return name;
}

std::optional<std::string> lookup(const Names& names, std::string_view word) {
    const auto found = std::find_if(names.begin(), names.end(), [&](const auto& pair) { return pair.first == word; });
    if (found == names.end()) return std::nullopt;
    return std::string(found->second);
}

bool is_number(const std::string& text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// ---- the names that modules go by

const Names& top_names() {
    static const Names names = {{"embed", "embed"},         {"emb", "embed"},       {"wte", "embed"},
                                {"embed_tokens", "embed"},  {"embedding", "embed"}, {"tok_emb", "embed"},
                                {"pos_embed", "pos_embed"}, {"wpe", "pos_embed"},   {"pos_emb", "pos_embed"},
                                {"norm", "norm"},           {"ln_f", "norm"},       {"lm_head", "lm_head"},
                                {"out", "lm_head"}};
    return names;
}

const Names& attention_names() {
    static const Names names = {{"self_attn", "self_attn"},       {"attn", "self_attn"},
                                {"cross_attn", "cross_attn"},     {"enc_dec_attn", "cross_attn"},
                                {"multihead_attn", "cross_attn"}, {"encoder_attn", "cross_attn"}};
    return names;
}

const Names& projection_names() {
    static const Names names = {
        {"q_proj", "q_proj"},   {"k_proj", "k_proj"}, {"v_proj", "v_proj"}, {"o_proj", "o_proj"}, {"W_q", "q_proj"},
        {"W_k", "k_proj"},      {"W_v", "v_proj"},    {"W_o", "o_proj"},    {"w_q", "q_proj"},    {"w_k", "k_proj"},
        {"w_v", "v_proj"},      {"w_o", "o_proj"},    {"query", "q_proj"},  {"key", "k_proj"},    {"value", "v_proj"},
        {"out_proj", "o_proj"}, {"c_proj", "o_proj"}, {"c_attn", "c_attn"}};
    return names;
}

const Names& feed_forward_names() {
    static const Names names = {{"up_proj", "up_proj"}, {"down_proj", "down_proj"}, {"gate_proj", "gate_proj"},
                                {"linear1", "up_proj"}, {"linear2", "down_proj"},   {"w_1", "up_proj"},
                                {"w_2", "down_proj"},   {"fc1", "up_proj"},         {"fc2", "down_proj"},
                                {"c_fc", "up_proj"},    {"c_proj", "down_proj"},    {"0", "up_proj"},
                                {"2", "down_proj"}};
    return names;
}

const Names& norm_names() {
    static const Names names = {
        {"norm1", "norm1"}, {"layernorm_att", "norm1"}, {"ln_1", "norm1"}, {"input_layernorm", "norm1"},
        {"norm2", "norm2"}, {"layernorm_ffn", "norm2"}, {"ln_2", "norm2"}, {"post_attention_layernorm", "norm2"},
        {"norm3", "norm3"}};
    return names;
}

// ---- one name

// What a block's part is called, from its path within the block; nothing where it is no part of a block.
std::optional<Path> part_of_block(const Path& path) {
    if (path.size() == 2) {
        if (const auto norm = lookup(norm_names(), path[0])) return Path{*norm, path[1]};
        // A seed's attention may stand in the block itself, as may its feed-forward.
        const bool attention = path[0].find('_') != std::string::npos && path[0] != "c_proj";
        if (const auto projection = lookup(projection_names(), path[0]);
            projection && attention && *projection != "c_attn")
            return Path{"self_attn", *projection, path[1]};
        if (const auto linear = lookup(feed_forward_names(), path[0]); linear && !is_number(path[0]))
            return Path{*linear, path[1]};
        if (const auto attn = lookup(attention_names(), path[0]))
            return Path{*attn, path[1]};  // in_proj_weight, in_proj_bias
    }
    if (path.size() >= 3) {
        const auto attn = lookup(attention_names(), path[0]);
        const auto projection = lookup(projection_names(), path[1]);
        if (attn && projection) return Path{*attn, *projection, path[2]};
        const std::array<std::string_view, 4> feed_forward = {"ffn", "ff", "mlp", "feed_forward"};
        const bool under_ffn = std::find(feed_forward.begin(), feed_forward.end(), path[0]) != feed_forward.end();
        // A Sequential within the module: ff.net.0.weight.
        if (const auto linear = lookup(feed_forward_names(), path[path.size() - 2]); under_ffn && linear)
            return Path{*linear, path.back()};
    }
    return std::nullopt;
}

// What isn't learned: masks, frequencies and codes that modules keep as buffers.
bool is_buffer(const Path& path) {
    const std::string& last = path.back();
    const bool mask = path.size() >= 2 && path[path.size() - 2] == "attn" && (last == "bias" || last == "masked_bias");
    return mask || last == "inv_freq" || last == "pe" || last == "causal_mask" || last == "tril";
}

std::string canonical_name(const std::string& name) {
    Path path = split(name);
    Path prefix;
    const std::array<std::string_view, 4> wrappers = {"module", "model", "transformer", "decoder"};
    while (path.size() > 1 && std::find(wrappers.begin(), wrappers.end(), path[0]) != wrappers.end())
        path.erase(path.begin());
    if (path.size() > 1 && path[0] == "encoder") {
        prefix = {"encoder"};
        path.erase(path.begin());
    }
    const std::array<std::string_view, 4> stacks = {"layers", "layer_list", "h", "blocks"};
    const bool stacked =
        path.size() > 2 && std::find(stacks.begin(), stacks.end(), path[0]) != stacks.end() && is_number(path[1]);
    const auto with_prefix = [&](const Path& rest) {
        Path whole = prefix;
        whole.insert(whole.end(), rest.begin(), rest.end());
        return join(whole);
    };
    if (!stacked && path.size() == 2)
        if (const auto top = lookup(top_names(), path[0])) return with_prefix({*top, path[1]});
    const Path within(path.begin() + (stacked ? 2 : 0), path.end());
    const auto part = part_of_block(within);
    if (!part) return name;
    // A single block has no layer prefix.
    Path whole = {"layers", stacked ? path[1] : "0"};
    whole.insert(whole.end(), part->begin(), part->end());
    return with_prefix(whole);
}

// ---- fused projections

Tensor transposed(const Tensor& matrix) {
    const Index rows = matrix.dim(0), columns = matrix.dim(1);
    Tensor out({{"", columns}, {"", rows}});
    const std::span<float> to = out.writable();
    for (Index r = 0; r < rows; ++r)
        for (Index c = 0; c < columns; ++c) to[static_cast<std::size_t>(c * rows + r)] = matrix.data()[r * columns + c];
    return out;
}

// One third of the rows: q, k or v of a fused projection.
Tensor third(const Tensor& fused, Index which) {
    Axes axes = fused.axes();
    axes[0].size /= 3;
    const auto size = static_cast<std::size_t>(element_count(axes));
    return {axes, fused.values().subspan(static_cast<std::size_t>(which) * size, size)};
}

class Canonical {
public:
    void add(const std::string& name, const std::string& from, Tensor tensor) {
        const auto [at, added] = sources_.emplace(name, from);
        if (!added) throw Error(from + ": means the same as " + at->second + ", expected one of them");
        weights_.emplace(name, std::move(tensor));
    }
    void add_thirds(const std::string& attention, const std::string& ending, const std::string& from,
                    const Tensor& fused) {
        if (fused.rank() == 0 || fused.dim(0) % 3 != 0)
            throw Error(from + ": shape " + shape_text(fused.axes()) +
                        ", expected three projections one after the other");
        const std::array<const char*, 3> projections = {".q_proj.", ".k_proj.", ".v_proj."};
        for (Index i = 0; i < 3; ++i)
            add(attention + projections[static_cast<std::size_t>(i)] + ending, from, third(fused, i));
    }
    [[nodiscard]] Weights take() { return std::move(weights_); }

private:
    Weights weights_;
    std::map<std::string, std::string> sources_;
};

// Whether GPT-2's weights are Conv1D's, [in, out]: c_attn tells, which is three times as long one way.
bool has_conv1d(const Weights& state_dict) {
    for (const auto& [name, tensor] : state_dict)
        if (name.ends_with("c_attn.weight") && tensor.rank() == 2) return tensor.dim(1) == 3 * tensor.dim(0);
    return false;
}

bool is_conv1d(std::string_view name) {
    return name.ends_with("c_attn.weight") || name.ends_with("c_proj.weight") || name.ends_with("c_fc.weight");
}

void add_canonical(Canonical& canonical, const std::string& from, const Tensor& tensor) {
    const std::string name = canonical_name(from);
    const auto ends = [&](std::string_view ending) { return name.ends_with(ending); };
    const auto without = [&](std::string_view ending) { return name.substr(0, name.size() - ending.size()); };
    if (ends(".in_proj_weight"))
        canonical.add_thirds(without(".in_proj_weight"), "weight", from, tensor);
    else if (ends(".in_proj_bias"))
        canonical.add_thirds(without(".in_proj_bias"), "bias", from, tensor);
    else if (ends(".c_attn.weight"))
        canonical.add_thirds(without(".c_attn.weight"), "weight", from, tensor);
    else if (ends(".c_attn.bias"))
        canonical.add_thirds(without(".c_attn.bias"), "bias", from, tensor);
    else
        canonical.add(name, from, tensor);
}

// ---- what the shapes say

Index rows_of(const Weights& weights, const std::string& name) {
    const auto found = weights.find(name);
    return found != weights.end() && found->second.rank() >= 1 ? found->second.dim(0) : 0;
}

Index count_layers(const Weights& weights, const std::string& prefix) {
    Index layers = 0;
    while (weights.find(prefix + "layers." + std::to_string(layers) + ".self_attn.q_proj.weight") != weights.end())
        ++layers;
    return layers;
}

}  // namespace

Weights canonical_weights(const Weights& state_dict) {
    const bool conv1d = has_conv1d(state_dict);
    Canonical canonical;
    for (const auto& [name, tensor] : state_dict) {
        if (is_buffer(split(name))) continue;
        const bool turn = conv1d && is_conv1d(name) && tensor.rank() == 2;
        add_canonical(canonical, name, turn ? transposed(tensor) : tensor);
    }
    return canonical.take();
}

std::string inferred_config(const Weights& weights) {
    const auto has = [&](const std::string& name) { return weights.find(name) != weights.end(); };
    nlohmann::ordered_json config = {{"model_type", "decoderscope"}};
    const Index d_model = rows_of(weights, "layers.0.self_attn.q_proj.weight");
    if (d_model > 0) config["d_model"] = d_model;
    if (const Index layers = count_layers(weights, ""); layers > 0) config["num_layers"] = layers;
    config["dim_feedforward"] = rows_of(weights, "layers.0.up_proj.weight");
    config["bias"] = has("layers.0.self_attn.q_proj.bias");
    config["norm"] =
        has("layers.0.norm1.bias") || !has("layers.0.norm1.weight") || has("layers.0.self_attn.q_proj.bias")
            ? "layernorm"
            : "rmsnorm";
    config["final_norm"] = has("norm.weight");
    config["gated_mlp"] = has("layers.0.gate_proj.weight");
    config["cross_attention"] = has("layers.0.cross_attn.q_proj.weight");
    if (const Index layers = count_layers(weights, "encoder."); layers > 0) config["encoder_layers"] = layers;
    config["vocab_size"] = rows_of(weights, "embed.weight");
    if (const Index rows = rows_of(weights, "encoder.embed.weight"); rows > 0) config["encoder_vocab_size"] = rows;
    if (const Index rows = rows_of(weights, "pos_embed.weight"); rows > 0) {
        config["positional_encoding"] = "learned";
        config["max_positions"] = rows;
    }
    config["lm_head"] = has("lm_head.weight");
    return config.dump(2);
}

}  // namespace decoderscope

#include "engine/model/state_dict_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
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

template <std::size_t count>
bool is_one_of(std::string_view word, const std::array<std::string_view, count>& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

// A number as a ModuleList writes it; -1 if it is not one.
Index number(std::string_view text) {
    constexpr std::size_t kMostDigits = 9;
    Index value = -1;
    if (text.size() > kMostDigits || text.starts_with('-')) return -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

// ---- the names that modules go by

const Names& top_names() {
    static const Names names = {{"embed", "embed"},
                                {"emb", "embed"},
                                {"wte", "embed"},
                                {"embed_tokens", "embed"},
                                {"embedding", "embed"},
                                {"tok_emb", "embed"},
                                {"token_embedding", "embed"},
                                {"token_embedding_table", "embed"},
                                {"embed_norm", "embed_norm"},
                                {"pos_embed", "pos_embed"},
                                {"wpe", "pos_embed"},
                                {"pos_emb", "pos_embed"},
                                {"position_embedding", "pos_embed"},
                                {"position_embedding_table", "pos_embed"},
                                {"norm", "norm"},
                                {"ln_f", "norm"},
                                {"final_norm", "norm"},
                                {"lm_head", "lm_head"},
                                {"head", "lm_head"},
                                {"out", "lm_head"}};
    return names;
}

const Names& attention_names() {
    static const Names names = {{"self_attn", "self_attn"},
                                {"attn", "self_attn"},
                                {"sa", "self_attn"},
                                {"attention", "self_attn"},
                                {"self_attention", "self_attn"},
                                {"mha", "self_attn"},
                                {"cross_attn", "cross_attn"},
                                {"enc_dec_attn", "cross_attn"},
                                {"multihead_attn", "cross_attn"},
                                {"encoder_attn", "cross_attn"},
                                {"cross_attention", "cross_attn"}};
    return names;
}

const Names& projection_names() {
    static const Names names = {
        {"q_proj", "q_proj"},   {"k_proj", "k_proj"}, {"v_proj", "v_proj"}, {"o_proj", "o_proj"}, {"W_q", "q_proj"},
        {"W_k", "k_proj"},      {"W_v", "v_proj"},    {"W_o", "o_proj"},    {"w_q", "q_proj"},    {"w_k", "k_proj"},
        {"w_v", "v_proj"},      {"w_o", "o_proj"},    {"query", "q_proj"},  {"key", "k_proj"},    {"value", "v_proj"},
        {"out_proj", "o_proj"}, {"c_proj", "o_proj"}, {"proj", "o_proj"},   {"q_norm", "q_norm"}, {"k_norm", "k_norm"}};
    return names;
}

// Names under which all known modules store q, k and v one after another.
constexpr std::array<std::string_view, 5> kFused = {"c_attn", "qkv", "Wqkv",  // not a message: a name
                                                    "to_qkv", "in_proj"};
// Names that mean this in one module, but head by head (or group by group) in another.
constexpr std::array<std::string_view, 3> kUnclear = {"query_key_value", "qkv_proj", "wqkv"};

const Names& feed_forward_names() {
    static const Names names = {{"up_proj", "up_proj"}, {"down_proj", "down_proj"}, {"gate_proj", "gate_proj"},
                                {"linear1", "up_proj"}, {"linear2", "down_proj"},   {"w_1", "up_proj"},
                                {"w_2", "down_proj"},   {"fc1", "up_proj"},         {"fc2", "down_proj"},
                                {"c_fc", "up_proj"},    {"c_proj", "down_proj"},    {"0", "up_proj"},
                                {"2", "down_proj"},     {"3", "down_proj"}};
    return names;
}

const Names& norm_names() {
    static const Names names = {{"norm1", "norm1"},
                                {"layernorm_att", "norm1"},
                                {"ln_1", "norm1"},
                                {"ln1", "norm1"},
                                {"input_layernorm", "norm1"},
                                {"norm2", "norm2"},
                                {"layernorm_ffn", "norm2"},
                                {"ln_2", "norm2"},
                                {"ln2", "norm2"},
                                {"post_attention_layernorm", "norm2"},
                                {"norm3", "norm3"},
                                {"ln3", "norm3"},
                                {"norm1_post", "norm1_post"},
                                {"norm2_post", "norm2_post"},
                                {"norm3_post", "norm3_post"}};
    return names;
}

constexpr std::array<std::string_view, 6> kFeedForward = {"ffn", "ff", "mlp", "feed_forward", "ffwd", "feedforward"};

// ---- one name

// A part of a block: its path in the contract, and how it is stored.
struct PartOfBlock {
    Path path;
    Index head = -1;
    CanonicalName::Packing packing = CanonicalName::Packing::alone;
};

// Within an attention: a projection, a head's projection ("heads.0.key"), or all three in one.
std::optional<PartOfBlock> part_of_attention(const std::string& attention, const Path& path) {
    using Packing = CanonicalName::Packing;
    if (path.size() == 1 && path[0] == "in_proj_weight")
        return PartOfBlock{{attention, "qkv", "weight"}, -1, Packing::one_by_one};
    if (path.size() == 1 && path[0] == "in_proj_bias")
        return PartOfBlock{{attention, "qkv", "bias"}, -1, Packing::one_by_one};
    if (path.size() == 4 && path[0] == "heads" && number(path[1]) >= 0) {
        const auto projection = lookup(projection_names(), path[2]);
        if (projection && *projection != "o_proj")
            return PartOfBlock{{attention, *projection, path[3]}, number(path[1])};
    }
    if (path.size() != 2) return std::nullopt;
    if (is_one_of(path[0], kFused)) return PartOfBlock{{attention, "qkv", path[1]}, -1, Packing::one_by_one};
    if (is_one_of(path[0], kUnclear)) return PartOfBlock{{attention, "qkv", path[1]}, -1, Packing::unclear};
    if (const auto projection = lookup(projection_names(), path[0]))
        return PartOfBlock{{attention, *projection, path[1]}};
    return std::nullopt;
}

// The part of a block at this path within the block; nothing if it is not one.
std::optional<PartOfBlock> part_of_block(const Path& path) {
    if (path.size() < 2) return std::nullopt;
    if (path.size() == 2) {
        if (const auto norm = lookup(norm_names(), path[0])) return PartOfBlock{{*norm, path[1]}};
        // A tutorial's attention may be directly in the block, as may its feed-forward.
        const bool attention = path[0].find('_') != std::string::npos && path[0] != "c_proj";
        if (const auto projection = lookup(projection_names(), path[0]); projection && attention)
            return PartOfBlock{{"self_attn", *projection, path[1]}};
        if (const auto linear = lookup(feed_forward_names(), path[0]); linear && number(path[0]) < 0)
            return PartOfBlock{{*linear, path[1]}};
    }
    if (const auto attention = lookup(attention_names(), path[0]))
        if (auto part = part_of_attention(*attention, {path.begin() + 1, path.end()})) return part;
    // A Sequential within the module: ff.net.0.weight.
    if (path.size() >= 3 && is_one_of(path[0], kFeedForward))
        if (const auto linear = lookup(feed_forward_names(), path[path.size() - 2]))
            return PartOfBlock{{*linear, path.back()}};
    return std::nullopt;
}

}  // namespace

bool is_buffer(std::string_view name) {
    static constexpr std::array<std::string_view, 11> buffers = {
        "inv_freq",     "pe",        "causal_mask", "tril",       "mask",       "attn_mask",
        "position_ids", "freqs_cis", "cos_cached",  "sin_cached", "masked_bias"};
    const Path path = split(name);
    const bool gpt2_mask = path.size() >= 2 && path[path.size() - 2] == "attn" && path.back() == "bias";
    return gpt2_mask || is_one_of(path.back(), buffers);
}

CanonicalName canonical_name(std::string_view name) {
    static constexpr std::array<std::string_view, 5> wrappers = {"module", "model", "transformer", "decoder",
                                                                 "_orig_mod"};
    static constexpr std::array<std::string_view, 4> stacks = {"layers", "layer_list", "h", "blocks"};
    Path path = split(name);
    const auto drop_first = [&] { path.erase(path.begin()); };
    while (path.size() > 1 && is_one_of(path[0], wrappers)) drop_first();
    const bool encoder = path.size() > 1 && path[0] == "encoder";
    if (encoder) drop_first();
    const auto whole = [&](Path rest) {
        if (encoder) rest.insert(rest.begin(), "encoder");
        return join(rest);
    };
    const bool stacked = path.size() > 2 && is_one_of(path[0], stacks) && number(path[1]) >= 0;
    if (!stacked && path.size() == 2)
        if (const auto top = lookup(top_names(), path[0])) return {whole({*top, path[1]})};
    const auto part = part_of_block({path.begin() + (stacked ? 2 : 0), path.end()});
    if (!part) return {std::string(name)};
    // A single block has no layer prefix.
    Path canonical = {"layers", stacked ? path[1] : "0"};
    canonical.insert(canonical.end(), part->path.begin(), part->path.end());
    return {whole(std::move(canonical)), part->head, part->packing};
}

}  // namespace decoderscope

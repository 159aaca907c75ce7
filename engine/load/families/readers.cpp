#include "engine/load/families/readers.h"

#include "engine/base/error.h"

#include <string>
#include <utility>
#include <vector>

namespace decoderscope::load::families {

constexpr const char* kLayerTypes = "full_attention, sliding_attention";  // not a message: the key's words

constexpr const char* kScalings = "default, linear, llama3";  // not a message: the key's words

void Reading::sizes(const KeyNames& width, const KeyNames& heads, const KeyNames& layers) {
    config["d_model"] = keys.size(width);
    config["nhead"] = keys.size(heads);
    config["num_layers"] = keys.size(layers);
    names_of_heads = heads;
    config["vocab_size"] = keys.size("vocab_size");
}

void Reading::key_value_heads_and_mlp() {
    config["num_key_value_heads"] = keys.size("num_key_value_heads", config["nhead"].get<Index>());
    config["dim_feedforward"] = keys.size("intermediate_size");
}

void Reading::causal_lm(bool tied) {
    config["norm_first"] = true;
    config["final_norm"] = true;
    config["lm_head"] = true;
    config["tie_word_embeddings"] = keys.flag("tie_word_embeddings", tied);
    keys.expect("add_cross_attention", false, message("cross-attention of this family is not read"));
    keys.expect("chunk_size_feed_forward", 0, message("the MLP is not computed in chunks"));
    keys.expect("pruned_heads", OrderedJson::object(), message("pruned heads are not supported"));
}

void biases(Reading& reading, const Biases& biases) {
    const bool any = biases.qkv || biases.out || biases.mlp || biases.head || biases.norms;
    reading.config["bias"] = any;
    if (!any) return;
    const auto without = [&](bool biased, std::initializer_list<const char*> parts) {
        if (!biased) reading.family.unbiased.insert(reading.family.unbiased.end(), parts.begin(), parts.end());
    };
    without(biases.qkv, {"q_proj", "k_proj", "v_proj"});
    without(biases.out, {"o_proj"});
    without(biases.mlp, {"up_proj", "gate_proj", "down_proj"});
    without(biases.head, {"lm_head"});
    without(biases.norms, {"norm1", "norm1_post", "norm2", "norm2_post", "norm3", "norm3_post", "norm", "embed_norm"});
}

namespace {

// The object that says how RoPE is scaled; `beside` is the rope_theta beside it.
void scaling(Reading& reading, FamilyKeys object, const std::string& model_type) {
    OrderedJson& config = reading.config;
    const std::string kind = object.word({"rope_type", "type"}, "default");
    if (kind == "linear") {
        config["rope_scaling"] = "linear";
        config["rope_factor"] = object.number("factor", 1.0);
    } else if (kind == "llama3") {
        config["rope_scaling"] = "llama3";
        for (const auto& [theirs, ours] : {std::pair{"factor", "rope_factor"},
                                           {"low_freq_factor", "rope_low_freq_factor"},
                                           {"high_freq_factor", "rope_high_freq_factor"}}) {
            if (!object.has(theirs)) object.fail(theirs, message("a number"));
            config[ours] = object.number(theirs, 1.0);
        }
        config["rope_original_positions"] = object.size("original_max_position_embeddings");
    } else if (kind != "default") {
        object.fail({"rope_type", "type"}, message("one of {expected}", {{"expected", kScalings}}));
    }
    object.finish(model_type);
}

}  // namespace

void rope(Reading& reading, const RopeDefaults& defaults, const KeyNames& theta, const KeyNames& part) {
    FamilyKeys& keys = reading.keys;
    OrderedJson& config = reading.config;
    config["positional_encoding"] = "rope";
    if (const Index positions = keys.size("max_position_embeddings", 0); positions > 0)
        config["max_positions"] = positions;
    FamilyKeys parameters = keys.object("rope_parameters");
    FamilyKeys scaled = keys.object("rope_scaling");
    config["rope_theta"] = parameters.positive("rope_theta", keys.positive(theta, defaults.theta));
    scaled.expect("rope_theta", config["rope_theta"], message("rope_theta beside it is another"));
    const double columns = parameters.number("partial_rotary_factor", keys.number(part, defaults.part));
    const bool of_its_own = config.contains("head_dim");
    const auto head =
        of_its_own ? config["head_dim"].get<Index>() : config["d_model"].get<Index>() / config["nhead"].get<Index>();
    if (columns <= 0.0 || columns > 1.0) keys.fail(part, message("a number above 0, up to 1"));
    const auto turned = static_cast<Index>(static_cast<double>(head) * columns);
    if (turned != head) config["rotary_dim"] = turned;
    const bool in_parameters = parameters.has({"rope_type", "type"});
    if (in_parameters && scaled.has({"rope_type", "type"}))
        keys.fail("rope_scaling", message("none beside rope_parameters"));
    scaling(reading, parameters, reading.family.model_type);
    scaling(reading, scaled, reading.family.model_type);
}

void head_dim(Reading& reading, Index otherwise) {
    OrderedJson& config = reading.config;
    const Index usual = config["d_model"].get<Index>() / config["nhead"].get<Index>();
    const Index width = reading.keys.size("head_dim", otherwise > 0 ? otherwise : usual);
    const bool uneven = config["d_model"].get<Index>() % config["nhead"].get<Index>() != 0;
    if (width != usual || (uneven && reading.keys.has("head_dim"))) config["head_dim"] = width;
}

void sliding_window(Reading& reading, Index window, const std::function<bool(Index)>& slides) {
    const std::vector<std::string> types = reading.keys.list("layer_types");
    const Index layers = reading.layers();
    if (!types.empty() && static_cast<Index>(types.size()) != layers)
        reading.keys.fail("layer_types", message("one for each of the {count} blocks", {{"count", layers}}));
    OrderedJson sliding = OrderedJson::array();
    for (Index layer = 0; layer < layers; ++layer) {
        bool here = window > 0 && slides(layer);
        if (!types.empty()) {
            const std::string& type = types[static_cast<std::size_t>(layer)];
            if (type != "full_attention" && type != "sliding_attention")
                reading.keys.fail("layer_types", message("one of {expected}", {{"expected", kLayerTypes}}));
            here = type == "sliding_attention";
            if (here && window == 0) reading.keys.fail("sliding_window", message("a positive integer"));
        }
        if (here) sliding.push_back(layer);
    }
    if (sliding.empty()) return;
    reading.config["sliding_window"] = window;
    if (static_cast<Index>(sliding.size()) < layers) reading.config["sliding_window_layers"] = sliding;
}

void no_sliding_window(Reading& reading) {
    sliding_window(reading, 0, [](Index) { return false; });
}

}  // namespace decoderscope::load::families

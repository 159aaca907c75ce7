#include "engine/model/hugging_face.h"

#include "engine/error.h"
#include "engine/json.h"

#include <initializer_list>

namespace decoderscope {

namespace {

using Json = nlohmann::ordered_json;

// The value under the first of several names that is there and not null.
Json value(const Json& from, std::initializer_list<const char*> keys, const Json& otherwise) {
    for (const char* key : keys)
        if (const auto found = from.find(key); found != from.end() && !found->is_null()) return *found;
    return otherwise;
}

Json required(const Json& from, std::initializer_list<const char*> keys, const Sentence& expected) {
    const Json found = value(from, keys, nullptr);
    if (found.is_null())
        throw Error("{key}: missing; expected {expected}", {{"key", *keys.begin()}, {"expected", expected}});
    return found;
}

std::string activation(const Json& from, const char* key, const char* otherwise) {
    const Json name = value(from, {key}, otherwise);
    for (const auto& [theirs, ours] : {std::pair{"gelu_new", "gelu_tanh"},
                                       {"gelu_pytorch_tanh", "gelu_tanh"},
                                       {"gelu_fast", "gelu_tanh"},
                                       {"gelu", "gelu"},
                                       {"relu", "relu"},
                                       {"silu", "silu"},
                                       {"swish", "silu"}})
        if (name == theirs) return ours;
    throw Error("{key}: {name}, expected one of gelu_new, gelu, relu, silu", {{"key", key}, {"name", name.dump()}});
}

void refuse(const Json& from, const char* key, const Json& usual, const Sentence& why) {
    const Json found = value(from, {key}, usual);
    if (found != usual)
        throw Error("{key}: {found}, expected {usual}: {why}",
                    {{"key", key}, {"found", found.dump().substr(0, 60)}, {"usual", usual.dump()}, {"why", why}});
}

// transformers.GPT2Config
Json from_gpt2(const Json& from) {
    refuse(from, "scale_attn_weights", true, message("scores are always divided by √d_head"));
    refuse(from, "scale_attn_by_inverse_layer_idx", false, message("scores are not scaled by the layer's number"));
    refuse(from, "add_cross_attention", false, message("GPT-2 with cross-attention is not read"));
    const Json inner = value(from, {"n_inner"}, nullptr);
    Json config = {{"model_type", "decoderscope"},
                   {"d_model", required(from, {"n_embd", "hidden_size"}, message("the model's width"))},
                   {"nhead", required(from, {"n_head", "num_attention_heads"}, message("the number of heads"))},
                   {"num_layers", required(from, {"n_layer", "num_hidden_layers"}, message("the number of blocks"))},
                   {"norm_first", true},
                   {"layer_norm_eps", value(from, {"layer_norm_epsilon"}, 1e-5)},
                   {"final_norm", true},
                   {"activation", activation(from, "activation_function", "gelu_new")},
                   {"vocab_size", value(from, {"vocab_size"}, 50257)},
                   {"positional_encoding", "learned"},
                   {"max_positions", value(from, {"n_positions", "n_ctx", "max_position_embeddings"}, 1024)},
                   {"lm_head", true},
                   {"tie_word_embeddings", value(from, {"tie_word_embeddings"}, true)},
                   {"dropout", value(from, {"resid_pdrop"}, 0.1)}};
    if (!inner.is_null()) config["dim_feedforward"] = inner;
    return config;
}

// transformers.LlamaConfig
Json from_llama(const Json& from) {
    refuse(from, "rope_scaling", nullptr, message("scaled rotary positions are not computed"));
    refuse(from, "mlp_bias", value(from, {"attention_bias"}, false),
           message("either all projections have a bias or none"));
    const Json width = required(from, {"hidden_size"}, message("the model's width"));
    const Json heads = required(from, {"num_attention_heads"}, message("the number of heads"));
    if (width.is_number_integer() && heads.is_number_integer() && heads.get<long long>() > 0)
        refuse(from, "head_dim", width.get<long long>() / heads.get<long long>(),
               message("a head is hidden_size / num_attention_heads wide"));
    return {{"model_type", "decoderscope"},
            {"d_model", width},
            {"nhead", heads},
            {"num_layers", required(from, {"num_hidden_layers"}, message("the number of blocks"))},
            {"num_key_value_heads", value(from, {"num_key_value_heads"}, heads)},
            {"dim_feedforward", required(from, {"intermediate_size"}, message("the width of the MLP"))},
            {"norm_first", true},
            {"norm", "rmsnorm"},
            {"layer_norm_eps", value(from, {"rms_norm_eps"}, 1e-6)},
            {"final_norm", true},
            {"activation", activation(from, "hidden_act", "silu")},
            {"gated_mlp", true},
            {"bias", value(from, {"attention_bias"}, false)},
            {"vocab_size", required(from, {"vocab_size"}, message("the size of the vocabulary"))},
            {"positional_encoding", "rope"},
            {"max_positions", value(from, {"max_position_embeddings"}, 2048)},
            {"rope_theta", value(value(from, {"rope_parameters"}, Json::object()), {"rope_theta"},
                                 value(from, {"rope_theta"}, 10000.0))},
            {"lm_head", true},
            {"tie_word_embeddings", value(from, {"tie_word_embeddings"}, false)}};
}

}  // namespace

std::string from_hugging_face(std::string_view config_json) {
    const Json from = parse_json(config_json, message("an object of configuration keys"));
    if (!from.is_object()) return std::string(config_json);
    const Json type = value(from, {"model_type"}, "");
    if (type == "gpt2") return from_gpt2(from).dump(2);
    if (type == "llama") return from_llama(from).dump(2);
    return std::string(config_json);
}

}  // namespace decoderscope

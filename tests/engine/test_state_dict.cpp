// Checkpoints as their modules save them: the keys are recognised, and the output is the module's own.
#include "engine/decoder/decoder.h"
#include "engine/error.h"
#include "engine/file.h"
#include "engine/json.h"
#include "engine/model/hugging_face.h"
#include "engine/model/model.h"
#include "engine/model/safetensors.h"
#include "engine/model/state_dict.h"
#include "engine/run.h"
#include "tests/catch.h"
#include "tests/engine/small_models.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

using namespace decoderscope;

namespace {

std::string folder_of(const std::string& name) { return DECODERSCOPE_TESTS_DIR "/reference/state_dicts/" + name; }

Overrides settings_of(const std::string& name) {
    Overrides overrides;
    const nlohmann::json settings = parse_json(read_text(folder_of(name) + "/set.json"), "settings");
    for (const auto& [key, value] : settings.items())
        overrides.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
    return overrides;
}

// What the decoder hands over: probabilities, the final norm, or what leaves the last block.
Tensor output_of(const Run& run) {
    for (const char* name : {"probs", "ln_final.normalized"})
        if (run.plan().find(name) != nullptr) return run.value(name);
    const Step* last = nullptr;
    for (const Step& step : run.plan().steps())
        if (step.role == Role::recorded) last = &step;
    return run.value(last->id);
}

// A parameter under another name.
struct Renamed {
    std::string from, to;
};

std::string replaced(std::string text, const std::vector<Renamed>& names) {
    for (const Renamed& name : names)
        for (std::size_t at = text.find(name.from); at != std::string::npos;
             at = text.find(name.from, at + name.to.size()))
            text.replace(at, name.from.size(), name.to);
    return text;
}

bool same_weights(const Weights& a, const Weights& b) {
    return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
        return x.first == y.first && shape_text(x.second.axes()) == shape_text(y.second.axes()) &&
               std::ranges::equal(x.second.values(), y.second.values());
    });
}

// q, k and v below one another.
Tensor fused(const Weights& weights, const std::string& attention, const std::string& ending) {
    std::vector<float> values;
    Axes axes;
    for (const char* projection : {".q_proj.", ".k_proj.", ".v_proj."}) {
        const Tensor& tensor = weights.at(attention + projection + ending);
        axes = tensor.axes();
        values.insert(values.end(), tensor.values().begin(), tensor.values().end());
    }
    axes[0].size *= 3;
    return {axes, values};
}

Tensor turned(const Tensor& matrix) {
    Tensor out({matrix.axes()[1], matrix.axes()[0]});
    const std::span<float> to = out.writable();
    for (Index i = 0; i < matrix.size(); ++i) {
        const Cell at = matrix.cell(i);
        to[static_cast<std::size_t>(out.offset(Cell{at[1], at[0]}))] = matrix.data()[i];
    }
    return out;
}

}  // namespace

TEST_CASE("a state_dict of each module gives the module's own output") {
    for (const std::string name : {"simple-decoder", "decoder", "transformer-decoder-block", "transformer-decoder",
                                   "decoder-layer", "nn-transformer-decoder", "nn-transformer-decoder-pre"}) {
        INFO(name);
        const Overrides overrides = settings_of(name);
        const auto model = load_model(folder_of(name), overrides);
        const Config config = model->config(overrides);
        const Inputs inputs = load_inputs(folder_of(name) + "/inputs.safetensors", config);
        const auto run = execute(plan_decoder({config, &model->weights, inputs, {}, std::nullopt}));
        const Tensor ours = output_of(*run);
        const Tensor theirs = SafetensorsFile(folder_of(name) + "/expected.safetensors").floats("output");
        REQUIRE(shape_text(ours.axes()) == shape_text(theirs.axes()));
        for (Index i = 0; i < ours.size(); ++i) REQUIRE(std::abs(ours.data()[i] - theirs.data()[i]) < 1e-5F * 4);
    }
}

TEST_CASE("without a config.json the head count is asked for") {
    try {
        static_cast<void>(load_model(folder_of("decoder")));
        FAIL("nothing was asked for");
    } catch (const Error& error) {
        INFO(error.what());
        CHECK(std::string(error.what()).find("nhead") != std::string::npos);
        CHECK(std::string(error.what()).find("config.json") != std::string::npos);
    }
}

TEST_CASE("canonical names stay as they are") {
    const testing::SmallModel model = testing::small_model({{"cross_attention", "true"},
                                                            {"encoder_layers", "1"},
                                                            {"vocab_size", "7"},
                                                            {"lm_head", "true"},
                                                            {"final_norm", "true"},
                                                            {"gated_mlp", "true"}});
    CHECK(same_weights(canonical_weights(model.weights), model.weights));
}

TEST_CASE("GPT-2's names are recognised, with Conv1D's weights and with minGPT's, and its buffers are left out") {
    const testing::SmallModel model = testing::small_model({{"norm_first", "true"},
                                                            {"vocab_size", "7"},
                                                            {"final_norm", "true"},
                                                            {"positional_encoding", "learned"},
                                                            {"max_positions", "9"},
                                                            {"num_layers", "2"}});
    for (const bool conv1d : {true, false}) {
        for (const std::string prefix : {"transformer.", ""}) {
            Weights theirs;
            for (const auto& [name, tensor] : model.weights) {
                if (name.find("k_proj") != std::string::npos || name.find("v_proj") != std::string::npos) continue;
                const bool query = name.find("q_proj") != std::string::npos;
                const std::size_t layer = name.find(".q_proj");
                Tensor values = query ? fused(model.weights, name.substr(0, layer), name.substr(layer + 8)) : tensor;
                const bool linear = values.rank() == 2 && name.find("embed") == std::string::npos;
                if (linear && conv1d) values = turned(values);
                theirs.emplace(prefix + replaced(name, {{"layers.", "h."},
                                                        {"self_attn.q_proj", "attn.c_attn"},
                                                        {"self_attn.o_proj", "attn.c_proj"},
                                                        {"up_proj", "mlp.c_fc"},
                                                        {"down_proj", "mlp.c_proj"},
                                                        {"norm1", "ln_1"},
                                                        {"norm2", "ln_2"},
                                                        {"pos_embed", "wpe"},
                                                        {"embed", "wte"},
                                                        {"norm.", "ln_f."}}),
                               values);
            }
            theirs.emplace(prefix + "h.0.attn.bias", Tensor({{"", 1}, {"", 1}}, {1.0F}));
            CHECK(same_weights(canonical_weights(theirs), model.weights));
        }
    }
}

TEST_CASE("Llama's names are recognised") {
    const testing::SmallModel model = testing::small_model({{"norm_first", "true"},
                                                            {"norm", "rmsnorm"},
                                                            {"vocab_size", "7"},
                                                            {"final_norm", "true"},
                                                            {"bias", "false"},
                                                            {"gated_mlp", "true"},
                                                            {"num_layers", "2"},
                                                            {"lm_head", "true"}});
    Weights theirs;
    for (const auto& [name, tensor] : model.weights) {
        const bool head = name.starts_with("lm_head");
        theirs.emplace((head ? "" : "model.") + replaced(name, {{"up_proj", "mlp.up_proj"},
                                                                {"down_proj", "mlp.down_proj"},
                                                                {"gate_proj", "mlp.gate_proj"},
                                                                {"norm1", "input_layernorm"},
                                                                {"norm2", "post_attention_layernorm"},
                                                                {"embed.", "embed_tokens."}}),
                       tensor);
    }
    theirs.emplace("model.layers.0.self_attn.rotary_emb.inv_freq", Tensor({{"", 1}}, {1.0F}));
    CHECK(same_weights(canonical_weights(theirs), model.weights));
}

TEST_CASE("two tensors that mean the same are refused, and a strange name is kept to be told") {
    const Tensor one({{"", 1}}, {1.0F});
    CHECK_THROWS_AS(canonical_weights({{"emb.weight", one}, {"wte.weight", one}}), Error);
    CHECK(canonical_weights({{"layers.0.strange.weight", one}}).contains("layers.0.strange.weight"));
    CHECK_THROWS_AS(canonical_weights({{"layers.0.self_attn.in_proj_weight", one}}), Error);
}

TEST_CASE("Hugging Face configurations are read as they are written") {
    const Config gpt2 = parse_config(
        from_hugging_face(R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024,
        "vocab_size": 50257, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-05, "architectures": ["GPT2LMHeadModel"],
        "n_inner": null, "task_specific_params": {"text-generation": {"do_sample": true}}})"));
    CHECK(gpt2.d_model == 768);
    CHECK(gpt2.dim_feedforward == 3072);
    CHECK(gpt2.norm_first);
    CHECK(gpt2.final_norm);
    CHECK(gpt2.activation == ActivationKind::gelu_tanh);
    CHECK(gpt2.positional_encoding == PositionalEncoding::learned);
    CHECK(gpt2.tie_word_embeddings);
    const Config llama = parse_config(from_hugging_face(
        R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 172, "num_hidden_layers": 5,
        "num_attention_heads": 8, "num_key_value_heads": 4, "vocab_size": 512, "rms_norm_eps": 1e-05, "rope_theta": 20000.0})"));
    CHECK(llama.num_key_value_heads == 4);
    CHECK(llama.norm == NormKind::rmsnorm);
    CHECK(llama.rope_theta == 20000.0);
    CHECK_FALSE(llama.bias);
    CHECK(llama.gated_mlp);
    for (
        const char* bad :
        {R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12})",
         R"({"model_type": "gpt2", "n_embd": 8, "n_head": 2, "n_layer": 1, "activation_function": "tanh"})",
         R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 172, "num_hidden_layers": 5, "num_attention_heads": 8,
                                "vocab_size": 512, "rope_scaling": {"type": "linear", "factor": 2}})"})
        CHECK_THROWS_AS(from_hugging_face(bad), Error);
}

TEST_CASE("a real trained Llama continues a story as it should, token for token") {
    const std::string folder = DECODERSCOPE_TESTS_DIR "/../../shared/models/stories260K";
    if (!std::filesystem::exists(folder)) return;
    const auto model = load_model(folder);
    const Config config = model->config();
    const auto golden = parse_json(read_text(folder + "/golden.json"), "the continuation");
    auto tokens = golden["prompt_tokens"].get<std::vector<float>>();
    for (const float expected : golden["greedy_tokens"].get<std::vector<float>>()) {
        Inputs inputs;
        inputs.tokens = Tensor({{axis::batch, 1}, {axis::pos, static_cast<Index>(tokens.size())}}, tokens);
        const auto run = execute(plan_decoder({config, &model->weights, inputs, {}, std::nullopt}));
        const std::span<const float> last =
            run->value("logits").values().last(static_cast<std::size_t>(config.vocab_size));
        const auto best = static_cast<float>(std::distance(last.begin(), std::max_element(last.begin(), last.end())));
        REQUIRE(best == expected);
        tokens.push_back(best);
    }
    CHECK(model->tokenizer.size() == 512);
}

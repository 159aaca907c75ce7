// Files that are wrong on purpose, as in tests/reference/foreign/wrong.py: each is answered with a sentence that names
// the key or the tensor, and nothing is opened.
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/files/safetensors.h"
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/engine/foreign_models.h"
#include "tests/engine/messages.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::load::names;
namespace fs = std::filesystem;

namespace {

using Tensors = std::vector<std::pair<std::string, Tensor>>;

struct Wrong {
    std::string what, model;
    std::vector<std::string> names;  // words of the sentence; "theirs|ours" is either
    std::string config = "{}";       // keys of config.json to change
    std::string config_of = {};      // another model's config.json instead
    std::function<void(Tensors&)> change = {};
    Overrides answers = {};
};

std::function<void(Tensors&)> without(std::string name) {
    return [=](Tensors& tensors) { std::erase_if(tensors, [&](const auto& entry) { return entry.first == name; }); };
}

std::function<void(Tensors&)> changed(std::string name, std::function<Tensor(const Tensor&)> change) {
    return [=](Tensors& tensors) {
        for (auto& [at, tensor] : tensors)
            if (at == name) tensor = change(tensor);
    };
}

// With so many of its rows.
std::function<void(Tensors&)> cut(std::string name, Index rows) {
    return changed(std::move(name), [=](const Tensor& tensor) {
        if (tensor.axes().size() == 1) return tensor.beginning(Axes{{"", rows}});
        return tensor.beginning(Axes{{"", rows}, {"", tensor.axes()[1].size}});
    });
}

std::function<void(Tensors&)> turned(std::string name) {
    return changed(std::move(name), [](const Tensor& tensor) {
        const Index rows = tensor.axes()[0].size, columns = tensor.axes()[1].size;
        Tensor other(Axes{{"", columns}, {"", rows}});
        for (Index row = 0; row < rows; ++row)
            for (Index column = 0; column < columns; ++column)
                other.writable()[static_cast<std::size_t>(column * rows + row)] = tensor.data()[row * columns + column];
        return other;
    });
}

std::function<void(Tensors&)> added(std::string name, const Axes& axes) {
    return [=](Tensors& tensors) {
        Tensor tensor(axes);
        std::ranges::fill(tensor.writable(), 1.0F);
        tensors.emplace_back(name, tensor);
    };
}

std::vector<Wrong> wrong_models() {
    return {
        // A family's configuration with another's weights.
        {"Gemma 2's configuration, Gemma's weights", "gemma", {"norm1_post"}, "{}", "gemma2"},
        {"Gemma's configuration, Gemma 2's weights", "gemma2", {"feedforward_layernorm|norm"}, "{}", "gemma"},
        {"Llama's configuration, Qwen 2's biases", "qwen2", {"_proj.bias"}, "{}", "llama"},
        {"Llama's configuration, OLMo 2's weights", "olmo2", {"norm1"}, "{}", "llama"},
        {"Qwen 3's configuration, Llama's weights", "llama", {"layers.0.self_attn"}, "{}", "qwen3"},
        {"GPT-2's configuration, OPT's weights", "opt", {"model.safetensors"}, "{}", "gpt2"},
        {"GPT-2's configuration, minGPT's Linears", "mingpt", {"[in, out]"}, "{}", "gpt2"},
        {"GPT-J's configuration, Phi's weights", "phi", {"model.safetensors"}, "{}", "gptj"},
        {"Phi's configuration, GPT-J's weights", "gptj", {"q_proj.bias", "missing"}, "{}", "phi"},
        {"BART's configuration, Marian's weights", "marian", {"embed"}, "{}", "bart"},
        {"Marian's configuration, BART's weights", "bart", {"embed_norm"}, "{}", "marian"},
        {"Pythia's configuration, BLOOM's weights", "bloom", {"weight"}, "{}", "pythia"},
        // A key that contradicts a shape.
        {"a head of another width", "qwen3", {"q_proj.weight"}, R"({"head_dim": 4})"},
        {"more key and value heads", "llama", {"k_proj.weight"}, R"({"num_key_value_heads": 4})"},
        {"another width of the MLP", "mistral", {"mlp", "_proj.weight"}, R"({"intermediate_size": 20})"},
        {"another vocabulary", "gpt2", {"wte.weight"}, R"({"vocab_size": 30})"},
        {"more blocks", "phi", {"layers.2"}, R"({"num_hidden_layers": 3})"},
        {"fewer blocks", "phi", {"layers.1"}, R"({"num_hidden_layers": 1})"},
        {"more positions than rows", "opt", {"embed_positions.weight"}, R"({"max_position_embeddings": 22})"},
        {"another width of the stream", "gptj", {"weight"}, R"({"n_embd": 12})"},
        {"a head that is not tied", "gpt2", {"lm_head.weight"}, R"({"tie_word_embeddings": false})"},
        {"a tied head that is another", "llama", {"lm_head.weight"}, R"({"tie_word_embeddings": true})"},
        {"norms behind the sublayers, but a norm at the end", "opt", {"norm"}, R"({"do_layer_norm_before": false})"},
        {"sides with other heads", "bart", {"encoder_attention_heads"}, R"({"encoder_attention_heads": 2})"},
        // Keys that change the numbers and aren't computed.
        {"another scaling of RoPE",
         "llama",
         {"rope_scaling", "dynamic"},
         R"({"rope_scaling": {"rope_type": "dynamic", "factor": 4.0, "original_max_position_embeddings": 16}})"},
        {"an unknown key within the scaling",
         "llama-3",
         {"rope_scaling.attention_factor"},
         R"({"rope_scaling": {"rope_type": "linear", "factor": 4.0, "attention_factor": 0.5}})"},
        {"Granite's key in Llama's configuration", "llama", {"residual_multiplier"}, R"({"residual_multiplier": 0.5})"},
        {"weights in another form", "llama", {"quantization_config"}, R"({"quantization_config": {"bits": 4}})"},
        {"a key of no family", "qwen2", {"logit_temperature"}, R"({"logit_temperature": 2.0})"},
        {"an activation that isn't computed", "gpt2", {"activation_function"}, R"({"activation_function": "laplace"})"},
        {"norms of q and k in Phi", "phi", {"qk_layernorm"}, R"({"qk_layernorm": true})"},
        {"BLOOM's residual behind the norm",
         "bloom",
         {"apply_residual_connection_post_layernorm"},
         R"({"apply_residual_connection_post_layernorm": true})"},
        {"OPT's embedding of another width", "opt", {"word_embed_proj_dim"}, R"({"word_embed_proj_dim": 8})"},
        {"a bias of the projections that the file hasn't", "llama", {"bias"}, R"({"attention_bias": true})"},
        {"a family that isn't read", "llama", {"model_type", "mamba", "llama"}, R"({"model_type": "mamba"})"},
        {"a kind of block that isn't computed",
         "gemma2-sliding",
         {"layer_types"},
         R"({"layer_types": ["chunked_attention", "full_attention"]})"},
        {"a window that isn't said", "gemma2-sliding", {"sliding_window"}, R"({"sliding_window": null})"},
        // Tensors.
        {"a tensor is missing", "gemma2", {"up_proj.weight"}, "{}", "", without("model.layers.1.mlp.up_proj.weight")},
        {"a tensor too many",
         "llama",
         {"model.layers.0.self_attn.rotary_mystery.weight"},
         "{}",
         "",
         added("model.layers.0.self_attn.rotary_mystery.weight", {{"", 4}, {"", 4}})},
        {"a matrix is turned", "phi", {"fc1.weight"}, "{}", "", turned("model.layers.0.mlp.fc1.weight")},
        {"an embedding is turned", "phi", {"embed_tokens"}, "{}", "", turned("model.embed_tokens.weight")},
        {"a fused matrix of two thirds",
         "bloom",
         {"query_key_value"},
         "{}",
         "",
         cut("transformer.h.0.self_attention.query_key_value.weight", 32)},
        {"a head whose matrices are missing",
         "ng-video-lecture",
         {"k_proj", "head 1"},
         "{}",
         "",
         without("blocks.0.sa.heads.1.key.weight")},
        {"a query's head is missing",
         "ng-video-lecture",
         {"q_proj", "head 1"},
         "{}",
         "",
         without("blocks.0.sa.heads.1.query.weight")},
        {"a bias of another length", "gptj", {"lm_head.bias"}, "{}", "", cut("lm_head.bias", 28)},
        {"a bias is missing", "phi", {"lm_head.bias"}, "{}", "", without("lm_head.bias")},
        {"a number of heads that doesn't divide the width", "mingpt", {"nhead"}, "{}", "", {}, {{"nhead", "3"}}},
    };
}

void write(const Wrong& wrong, const TemporaryFolder& folder) {
    for (const auto& entry : fs::directory_iterator(kForeignModels / wrong.model)) {
        const std::string name = entry.path().filename().string();
        const bool is_model = entry.is_regular_file() && name != "about.json" && name != "expected.safetensors";
        if (is_model) fs::copy_file(entry.path(), folder.file(name));
    }
    const std::string path = folder.file("config.json");
    if (!wrong.config_of.empty())
        write_bytes(path, read_bytes((kForeignModels / wrong.config_of / "config.json").string()));
    if (fs::exists(path)) {
        nlohmann::json config = parse_json(read_text(path), message("a configuration"));
        config.update(parse_json(wrong.config, message("changes")));
        write_bytes(path, config.dump());
    }
    if (!wrong.change) return;
    const std::string weights = folder.file("model.safetensors");
    Tensors tensors;
    {
        const SafetensorsFile file(weights);
        for (const std::string& name : file.names_in_order())
            if (file.entries().at(name).dtype == "F32") tensors.emplace_back(name, file.floats(name));
    }
    wrong.change(tensors);
    fs::remove(weights);
    write_safetensors(weights, tensors);
}

bool says(const std::string& sentence, const std::string& words) {
    for (std::size_t start = 0; start <= words.size();) {
        const std::size_t end = std::min(words.find('|', start), words.size());
        if (sentence.find(words.substr(start, end - start)) != std::string::npos) return true;
        start = end + 1;
    }
    return false;
}

}  // namespace

TEST_CASE("a model that is wrong is not opened, and a sentence names what is wrong") {
    if (!fs::exists(kForeignModels)) return;
    for (const Wrong& wrong : wrong_models()) {
        INFO(wrong.what);
        const TemporaryFolder folder;
        write(wrong, folder);
        const std::string sentence = error_of([&] { static_cast<void>(load_model(folder.path(), wrong.answers)); });
        check_message(sentence, {folder.path()});
        for (const std::string& words : wrong.names) {
            INFO(words);
            CHECK(says(sentence, words));
        }
    }
}

TEST_CASE("a mapping that names a tensor twice or turns one is refused") {
    if (!fs::exists(kForeignModels)) return;
    const std::string folder = (kForeignModels / "phi").string();
    const Mapping right = mapping_of_model(folder);
    CHECK(load_model(folder, {}, nullptr, right)->weights.size() == load_model(folder)->weights.size());
    const auto error = [&](const std::function<void(Mapping&)>& change) {
        Mapping mapping = right;
        change(mapping);
        return error_of([&] { static_cast<void>(load_model(folder, {}, nullptr, mapping)); });
    };
    const std::string fc1 = "model.layers.0.mlp.fc1.weight", fc2 = "model.layers.0.mlp.fc2.weight";
    check_message(error([&](Mapping& m) { m[fc1] = m[fc2]; }), {fc1, fc2});
    check_message(error([&](Mapping& m) { m[fc1] = {}; }), {"layers.0.up_proj.weight", "missing"});
    check_message(error([&](Mapping& m) { m[fc1][0].how = RowLayout::transposed; }), {fc1, "[16, 24]", "[24, 16]"});
    check_message(error([&](Mapping& m) { m["model.mystery"] = m[fc1]; }), {"model.mystery"});
    check_message(error([&](Mapping& m) { m[fc1][0].name = "layers.7.up_proj.weight"; }), {"layers."});
}

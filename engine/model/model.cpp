#include "engine/model/model.h"

#include "engine/decoder/decoder.h"
#include "engine/error.h"
#include "engine/file.h"
#include "engine/model/bundled.h"
#include "engine/model/hugging_face.h"
#include "engine/model/safetensors.h"
#include "engine/model/state_dict.h"
#include "engine/model/tokenizer/read_tokenizer.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <set>

namespace decoderscope {

namespace {

namespace fs = std::filesystem;

Weights read_weights(const SafetensorsFile& file) {
    Weights weights;
    for (const auto& [name, entry] : file.entries()) weights.emplace(name, file.floats(name));
    return weights;
}

// Under tie_word_embeddings a head may be stored as well, so long as it is the embedding.
void check_tied_head(Weights& weights, const Config& config) {
    if (!config.lm_head || !config.tie_word_embeddings) return;
    const auto head = weights.find("lm_head.weight");
    if (head == weights.end()) return;
    const auto embedding = weights.find("embed.weight");
    const auto same_bits = [](float a, float b) {  // NaN is the same as itself here
        return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
    };
    if (embedding == weights.end() || !std::ranges::equal(head->second.values(), embedding->second.values(), same_bits))
        throw Error("lm_head.weight: differs from embed.weight, expected the same where tie_word_embeddings is on");
    weights.erase(head);
}

void check_weights(const Weights& weights, const Config& config) {
    std::set<std::string, std::less<>> known;
    for (const Declared& parameter : declared_parameters(config)) {
        known.insert(parameter.name);
        const auto found = weights.find(parameter.name);
        if (found == weights.end() && parameter.required)
            throw Error(parameter.name + ": missing; expected a tensor of shape " + shape_text(parameter.axes));
        if (found != weights.end() && shape_text(found->second.axes()) != shape_text(parameter.axes))
            throw Error(parameter.name + ": shape " + shape_text(found->second.axes()) + ", expected " +
                        shape_text(parameter.axes));
    }
    for (const auto& [name, tensor] : weights)
        if (!known.contains(name)) throw Error(name + ": this configuration has no such tensor");
}

// Hugging Face's GPT-2 has no bias on a head of its own; with a bias of zeros it computes the same.
void add_missing_head_bias(Weights& weights, const Config& config) {
    const bool own_head = config.lm_head && !config.tie_word_embeddings && config.bias;
    if (!own_head || weights.contains("lm_head.bias")) return;
    const std::vector<float> zeros(static_cast<std::size_t>(config.vocab_size));
    weights.emplace("lm_head.bias", Tensor({{axis::out, config.vocab_size}}, zeros));
}

// The configuration as it stands in the folder, or, where there is none, what the weights say of it.
std::string read_config(const fs::path& folder, const Weights& weights) {
    const std::string path = (folder / "config.json").string();
    if (!fs::exists(path)) return inferred_config(weights);
    return naming(path, [&] { return from_hugging_face(read_text(path)); });
}

std::shared_ptr<const Model> load(const fs::path& folder, const fs::path& weights_file, const Overrides& overrides) {
    const std::string weights_path = weights_file.string();
    const bool configured = fs::exists(folder / "config.json");
    Model model{.name = configured ? folder.string() : weights_path};
    const Weights stored = read_weights(SafetensorsFile(weights_path));
    model.weights = naming(weights_path, [&] { return canonical_weights(stored); });
    model.config_json = read_config(folder, model.weights);
    const std::string config_path = (folder / "config.json").string();
    const std::string read_off = config_path + " (missing; read off " + weights_file.filename().string() + " instead)";
    const Config config = naming(configured ? config_path : read_off, [&] { return model.config(overrides); });
    naming(weights_path, [&] {
        check_tied_head(model.weights, config);
        add_missing_head_bias(model.weights, config);
        check_weights(model.weights, config);
    });
    Tokenizers tokenizers = read_tokenizers(folder, config);
    model.tokenizer = std::move(tokenizers.target);
    model.encoder_tokenizer = std::move(tokenizers.source);
    model.remarks.insert(model.remarks.end(), tokenizers.remarks.begin(), tokenizers.remarks.end());
    const std::string example_path = (folder / "inputs.safetensors").string();
    model.example = fs::exists(example_path) ? load_inputs(example_path, config) : example_inputs(config, 0);
    return std::make_shared<const Model>(std::move(model));
}

}  // namespace

std::shared_ptr<const Model> load_model(const std::string& name_or_path, const Overrides& overrides) {
    if (auto bundled = make_bundled_model(name_or_path)) return bundled;
    std::error_code failed;
    const fs::path path = name_or_path;
    if (fs::is_directory(path, failed)) return load(path, path / "model.safetensors", overrides);
    if (path.extension() == ".safetensors") return load(path.parent_path(), path, overrides);
    std::string names;
    for (const BundledModel& model : bundled_models()) names += (names.empty() ? "" : ", ") + model.name;
    throw Error(name_or_path + ": no such model; expected a folder with config.json and model.safetensors, or one of " +
                names);
}

}  // namespace decoderscope

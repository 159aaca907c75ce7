#include "engine/model/model.h"

#include "engine/decoder/decoder.h"
#include "engine/error.h"
#include "engine/file.h"
#include "engine/model/bundled.h"
#include "engine/model/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <set>

namespace decoderscope {

namespace {

namespace fs = std::filesystem;

// Runs `work`; an Error out of it gets the file's name put before it.
template <class Work>
auto naming_file(const std::string& path, Work work) {
    try {
        return work();
    } catch (const Error& error) {
        throw Error(path + ": " + error.what());
    }
}

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

std::shared_ptr<const Model> load_folder(const std::string& folder, const Overrides& overrides) {
    const std::string config_path = (fs::path(folder) / "config.json").string();
    const std::string weights_path = (fs::path(folder) / "model.safetensors").string();
    Model model{.name = folder, .config_json = read_text(config_path)};
    const Config config = naming_file(config_path, [&] { return model.config(overrides); });
    model.weights = read_weights(SafetensorsFile(weights_path));
    naming_file(weights_path, [&] {
        check_tied_head(model.weights, config);
        check_weights(model.weights, config);
    });
    const std::string example_path = (fs::path(folder) / "inputs.safetensors").string();
    model.example = fs::exists(example_path) ? load_inputs(example_path, config) : example_inputs(config, 0);
    return std::make_shared<const Model>(std::move(model));
}

}  // namespace

std::shared_ptr<const Model> load_model(const std::string& name_or_path, const Overrides& overrides) {
    if (auto bundled = make_bundled_model(name_or_path)) return bundled;
    std::error_code failed;
    if (fs::is_directory(name_or_path, failed)) return load_folder(name_or_path, overrides);
    std::string names;
    for (const BundledModel& model : bundled_models()) names += (names.empty() ? "" : ", ") + model.name;
    throw Error(name_or_path + ": no such model; expected a folder with config.json and model.safetensors, or one of " + names);
}

}  // namespace decoderscope

// Other projects' models (tests/reference/foreign) open with what a person knows of them, by a mapping, or by their
// config.json, and compute what their own modules compute.
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/decoder/decoder.h"
#include "engine/decoder/kv_cache.h"
#include "engine/files/safetensors.h"
#include "engine/graph/run.h"
#include "engine/load/families/family.h"
#include "engine/load/model.h"
#include "engine/model/inputs.h"
#include "tests/catch.h"
#include "tests/engine/foreign_models.h"
#include "tests/engine/run_of.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

using namespace decoderscope;
using namespace decoderscope::decoder;
using namespace decoderscope::load::families;
using namespace decoderscope::load::names;
using namespace decoderscope::load;
using decoderscope::testing::about;
using decoderscope::testing::foreign_models;
using decoderscope::testing::known_answers;
using decoderscope::testing::run_of;
namespace fs = std::filesystem;

namespace {

enum class Said { by_config, by_nothing };

std::vector<fs::path> models(Said said) {
    std::vector<fs::path> found = foreign_models();
    std::erase_if(
        found, [&](const fs::path& model) { return fs::exists(model / "config.json") != (said == Said::by_config); });
    return found;
}

// The largest difference, relative to their scale.
double difference(std::span<const float> ours, std::span<const float> theirs) {
    REQUIRE(ours.size() == theirs.size());
    double largest = 0.0, scale = 0.0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        largest = std::max(largest, std::abs(static_cast<double>(ours[i]) - theirs[i]));
        scale = std::max(scale, std::abs(static_cast<double>(theirs[i])));
    }
    return scale > 0.0 ? largest / scale : largest;
}

Inputs inputs_of(const fs::path& folder, const Config& config) {
    return load_inputs((folder / "inputs.safetensors").string(), config);
}

// Every tensor that their module recorded, by its name.
void check_numbers(const fs::path& folder, const Model& model) {
    const auto run = run_of(model, inputs_of(folder, model.config()));
    const SafetensorsFile expected((folder / "expected.safetensors").string());
    for (const std::string& name : expected.names_in_order()) {
        INFO(name);
        CHECK(difference(run->value(name).values(), expected.floats(name).values()) < 1e-5);
    }
}

// The last position computed with the k and v that the others left is what it is in one pass.
void check_continuation(const fs::path& folder, const Model& model) {
    const Config config = model.config();
    Inputs inputs = inputs_of(folder, config);
    inputs.custom_mask = {};
    const Index before = inputs.tokens.axes()[1].size - 1;
    const auto first = run_of(model, part_of(inputs, {0, before}));
    const Past past = past_of(*first);
    const auto last = run_of(model, part_of(inputs, {before, 1}), &past);
    const Tensor whole = run_of(model, inputs)->value("logits"), one = last->value("logits");
    const auto vocab = static_cast<std::size_t>(config.vocab_size), rows = static_cast<std::size_t>(before) + 1;
    for (std::size_t batch = 0; batch < whole.values().size() / (vocab * rows); ++batch)
        CHECK(difference(one.values().subspan(batch * vocab, vocab),
                         whole.values().subspan(((batch + 1) * rows - 1) * vocab, vocab)) < 1e-5);
}

}  // namespace

TEST_CASE("other projects' decoders give their own numbers, by recognition and by a mapping") {
    for (const fs::path& folder : models(Said::by_nothing)) {
        INFO(folder.filename().string());
        const nlohmann::json said = about(folder);
        check_numbers(folder, *load_model(folder.string(), known_answers(said)));
        Mapping mapping = parse_mapping(said["map"].dump());
        if (said.contains("skipped"))
            for (const auto& [theirs, why] : said["skipped"].items()) mapping[theirs] = {};
        check_numbers(folder, *load_model(folder.string(), known_answers(said), nullptr, mapping));
    }
}

TEST_CASE("Hugging Face's families give their own numbers by config.json alone, and continue a text") {
    for (const fs::path& folder : models(Said::by_config)) {
        INFO(folder.filename().string());
        const auto model = load_model(folder.string());
        CHECK(model->recognised.questions.empty());
        check_numbers(folder, *model);
        check_continuation(folder, *model);
    }
}

TEST_CASE("StableLM's numbers are its own with a config.json") {
    const fs::path folder = DECODERSCOPE_TESTS_DIR "/reference/foreign/models/stablelm";
    if (!fs::exists(folder)) return;
    const testing::TemporaryFolder model;
    fs::copy_file(folder / "model.safetensors", model.file("model.safetensors"));
    testing::write_bytes(model.file("config.json"), R"({"model_type": "stablelm", "hidden_size": 16,
        "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2,
        "partial_rotary_factor": 0.25, "vocab_size": 29, "max_position_embeddings": 24, "hidden_act": "silu",
        "layer_norm_eps": 1e-05, "qk_layernorm": false, "rope_theta": 10000, "use_parallel_residual": false,
        "use_qkv_bias": false, "hidden_dropout": 0.0, "torch_dtype": "float32"})");
    check_numbers(folder, *load_model(model.path()));
}

namespace {

// Experts, latent attention and sinks are refused without a config.json, and so are pictures.
bool needs_config(const std::string& model) {
    for (const char* kind : {"moe", "mixtral", "gpt-oss", "deepseek", "kimi"})
        if (model.find(kind) != std::string::npos) return true;
    return model == "gemma3";
}

}  // namespace

TEST_CASE("of a family's files without their config.json, all that changes the numbers is asked") {
    for (const fs::path& folder : models(Said::by_config)) {
        INFO(folder.filename().string());
        const testing::TemporaryFolder alone;
        for (const auto& entry : fs::directory_iterator(folder))
            if (entry.path().filename().string().starts_with("model"))
                fs::copy_file(entry.path(), alone.file(entry.path().filename().string()));
        const nlohmann::json said = about(folder);
        if (needs_config(folder.filename().string())) {
            CHECK_THROWS_AS(load_model(alone.path(), {{"nhead", "2"}}), Error);
            continue;
        }
        if (said.contains("made")) {  // Marian's table of positions, which no key says
            CHECK_THROWS_AS(load_model(alone.path(), {{"nhead", "3"}}), Error);
            continue;
        }
        // The right answers, to questions that are asked.
        const Config config = parse_config(said["our_config"].dump());
        Overrides known = config_values(config);
        for (const auto& answer : read_family(read_text((folder / "config.json").string())).names)
            known.push_back(answer);
        Overrides answers;
        for (int round = 0; round < 2; ++round) {
            const Recognised recognised = recognise_model(alone.path(), answers).value();
            INFO(recognised.problem.english());
            answers.clear();
            for (const Question& question : recognised.questions)
                for (const auto& [key, value] : known)
                    if (key == question.key) answers.emplace_back(key, value);
        }
        try {
            check_numbers(folder, *load_model(alone.path(), answers));
        } catch (const Error& error) {
            FAIL_CHECK(error.what());
        }
    }
}

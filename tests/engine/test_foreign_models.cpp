// Other projects' models (tests/reference/foreign) open with what a person knows of them, by a mapping, or by their
// config.json, and compute what their own modules compute.
#include "engine/backward/gradient.h"
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

using namespace decoderscope::testing;
using namespace decoderscope::load::families;
using namespace decoderscope::load::names;
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
    // Their modules count every place; it is their generate that counts by the mask.
    const Config config = model.config({{"positions", "plain"}});
    const Inputs inputs = inputs_of(folder, config);
    const auto run = execute(plan_decoder({config, &model.weights, inputs, {}, std::nullopt}));
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

namespace {

constexpr Index kPadding = 3;  // before the text of row 1 in left/

}  // namespace

TEST_CASE("a batch padded on the left gives Hugging Face's numbers, in its padding, too, and what it gives alone") {
    for (const fs::path& folder : models(Said::by_config)) {
        INFO(folder.filename().string());
        const auto model = load_model(folder.string());
        check_numbers(folder / "left", *model);
        const Inputs padded = inputs_of(folder / "left", model->config());
        // LongRoPE's factors go by the longest text of a batch.
        if (model->config().cross_attention || model->config().rope_scaling == RopeScalingKind::longrope) continue;
        const Index length = padded.pos() - kPadding;
        REQUIRE(
            (is_padding(padded.attention_mask, 1, kPadding - 1) && !is_padding(padded.attention_mask, 1, kPadding)));
        Inputs alone;
        alone.tokens = Tensor({{axis::batch, 1}, {axis::pos, length}},
                              padded.tokens.row({1, 0}).last(static_cast<std::size_t>(length)));
        const Tensor with = run_of(*model, padded)->value("logits"), without = run_of(*model, alone)->value("logits");
        const auto text = with.values().last(without.values().size());
        CHECK(difference(text, without.values()) < 1e-5);
    }
}

TEST_CASE("the loss of a text that is padded on the left has the gradients that it has alone") {
    for (const char* name : {"llama", "gpt2", "gemma2-sliding", "falcon", "mpt", "gpt-oss", "deepseek-v3"}) {
        INFO(name);
        const auto model = load_model((testing::kForeignModels / name).string());
        const Config config = model->config();
        const Inputs both = inputs_of(testing::kForeignModels / name / "left", config);
        const auto row = [](const Tensor& of, Index first) {
            const auto kept = of.row({1, 0}).subspan(static_cast<std::size_t>(first));
            return Tensor({{axis::batch, 1}, {axis::pos, static_cast<Index>(kept.size())}}, kept);
        };
        Inputs padded, alone;
        padded.tokens = row(both.tokens, 0);
        padded.attention_mask = row(both.attention_mask, 0);
        alone.tokens = row(both.tokens, kPadding);
        const auto gradients_of = [&](const Inputs& inputs) {
            PassRequest request{config, &model->weights, inputs, {}, std::nullopt};
            request.gradient_target = "loss";
            return execute(plan_decoder(request));
        };
        const auto with = gradients_of(padded), without = gradients_of(alone);
        std::size_t compared = 0;
        for (const Step& step : without->plan().steps()) {
            if (step.role != Role::parameter) continue;
            const std::string gradient = backward::gradient_name(step.name);
            INFO(gradient);
            REQUIRE(with->plan().find(gradient) != nullptr);
            CHECK(difference(with->value(gradient).values(), without->value(gradient).values()) < 1e-4);
            ++compared;
        }
        CHECK(compared > 10);
    }
}

TEST_CASE("what a family fills hidden scores with is the lowest number of the type that is computed in") {
    for (const auto& [arithmetic, lowest] :
         {std::pair{"float32", -3.4028234663852886e38}, {"bfloat16", -3.3895313892515355e38}, {"float16", -65504.0}}) {
        const auto model = load_model((testing::kForeignModels / "llama").string());
        const Config config = model->config({{"arithmetic", arithmetic}});
        const Inputs inputs = inputs_of(testing::kForeignModels / "llama" / "left", config);
        const auto run = execute(plan_decoder({config, &model->weights, inputs, {}, std::nullopt}));
        const Tensor scores = run->value("blocks.0.attn.masked_scores");
        CHECK(static_cast<double>(scores.at(Cell{1, 0, 0, 0})) == lowest);
        CHECK(static_cast<double>(run->value("blocks.0.attn.pattern").at(Cell{1, 0, 0, 6})) ==
              Approx(1.0 / 7).epsilon(arithmetic == std::string("float32") ? 1e-6 : 4e-3));
    }
}

namespace {

// The tensors of a model of one file, as floats.
std::vector<std::pair<std::string, Tensor>> tensors_of(const fs::path& folder) {
    const SafetensorsFile file((folder / "model.safetensors").string());
    std::vector<std::pair<std::string, Tensor>> tensors;
    for (const std::string& name : file.names_in_order()) tensors.emplace_back(name, file.floats(name));
    return tensors;
}

Tensor& named(std::vector<std::pair<std::string, Tensor>>& tensors, const std::string& name) {
    return std::ranges::find(tensors, name, [](const auto& entry) { return entry.first; })->second;
}

std::string refusal(const std::string& path, const Overrides& answers) {
    try {
        static_cast<void>(load_model(path, answers));
    } catch (const Error& error) {
        return error.what();
    }
    return "(no error)";
}

bool any_remark(const Model& model, std::string_view part) {
    return std::ranges::any_of(
        model.remarks, [&](const Sentence& remark) { return remark.english().find(part) != std::string::npos; });
}

const std::string* proposal(const Model& model, const std::string& key) {
    const auto found = std::ranges::find(model.recognised.questions, key, &Question::key);
    return found == model.recognised.questions.end() ? nullptr : &found->proposal;
}

}  // namespace

TEST_CASE("BART's and Marian's one table may be stored under all of its names, if these hold the same numbers") {
    for (const char* name : {"bart", "marian"}) {
        const fs::path folder = testing::kForeignModels / name;
        if (!fs::exists(folder)) return;
        INFO(name);
        auto tensors = tensors_of(folder);
        const Tensor shared = named(tensors, "model.shared.weight");
        for (const char* copy :
             {"lm_head.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"})
            tensors.emplace_back(copy, shared);
        const testing::TemporaryFolder all;
        fs::copy_file(folder / "config.json", all.file("config.json"));
        write_safetensors(all.file("model.safetensors"), tensors);
        check_numbers(folder, *load_model(all.path()));
        named(tensors, "model.shared.weight").writable()[3] += 0.5F;
        write_safetensors(all.file("model.safetensors"), tensors);
        CHECK(refusal(all.path(), {}).find("model.shared.weight: differs from model.decoder.embed_tokens.weight") !=
              std::string::npos);
    }
}

TEST_CASE("a head of its own is not scaled where only the embedding, as the head, would be") {
    const fs::path folder = testing::kForeignModels / "jadore801120";
    if (!fs::exists(folder)) return;
    Overrides answers = known_answers(about(folder));
    std::erase_if(answers, [](const auto& answer) { return answer.first == "logit_scale"; });
    const auto tied = load_model(folder.string(), answers);
    REQUIRE(proposal(*tied, "logit_scale") != nullptr);
    CHECK(*proposal(*tied, "logit_scale") != "1");
    check_numbers(folder, *tied);
    CHECK(any_remark(*tied, "attention_scale=0 (1/√d_head)"));

    auto tensors = tensors_of(folder);
    for (float& number : named(tensors, "trg_word_prj.weight").writable()) number *= 2.0F;
    const testing::TemporaryFolder own;
    write_safetensors(own.file("model.safetensors"), tensors);
    const auto untied = load_model(own.file("model.safetensors"), answers);
    CHECK(*proposal(*untied, "logit_scale") == "1");
    const Inputs inputs = inputs_of(folder, untied->config());
    const Tensor before = run_of(*tied, inputs)->value("logits"), after = run_of(*untied, inputs)->value("logits");
    const double factor = 2.0 * std::sqrt(static_cast<double>(untied->config().d_model));
    for (Index i = 0; i < before.size(); ++i)
        CHECK(static_cast<double>(after.data()[i]) ==
              Approx(factor * static_cast<double>(before.data()[i])).epsilon(1e-4).margin(1e-5));
}

TEST_CASE("a stored table of the sinusoidal encoding gives way to it, and another is refused") {
    const fs::path folder = testing::kForeignModels / "jadore801120";
    if (!fs::exists(folder)) return;
    Overrides answers = known_answers(about(folder));
    answers.emplace_back("positional_encoding", "sinusoidal");
    const auto model = load_model(folder.string(), answers);
    CHECK(model->config().positional_encoding == PositionalEncoding::sinusoidal);
    CHECK_FALSE(model->weights.contains("pos_embed.weight"));
    CHECK(any_remark(*model, "decoder.position_enc.pos_table, as pos_embed.weight: holds the sinusoidal encoding"));
    check_numbers(folder, *model);
    auto tensors = tensors_of(folder);
    named(tensors, "decoder.position_enc.pos_table").writable()[30] += 0.01F;
    const testing::TemporaryFolder other;
    write_safetensors(other.file("model.safetensors"), tensors);
    CHECK(refusal(other.file("model.safetensors"), answers).find("differs from the sinusoidal encoding") !=
          std::string::npos);
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

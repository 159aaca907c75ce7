// Models: a folder as Hugging Face lays one out, and the bundled ones.
#include "engine/files/safetensors.h"
#include "engine/load/bundled_models.h"
#include "engine/load/checkpoint.h"
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/engine/filled.h"
#include "tests/engine/fixtures.h"
#include "tests/engine/messages.h"
#include "tests/engine/raw_safetensors.h"
#include "tests/engine/same_bits.h"
#include "tests/engine/small_models.h"
#include "tests/engine/temporary_folder.h"
#include "tests/sanitized.h"

#include <sys/stat.h>

#include <cmath>
#include <limits>

using namespace decoderscope::testing;

namespace {

// A small model in its own folder, to be damaged.
struct Saved {
    SmallModel model;
    TemporaryFolder folder;

    explicit Saved(const Overrides& overrides = {{"vocab_size", "7"}, {"lm_head", "true"}})
        : model(small_model(overrides)) {
        save();
    }

    void save() const {
        write_bytes(folder.file("config.json"), config_to_json(model.config));
        write_safetensors(folder.file("model.safetensors"), {model.weights.begin(), model.weights.end()});
    }
    // The error about it, which must name this file of the folder.
    void check_error(const char* file, std::vector<std::string> says, const Overrides& overrides = {}) const {
        says.push_back(folder.file(file));
        check_message(error_of([&] { static_cast<void>(load_model(folder.path(), overrides)); }), says);
    }
};

std::shared_ptr<const Run> run_example(const Model& model) {
    const Config config = model.config();
    return execute(plan_decoder({config, &model.weights, model.example, {}, std::nullopt}));
}

}  // namespace

// ---- a folder

TEST_CASE("a folder loads as saved, and runs on its own example") {
    const Saved saved;
    const auto model = load_model(saved.folder.path());
    CHECK(model->config() == saved.model.config);
    REQUIRE(model->weights.size() == saved.model.weights.size());
    for (const auto& [name, tensor] : saved.model.weights) {
        INFO(name);
        REQUIRE(model->weights.contains(name));
        CHECK(std::ranges::equal(model->weights.find(name)->second.values(), tensor.values()));
    }
    CHECK(run_example(*model)->value("probs").dim(0) == 1);
}

TEST_CASE("a folder's inputs.safetensors is its example") {
    const Saved saved;
    write_bytes(saved.folder.file("inputs.safetensors"),
                raw_safetensors({{"tokens", "I64", "[1, 2]", raw<std::int64_t>({3, 6})}}));
    CHECK(load_model(saved.folder.path())->example.tokens.at(Cell{0, 1}) == 6.0F);
    write_bytes(saved.folder.file("inputs.safetensors"),
                raw_safetensors({{"tokens", "I64", "[1, 2]", raw<std::int64_t>({3, 7})}}));
    saved.check_error("inputs.safetensors", {"tokens", "id 7", "0 to 6"});
}

TEST_CASE("NaN and infinite weights are loaded") {
    Saved saved;
    saved.model.weights.find("embed.weight")->second.writable()[0] = std::numeric_limits<float>::quiet_NaN();
    saved.model.weights.find("lm_head.bias")->second.writable()[0] = -std::numeric_limits<float>::infinity();
    saved.save();
    const auto model = load_model(saved.folder.path());
    CHECK(std::isnan(model->weights.find("embed.weight")->second.at(Cell{0, 0})));
    CHECK(run_example(*model)->value("probs").dim(2) == 7);
}

TEST_CASE("NaN and infinite weights are counted and reported, with the first of them") {
    Saved saved;
    saved.model.weights.find("embed.weight")->second.writable()[3] = std::numeric_limits<float>::quiet_NaN();
    saved.save();
    CHECK(load_model(saved.folder.path())->remarks ==
          std::vector<Sentence>{
              Sentence::verbatim("model.safetensors: 1 weight of embed.weight is NaN or infinite, and so may be what "
                                 "is computed with it")});
    saved.model.weights.find("lm_head.bias")->second.writable()[0] = -std::numeric_limits<float>::infinity();
    saved.model.weights.find("lm_head.bias")->second.writable()[1] = std::numeric_limits<float>::quiet_NaN();
    saved.save();
    const auto model = load_model(saved.folder.path());
    REQUIRE(model->remarks.size() == 1);
    check_message(model->remarks[0].english(), {"3 weights", "2 tensors", "embed.weight the first"});
    CHECK(load_model(kDefaultModel.data())->remarks.empty());
}

TEST_CASE("weights in bfloat16 or float16 are computed with in float32, which is said if no configuration decides it") {
    const Saved saved;
    const auto says = [](const std::shared_ptr<const Model>& model) {
        std::string all;
        for (const Sentence& remark : model->remarks) all += remark.english() + " ";
        return all;
    };
    for (const auto& [dtype, type] : {std::pair{"BF16", "bfloat16"}, std::pair{"F16", "float16"}}) {
        std::vector<RawTensor> tensors;
        for (const auto& [name, tensor] : saved.model.weights) {
            std::string shape;
            for (const Axis& axis : tensor.axes())
                shape += (shape.empty() ? "[" : ", ") + std::to_string(static_cast<int>(axis.size));
            const std::vector<std::uint16_t> halves(static_cast<std::size_t>(tensor.size()), 0x2e66);
            tensors.push_back({name, dtype, shape + "]", raw(halves)});
        }
        const TemporaryFolder folder;
        const std::string file = folder.file("weights.safetensors");
        write_bytes(file, raw_safetensors(tensors));
        check_message(says(load_model(file, {{"nhead", "2"}})),
                      {"weights.safetensors: its numbers are " + std::string(type), "in float32",
                       "arithmetic = " + std::string(type)});
        CHECK(says(load_model(file, {{"nhead", "2"}, {"arithmetic", type}})).find("its numbers are") ==
              std::string::npos);
        write_bytes(saved.folder.file("model.safetensors"), raw_safetensors(tensors));
        CHECK(load_model(saved.folder.path())->remarks.empty());
    }
}

TEST_CASE("weights split into files are found through their index") {
    const Saved saved;
    std::vector<std::pair<std::string, Tensor>> parts[2];
    std::string map;
    for (const auto& [name, tensor] : saved.model.weights) {
        const std::size_t part = parts[0].size() > parts[1].size() ? 1 : 0;
        parts[part].emplace_back(name, tensor);
        map += (map.empty() ? "\"" : ", \"") + name + "\": \"part-" + std::to_string(part) + ".safetensors\"";
    }
    for (int part : {0, 1})
        write_safetensors(saved.folder.file("part-" + std::to_string(part) + ".safetensors"), parts[part]);
    std::filesystem::remove(saved.folder.file("model.safetensors"));
    const auto write_index = [&](const std::string& entries) {
        write_bytes(saved.folder.file("model.safetensors.index.json"), "{\"weight_map\": {" + entries + "}}");
    };
    write_index(map);
    const auto model = load_model(saved.folder.path());
    CHECK(model->weights.size() == saved.model.weights.size());
    for (const auto& [name, tensor] : saved.model.weights)
        CHECK(std::ranges::equal(model->weights.find(name)->second.values(), tensor.values()));
    CHECK(load_model(saved.folder.file("config.json"))->name == saved.folder.path());
    CHECK(load_model(saved.folder.path() + "/")->name == saved.folder.path());

    write_index(map + R"(, "more.weight": "part-0.safetensors")");
    saved.check_error("model.safetensors.index.json", {"more.weight", "part-0.safetensors"});
    write_index(R"("embed.weight": "../elsewhere.safetensors")");
    saved.check_error("model.safetensors.index.json", {"weight_map", "embed.weight", "same folder"});
    write_index(R"("embed.weight": "part-7.safetensors")");
    saved.check_error("part-7.safetensors", {"cannot be read"});
    write_bytes(saved.folder.file("model.safetensors.index.json"), "[]");
    saved.check_error("model.safetensors.index.json", {"weight_map"});
}

TEST_CASE("what Python pickled is answered with the lines that turn it into safetensors", "[posix]") {
    const TemporaryFolder folder;
    for (const char* name : {"gpt.pt", "gpt.pth", "pytorch_model.bin", "last.ckpt", "it's \"mine\".PT"}) {
        write_bytes(folder.file(name), "PK\x03\x04");
        INFO(name);
        try {
            static_cast<void>(load_model(folder.file(name)));
            FAIL("it was opened");
        } catch (const NeedsConversion& error) {
            check_message(error.what(), {folder.file("").substr(0, folder.path().size()), "expected safetensors",
                                         "python3 -c '", "save_file"});
            CHECK(std::ranges::count(error.python(), '\n') == 3);
            CHECK(error.python().find("weights_only=True") != std::string::npos);
            CHECK(error.problem().english().find("import") == std::string::npos);
        }
        std::filesystem::remove(folder.file(name));
    }
    write_bytes(folder.file("pytorch_model.bin"), "PK");
    CHECK_THROWS_AS(load_model(folder.path()), NeedsConversion);
    write_bytes(folder.file("model.safetensors"), "PK");
    check_message(error_of([&] { static_cast<void>(load_model(folder.path())); }), {"model.safetensors", "2 bytes"});
    check_message(error_of([&] { static_cast<void>(load_model(folder.file("absent.pt"))); }),
                  {"absent.pt", "no such model"});
}

TEST_CASE("a load says how far it is, and can be stopped") {
    const Saved saved;
    std::size_t bytes = 0;
    for (const auto& [name, tensor] : saved.model.weights) bytes += tensor.values().size_bytes();
    LoadProgress progress;
    static_cast<void>(load_model(saved.folder.path(), {}, &progress));
    CHECK(progress.bytes_total == bytes);
    CHECK(progress.bytes_read == bytes);
    std::stop_source source;
    LoadProgress stopped{.stop = source.get_token()};
    source.request_stop();
    CHECK_THROWS_AS(load_model(saved.folder.path(), {}, &stopped), LoadStopped);
    CHECK(stopped.bytes_read == 0);
}

TEST_CASE("a configuration beyond all reason is refused before anything is made for it") {
    const Saved saved;
    for (const auto& [key, value] : keys_of("num_layers=4096 dim_feedforward=16777216 vocab_size=16777216 "
                                            "encoder_layers=4096 d_model=16777216")) {
        INFO(key);
        Overrides overrides = {{key, value}};
        if (key == "encoder_layers") overrides.emplace_back("cross_attention", "true");
        saved.check_error("model.safetensors", {"expected"}, overrides);
    }
    for (const char* size : {"1099511627776", "1e400", "-1", "0"})
        saved.check_error("config.json", {"d_model", "positive integer"}, {{"d_model", size}});
    saved.check_error("model.safetensors", {"embed.weight", "[7, 12]", "[8, 12]"}, {{"vocab_size", "8"}});
    saved.check_error("config.json", {"vocab_size"}, {{"vocab_size", "0"}});
}

TEST_CASE("a pipe or a device in a model's folder is no file, and isn't waited for", "[native][posix]") {
    const Saved saved;
    for (const char* name : {"config.json", "model.safetensors"}) {
        saved.save();
        std::filesystem::remove(saved.folder.file(name));
        REQUIRE(::mkfifo(saved.folder.file(name).c_str(), 0600) == 0);
        saved.check_error(name, {"not a file"});
        std::filesystem::remove(saved.folder.file(name));
        std::filesystem::create_symlink("/dev/zero", saved.folder.file(name));
        saved.check_error(name, {"not a file"});
        std::filesystem::remove(saved.folder.file(name));
    }
}

TEST_CASE("nor is one waited for that a model's folder may do without", "[native][posix]") {
    for (const char* name :
         {"example.json", "inputs.safetensors", "vocabulary.json", "tokenizer.json", "vocab.json", "pieces.json"}) {
        const Saved saved;
        REQUIRE(::mkfifo(saved.folder.file(name).c_str(), 0600) == 0);
        if (name == std::string("vocab.json")) write_bytes(saved.folder.file("merges.txt"), "");
        saved.check_error(name, {"not a file"});
        std::filesystem::remove(saved.folder.file(name));
        std::filesystem::create_symlink(saved.folder.file(name), saved.folder.file(name));  // leads to itself
        saved.check_error(name, {"cannot be read", "symbolic links"});
    }
    const Saved split;
    std::filesystem::remove(split.folder.file("model.safetensors"));
    REQUIRE(::mkfifo(split.folder.file("model.safetensors.index.json").c_str(), 0600) == 0);
    split.check_error("model.safetensors.index.json", {"not a file"});
}

TEST_CASE("a tensor that is missing, surplus, misshapen or of whole numbers is named") {
    const std::string name = "layers.0.self_attn.k_proj.weight";
    Saved missing;
    missing.model.weights.erase(name);
    missing.save();
    missing.check_error("model.safetensors", {name, "missing", "[12, 12]"});

    Saved surplus;
    surplus.model.weights.emplace("layers.1.norm1.weight", filled({12}, 1.0F));
    surplus.save();
    surplus.check_error("model.safetensors", {"layers.1.norm1.weight", "no such tensor"});

    Saved misshapen;
    misshapen.model.weights.insert_or_assign(name, filled({6, 12}, 1.0F));
    misshapen.save();
    misshapen.check_error("model.safetensors", {name, "[6, 12]", "[12, 12]"});

    const Saved whole;
    write_bytes(whole.folder.file("model.safetensors"),
                raw_safetensors({{"embed.weight", "I64", "[1]", raw<std::int64_t>({1})}}));
    whole.check_error("model.safetensors", {"embed.weight", "I64", "F32"});
}

TEST_CASE("a file that is missing, cut short or something else is named", "[posix]") {
    const Saved no_config;
    std::filesystem::remove(no_config.folder.file("config.json"));
    no_config.check_error("config.json", {"missing", "nhead"});

    const Saved no_weights;
    std::filesystem::remove(no_weights.folder.file("model.safetensors"));
    no_weights.check_error("model.safetensors", {"No such file"});

    const Saved cut_short;
    const std::string whole = read_bytes(cut_short.folder.file("model.safetensors"));
    write_bytes(cut_short.folder.file("model.safetensors"), whole.substr(0, whole.size() - 1));
    cut_short.check_error("model.safetensors", {"truncated"});

    const Saved folder_instead;
    std::filesystem::remove(folder_instead.folder.file("model.safetensors"));
    std::filesystem::create_directory(folder_instead.folder.file("model.safetensors"));
    folder_instead.check_error("model.safetensors", {"safetensors file"});
}

TEST_CASE("a bad configuration names its file and its key") {
    const Saved saved;
    write_bytes(saved.folder.file("config.json"),
                R"({"model_type": "decoderscope", "d_model": 12, "nhead": 5, "num_layers": 1})");
    saved.check_error("config.json", {"nhead", "a divisor of d_model"});
    write_bytes(saved.folder.file("config.json"), "not JSON");
    saved.check_error("config.json", {"not valid JSON"});
}

TEST_CASE("an override is checked against the weights") {
    const Saved saved;
    CHECK(load_model(saved.folder.path(), {{"norm_first", "true"}})->config().norm_first ==
          false);  // kept next to it, not in it
    saved.check_error("model.safetensors", {"layers.1.", "missing"}, {{"num_layers", "2"}});
    saved.check_error("model.safetensors", {"proj", "no such tensor"}, {{"dim_feedforward", "0"}});
    saved.check_error("config.json", {"nhead", "a divisor"}, {{"nhead", "5"}});
}

TEST_CASE("a tied head may be stored as well, if it is the embedding") {
    Saved saved(Overrides{{"vocab_size", "7"}, {"lm_head", "true"}, {"tie_word_embeddings", "true"}});
    CHECK(load_model(saved.folder.path())->weights.count("lm_head.weight") == 0);
    saved.model.weights.find("embed.weight")->second.writable()[7] = std::numeric_limits<float>::quiet_NaN();
    Tensor head = saved.model.weights.find("embed.weight")->second;
    saved.model.weights.emplace("lm_head.weight", head);
    saved.save();
    CHECK(load_model(saved.folder.path())->weights.count("lm_head.weight") == 0);
    head.writable()[5] += 1.0F;
    saved.model.weights.insert_or_assign("lm_head.weight", head);
    saved.save();
    saved.check_error("model.safetensors", {"lm_head.weight", "embed.weight", "tie_word_embeddings"});
    saved.model.weights.insert_or_assign("lm_head.weight", filled({7, 11}, 1.0F));
    saved.save();
    saved.check_error("model.safetensors", {"lm_head.weight", "embed.weight"});
    saved.model.weights.erase("embed.weight");
    saved.save();
    saved.check_error("model.safetensors", {"embed.weight"});
}

TEST_CASE("under shared_qkv the key's and the value's projection may be there, in their own shape, and are not read") {
    Saved saved(Overrides{{"shared_qkv", "true"}});
    const Weights all = saved.model.weights;
    REQUIRE(all.contains("layers.0.self_attn.k_proj.weight"));
    const auto with = run_example(*load_model(saved.folder.path()));
    for (const char* name : {"k_proj.weight", "k_proj.bias", "v_proj.weight", "v_proj.bias"})
        saved.model.weights.erase("layers.0.self_attn." + std::string(name));
    saved.save();
    const auto without = run_example(*load_model(saved.folder.path()));
    CHECK(first_difference(*with, *without) == "");
    saved.model.weights.emplace("layers.0.self_attn.k_proj.weight", filled({6, 12}, 1.0F));
    saved.save();
    saved.check_error("model.safetensors", {"k_proj.weight", "[6, 12]", "[12, 12]"});
}

TEST_CASE("a model that doesn't exist says which ones do") {
    for (const char* name : {"gpt-5", "", "/absent/folder", "two\nlines"})
        check_message(error_of([&] { static_cast<void>(load_model(name)); }),
                      {"no such model", "config.json", "causal-lm", "simple-decoder"});
}

// ---- the bundled ones

TEST_CASE("every bundled model loads, runs on its example, and is the same each time") {
    REQUIRE(bundled_models().size() >= 6);
    for (const BundledModel& card : looked_at(bundled_models(), 4)) {
        INFO(card.name);
        CHECK(card.description.english().find('\n') == std::string::npos);
        CHECK(card.description.english().size() > 20);
        const auto model = load_model(card.name);
        CHECK(model->name == card.name);
        CHECK(model->description == card.description);
        const auto run = run_example(*model);
        CHECK(trace_of(*run).size() > 15);
        CHECK(first_difference(*run, *run_example(*load_model(card.name))) == "");
        for (const float value : trace_of(*run).back().second.values())
            if (!std::isfinite(value)) FAIL_CHECK("the output is not finite");
    }
}

TEST_CASE("a bundled model runs either way round, with dropout and without") {
    for (const BundledModel& card : looked_at(bundled_models(), 4)) {
        INFO(card.name);
        const auto model = load_model(card.name);
        const Config config = model->config();
        const Config flipped = model->config({{"norm_first", config.norm_first ? "false" : "true"}});
        const auto as_built = execute(plan_decoder({config, &model->weights, model->example, {}, 1}));
        const auto other = execute(plan_decoder({flipped, &model->weights, model->example, {}, 1}));
        CHECK(trace_of(*as_built).size() == trace_of(*other).size());
    }
}

TEST_CASE("the window's first model is one of them") { CHECK(make_bundled_model(kDefaultModel) != nullptr); }

TEST_CASE("an example for any configuration fits it") {
    for (const std::string& name : looked_at(fixture_names(), 5)) {
        INFO(name);
        const Fixture fixture = load_fixture(name);
        const Inputs example = example_inputs(fixture.config, 3);
        CHECK(error_of([&] { check_inputs(example, fixture.config); }) == "(no error)");
    }
}

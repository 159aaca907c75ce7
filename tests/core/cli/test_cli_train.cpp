// decoderscope train: what it prints and writes, and what it refuses.
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/files/safetensors.h"
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/engine/contains.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

using namespace decoderscope::testing;

namespace {

namespace fs = std::filesystem;

std::string training(const std::string& name) { return DECODERSCOPE_TESTS_DIR "/reference/training/" + name; }

std::string bare_folder(const TemporaryFolder& folder) {
    const std::string path = folder.file("bare");
    fs::create_directory(path);
    write_bytes(path + "/config.json", R"({"model_type": "decoderscope", "d_model": 8, "nhead": 2, "num_layers": 1,
        "vocab_size": 29, "positional_encoding": "sinusoidal", "lm_head": true, "dropout": 0.2})");
    return path;
}

}  // namespace

TEST_CASE("train prints a line of JSON a step, and writes a folder that opens with PyTorch's weights") {
    const TemporaryFolder folder;
    const std::string model = training("adamw-encdec"), out = folder.file("trained");
    const nlohmann::json wanted = nlohmann::json::parse(read_text(model + "/training.json"));
    const Outcome outcome =
        run({"train", model, "--data", model + "/data.safetensors", "--steps", "20", "--lr", "3e-3", "--warmup", "10",
             "--optimizer", "adamw", "--betas", "0.9,0.98", "--weight-decay", "0.1", "--out", out, "--json"});
    CHECK(outcome.err.empty());
    REQUIRE(outcome.status == 0);
    std::istringstream lines(outcome.out);
    std::size_t step = 0;
    for (std::string line; std::getline(lines, line); ++step) {
        const nlohmann::json json = nlohmann::json::parse(line);
        CHECK(json["step"] == step + 1);
        CHECK(json["loss"].get<double>() == Approx(wanted["losses"][step].get<double>()).epsilon(1e-4));
        CHECK(json["lr"].get<double>() == Approx(wanted["learning_rates"][step].get<double>()));
    }
    CHECK(step == 20);
    CHECK(contains(outcome.out, R"({"step": 1, "loss": )"));
    const std::shared_ptr<const Model> trained = load_model(out);
    CHECK(trained->config() == load_model(model)->config());
    const SafetensorsFile theirs(model + "/trained.safetensors");
    for (const auto& [name, entry] : theirs.entries()) {
        if (name.ends_with("k_proj.bias")) continue;  // its gradient is 0 but for rounding
        const Tensor expected = theirs.floats(name);
        REQUIRE(trained->weights.contains(name));
        for (Index i = 0; i < expected.size(); ++i)
            CHECK(std::abs(trained->weights.at(name).data()[i] - expected.data()[i]) <= 1e-4F);
    }
    CHECK(folder.entries() == 1);
}

TEST_CASE("train goes through its batches in turn, and again from the first") {
    const TemporaryFolder folder;
    const std::string model = training("sgd-momentum");
    const Outcome outcome = run({"train", model, "--data", model + "/data.safetensors", "--steps", "21", "--lr", "0",
                                 "--json", "--optimizer", "sgd"});
    REQUIRE(outcome.status == 0);
    std::vector<double> losses;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) losses.push_back(nlohmann::json::parse(line)["loss"]);
    REQUIRE(losses.size() == 21);
    CHECK(losses[20] == losses[0]);
    CHECK(losses[1] != losses[0]);
}

TEST_CASE("train begins afresh from a bare configuration, by a rule and a seed, and brings the task's vocabulary") {
    const TemporaryFolder folder;
    const std::string bare = bare_folder(folder);
    const auto trained = [&](const std::string& rule, const std::string& seed,
                             const std::vector<std::string>& more = {}) {
        std::vector<std::string> arguments = {"train",   bare, "--init", rule,   "--seed",  seed, "--task", "reversal",
                                              "--steps", "2",  "--lr",   "0.01", "--batch", "3",  "--json"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Outcome outcome = run(arguments);
        CHECK(outcome.err.empty());
        CHECK(outcome.status == 0);
        return outcome.out;
    };
    CHECK(trained("xavier", "1") == trained("xavier", "1"));
    CHECK(trained("xavier", "1") != trained("xavier", "2"));
    CHECK(trained("xavier", "1") != trained("pytorch", "1"));
    CHECK(trained("xavier", "1") != trained("xavier", "1", {"--dropout-seed", "1"}));
    static_cast<void>(trained("xavier", "1", {"--out", folder.file("out"), "--set", "norm_first=true"}));
    const std::shared_ptr<const Model> model = load_model(folder.file("out"));
    CHECK(model->config().norm_first);
    CHECK(model->tokenizer.can_encode());
    CHECK(model->tokenizer.piece(3) == "a");
    // A model's folder is replaced; it opens with its own vocabulary again.
    const Outcome again = run({"train", folder.file("out"), "--task", "reversal", "--steps", "1", "--lr", "0.01",
                               "--out", folder.file("out")});
    CHECK(again.err.empty());
    CHECK(again.status == 0);
    CHECK(contains(again.out, "step 1: loss "));
    CHECK(load_model(folder.file("out"))->tokenizer.can_encode());
    CHECK(folder.entries() == 2);
}

TEST_CASE("a trained model keeps the texts of its example, and not what its author says of other weights") {
    const TemporaryFolder folder;
    const Outcome outcome = run({"train", "dates", "--task", "dates", "--steps", "1", "--lr", "1e-3", "--batch", "2",
                                 "--out", folder.file("out")});
    CHECK(outcome.err.empty());
    REQUIRE(outcome.status == 0);
    const std::shared_ptr<const Model> before = load_model("dates"), after = load_model(folder.file("out"));
    CHECK(std::ranges::equal(after->example.tokens.values(), before->example.tokens.values()));
    CHECK(std::ranges::equal(after->example.encoder_tokens.values(), before->example.encoder_tokens.values()));
    CHECK_FALSE(before->trials.empty());
    CHECK(after->trials.empty());
}

TEST_CASE("train continues a text of the learner's own") {
    const TemporaryFolder folder;
    const std::string text = folder.file("text.txt");
    write_bytes(text, "decoder\n\ntransformer\n");
    const Outcome outcome = run({"train", "reverse", "--lines", text, "--steps", "1", "--lr", "0.01"});
    CHECK(outcome.status == 1);  // an encoder needs a text of its own
    const Outcome induction =
        run({"train", "induction", "--lines", text, "--steps", "1", "--lr", "0.01", "--batch", "2"});
    CHECK(induction.err.empty());
    CHECK(induction.status == 0);
    write_bytes(text, "É\n");
    const Outcome strange = run({"train", "induction", "--lines", text, "--steps", "1", "--lr", "0.01"});
    CHECK(strange.status == 1);
    CHECK(contains(strange.err, text));
}

TEST_CASE("train says in a line what it can't train on, and leaves nothing behind") {
    const TemporaryFolder folder;
    const std::string bare = bare_folder(folder), out = folder.file("out"), model = training("adam-tied");
    const std::string data = model + "/data.safetensors", other = training("adamw-encdec") + "/data.safetensors";
    const std::size_t before = folder.entries();
    const auto refuses = [&](std::vector<std::string> arguments, int status, const std::vector<std::string>& says) {
        arguments.insert(arguments.begin(), "train");
        arguments.insert(arguments.end(), {"--out", out});
        const Outcome outcome = run(arguments);
        INFO(outcome.err);
        CHECK(outcome.status == status);
        CHECK(outcome.err.find('\n') == outcome.err.size() - 1);
        for (const std::string& part : says) CHECK(contains(outcome.err, part));
        CHECK_FALSE(fs::exists(out));
        CHECK(folder.entries() == before);
    };
    const std::vector<std::string> one = {"--steps", "1", "--lr", "0.1"};
    const auto with = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.end(), one.begin(), one.end());
        return arguments;
    };
    refuses(with({model}), 2, {"--data"});
    refuses({model, "--data", data}, 2, {"--steps"});
    refuses(with({model, "--data", data, "--task", "reverse"}), 2, {"--task"});
    refuses(with({model, "--data", data, "--optimizer", "lion"}), 2, {"lion"});
    refuses(with({model, "--data", data, "--betas", "0.9"}), 2, {"--betas"});
    refuses(with({model, "--data", other}), 1, {other, "encoder"});
    refuses(with({model, "--data", folder.file("none")}), 1, {folder.file("none")});
    refuses(with({model, "--task", "reverse"}), 1, {"vocab_size", "11", "29"});
    refuses(with({model, "--task", "sorting"}), 1, {"sorting"});
    refuses(with({bare, "--task", "reversal"}), 1, {"bare"});  // no weights, and no --init
    const Outcome missing =
        run({"train", model, "--data", data, "--steps", "1", "--lr", "1", "--out", "/no/such/folder"});
    CHECK(missing.status == 1);
    CHECK(contains(missing.err, "/no/such"));
    write_bytes(folder.file("bare/notes.txt"), "mine");
    const Outcome full = run({"train", model, "--data", data, "--steps", "1", "--lr", "1", "--out", bare});
    CHECK(full.status == 1);
    CHECK(contains(full.err, "notes.txt"));
    CHECK(fs::exists(folder.file("bare/notes.txt")));
}

TEST_CASE("a number that is NaN, infinite or negative is refused, whatever option it is for") {
    const std::vector<std::string> train = {"train", "simple-decoder", "--task", "reverse", "--steps", "1"};
    for (const char* option : {"--lr", "--eps", "--momentum", "--weight-decay", "--clip", "--betas"})
        for (const std::string value : {"nan", "inf", "-inf", "1e999", "-1"}) {
            std::vector<std::string> arguments = train;
            if (option != std::string("--lr")) arguments.insert(arguments.end(), {"--lr", "0.1"});
            arguments.insert(arguments.end(), {option, option == std::string("--betas") ? "0.9," + value : value});
            CAPTURE(option, value);
            CHECK(run(arguments).status == 2);
        }
    for (const std::string value : {"nan", "inf", "-1"}) {
        CAPTURE(value);
        CHECK(run({"generate", "causal-lm", "--temperature", value}).status == 2);
        CHECK(run({"generate", "causal-lm", "--top-p", value}).status == 2);
        CHECK(run({"diff", "causal-lm", "--against", "x", "--tolerance", value}).status == 2);
        CHECK(run({"bisect", "causal-lm", "--against", "x", "--tolerance", value}).status == 2);
        CHECK(run({"export", "causal-lm", "--tensor", "logits", "--out", "x.png", "--scale", value}).status == 2);
    }
}

// Whatever a file given to the command line contains, the command either succeeds, or says in one line what is wrong
// and leaves nothing behind. Valid files with a few bytes changed, from fixed seeds; DECODERSCOPE_HOSTILE_FILES sets
// how many of each kind.
#include "app/cli.h"
#include "engine/decoder/initial_weights.h"
#include "engine/files/safetensors.h"
#include "tests/catch.h"
#include "tests/engine/dice.h"
#include "tests/engine/raw_safetensors.h"
#include "tests/engine/temporary_folder.h"

#include <cstdlib>
#include <sstream>

using namespace decoderscope::testing;
using namespace decoderscope::app;

namespace {

constexpr const char* kConfig = R"({"model_type": "decoderscope", "d_model": 4, "nhead": 2, "num_layers": 1,
    "dim_feedforward": 3, "vocab_size": 5, "lm_head": true, "max_positions": 8, "mask_value": "-1e9",
    "norm": "layernorm", "dropout_sites": ["mlp_out"]})";

// A small model and all files that may accompany it.
struct Files {
    TemporaryFolder folder, out;
    std::vector<std::pair<std::string, std::string>> contents;  // name, bytes

    Files() {
        const Config config = parse_config(kConfig);
        const Weights weights = initial_weights(config, 0);
        write_safetensors(folder.file("model.safetensors"), {weights.begin(), weights.end()});
        std::string index = "{\"weight_map\": {";
        for (const auto& [name, tensor] : weights)
            index += (index.ends_with('{') ? "\"" : ", \"") + name + "\": \"model.safetensors\"";
        contents = {
            {"config.json", kConfig},
            {"model.safetensors", read_bytes(folder.file("model.safetensors"))},
            {"model.safetensors.index.json", index + "}}"},
            {"vocabulary.json", R"({"tokens": ["<pad>", "a", "b", "c", "d"], "pad": "<pad>"})"},
            {"example.json", R"({"description": "x", "target": ["ab", "c"],
                                 "look_at": {"step": "blocks.0.attn.pattern", "head": 1}})"},
            {"inputs", raw_safetensors({{"tokens", "I64", "[1, 3]", raw<std::int64_t>({1, 4, 0})},
                                        {"attention_mask", "I64", "[1, 3]", raw<std::int64_t>({1, 1, 0})}})},
            {"edits", R"([{"edit": "mask", "attention": "blocks.0.attn", "batch": 0, "head": "*", "query": 2,
                           "key": 0, "keep": false},
                          {"edit": "scale_head", "attention": "blocks.0.attn", "head": 1, "factor": 0.5},
                          {"edit": "set_cell", "tensor": "blocks.0.attn.z", "index": [0, 1, 2, 1], "value": -2.5}])"},
        };
        for (const auto& [name, bytes] : contents) write_bytes(folder.file(name), bytes);
    }
};

// Some ways to damage a file: bytes changed, cut off, doubled, or an absurd number.
std::string mutated(Dice& dice, std::string bytes) {
    for (Index changes = dice.between(1, 3); changes > 0 && !bytes.empty(); --changes) {
        const auto at = static_cast<std::size_t>(dice.below(static_cast<Index>(bytes.size())));
        const auto length = static_cast<std::size_t>(dice.between(1, 16));
        switch (dice.below(6)) {
            case 0:
                bytes[at] = static_cast<char>(dice.below(256));
                break;
            case 1:
                bytes[at] = dice.word({"\"", "{", "}", "[", "]", ",", ":", "-", "9", "\x80", "e"})[0];
                break;
            case 2:
                bytes.erase(at, length);
                break;
            case 3:
                bytes.insert(at, bytes.substr(at, length));
                break;
            case 4:
                bytes.insert(at, dice.word({"99999999999", "-1", "1e999", "null", "\"\\u0000\"", "[[[[[",
                                            "18446744073709551615", "9223372036854775807", "0", "{}", "[]", "true"}));
                break;
            default:
                bytes.resize(at);
        }
    }
    return bytes;
}

int count_of_each() {
    const char* given = std::getenv("DECODERSCOPE_HOSTILE_FILES");
    return given != nullptr ? std::atoi(given) : 60;
}

// Runs a command. Only its output may be new in `out`, and only if it succeeded.
void check_command(const std::vector<std::string>& arguments, const TemporaryFolder& out) {
    std::ostringstream said, err;
    const CliResult result = run_cli(arguments, said, err);
    std::string message = err.str();
    while (message.starts_with("decoderscope: note: ")) message.erase(0, message.find('\n') + 1);
    INFO(arguments[0] << ": " << message);
    REQUIRE((result.status == 0 || result.status == 1));
    if (result.status == 0) {
        REQUIRE(message.empty());
        REQUIRE(out.entries() == 1);
        return;
    }
    REQUIRE(out.entries() == 0);
    REQUIRE(message.starts_with("decoderscope: "));
    REQUIRE(message.find('\n') == message.size() - 1);
    REQUIRE(message.size() < 5000);
}

}  // namespace

TEST_CASE("a file with anything wrong in it is read, or refused by one line") {
    const Files files;
    const std::string trace = files.out.file("trace.safetensors"), picture = files.out.file("picture.csv");
    const std::vector<std::string> common = {"--inputs", files.folder.file("inputs"), "--edits",
                                             files.folder.file("edits")};
    const auto with = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.end(), common.begin(), common.end());
        return arguments;
    };
    const auto commands = [&] {
        check_command(with({"trace", files.folder.path(), "--out", trace}), files.out);
        std::filesystem::remove(trace);
        check_command(with({"export", files.folder.path(), "--tensor", "logits", "--out", picture}), files.out);
        std::filesystem::remove(picture);
    };
    commands();
    std::uint64_t seed = 0;
    for (const auto& [name, bytes] : files.contents) {
        for (int i = 0; i < count_of_each(); ++i) {
            Dice dice(seed++);
            INFO(name << ", seed " << seed - 1);
            write_bytes(files.folder.file(name), mutated(dice, bytes));
            commands();
        }
        write_bytes(files.folder.file(name), bytes);
    }
}

TEST_CASE("a trace to compare with that has anything wrong in it is read, or refused by one line") {
    const Files files;
    const std::string path = files.folder.file("against");
    const CliResult written = [&] {
        std::ostringstream out, err;
        return run_cli(std::vector<std::string>{"trace", files.folder.path(), "--out", path}, out, err);
    }();
    REQUIRE(written.status == 0);
    const std::string bytes = read_bytes(path);
    for (int i = 0; i < count_of_each(); ++i) {
        INFO("seed " << i);
        Dice dice(static_cast<std::uint64_t>(i));
        write_bytes(path, mutated(dice, bytes));
        std::ostringstream out, err;
        const std::vector<std::string> arguments = {"diff", files.folder.path(), "--against", path};
        const CliResult result = run_cli(arguments, out, err);
        REQUIRE((result.status >= 0 && result.status <= 3));
        if (result.status != 0) REQUIRE(err.str().find('\n') == err.str().size() - 1);
    }
}

// What is refused before any memory is taken for it (engine/base/limits.h): one sentence that names what is too large,
// and the limit.
#include "engine/base/json.h"
#include "engine/base/limits.h"
#include "engine/files/safetensors.h"
#include "engine/model/inputs.h"
#include "tests/catch.h"
#include "tests/engine/messages.h"
#include "tests/engine/raw_safetensors.h"
#include "tests/engine/small_models.h"
#include "tests/engine/temporary_folder.h"

#include <filesystem>

using namespace decoderscope::testing;

namespace {

std::string text(auto limit) { return std::to_string(limit); }

std::string error_of_file(const std::string& bytes) {
    const TemporaryFolder folder;
    write_bytes(folder.file("t.safetensors"), bytes);
    return error_of([&] { static_cast<void>(SafetensorsFile(folder.file("t.safetensors"))); });
}

std::string empty_tensor(const std::string& name, const std::string& shape) {
    return "\"" + name + R"(": {"dtype": "F32", "shape": )" + shape + R"(, "data_offsets": [0, 0]})";
}

// The message for tokens of these sizes, all 0, for a model of two heads.
std::string error_of_tokens(Index batch, Index pos) {
    Inputs inputs;
    inputs.tokens = Tensor({{axis::batch, batch}, {axis::pos, pos}});
    std::ranges::fill(inputs.tokens.writable(), 0.0F);
    return error_of([&] { check_inputs(inputs, small_config({{"vocab_size", "7"}})); });
}

}  // namespace

TEST_CASE("a product of sizes is counted as long as a tensor may be so large, and never overflows") {
    using limits::count_of;
    CHECK(count_of({}) == 1);
    CHECK(count_of({3, 5}) == 15);
    CHECK(count_of({1'000'000, 1'000'000}) == 1'000'000'000'000);
    CHECK(count_of({limits::kNumbers, 1}) == limits::kNumbers);
    CHECK(count_of({limits::kNumbers, 2}) == std::nullopt);
    CHECK(count_of({Index{1} << 62, Index{1} << 62, 0}) == std::nullopt);
    CHECK(count_of({0, Index{1} << 62, 4}) == 0);
}

TEST_CASE("JSON of more values than any file needs is refused") {
    std::string list = "[0";
    for (std::size_t i = 0; i < limits::kJsonValues; ++i) list += ",0";
    check_message(error_of([&] { static_cast<void>(parse_json(list + "]", message("a list of edits"))); }),
                  {"more than " + text(limits::kJsonValues) + " values", "a list of edits"});
}

TEST_CASE("JSON is what nlohmann's parser makes of it, its keys in their order or not, and ends where its text ends") {
    const Sentence expected = message("a value");
    for (const std::string text :
         {"null", "true", "-3", "18446744073709551615", "1.5e3", R"("a\u0000b")", "[]", "{}",
          R"([1, [2, {"b": 1, "a": [{}]}], null])", R"({"z": {"y": [1, 2]}, "a": "x", "b": {}})"}) {
        INFO(text);
        CHECK(parse_json(text, expected) == Json::parse(text));
        CHECK(parse_ordered_json(text, expected).dump() == OrderedJson::parse(text).dump());
    }
    for (const std::string text : {"", "[1,]", "{\"a\": 1", "{} {}", "\"\xff\""}) {
        INFO(text);
        check_message(error_of([&] { static_cast<void>(parse_ordered_json(text, expected)); }), {"not valid JSON"});
    }
    for (const char* behind : {"", "{}"})
        check_message(
            error_of([&] { static_cast<void>(parse_json("[1,\n2]" + std::string(1, '\0') + behind, expected)); }),
            {"not valid JSON from line 2 on", "a value"});
    check_message(error_of([&] { static_cast<void>(parse_ordered_json(R"([{"a": 1, "b": 2, "a": 3}])", expected)); }),
                  {"a: given twice"});
    // An object of many keys takes no longer than a list of as many values: nlohmann's own would take minutes.
    std::string many = "{\"k\": 0";
    for (int i = 0; i < 400'000; ++i) many += ", \"" + std::to_string(i) + "\": 1";
    CHECK(parse_ordered_json(many + "}", expected).size() == 400'001);
    CHECK(json_or_text("[1, 2]") == OrderedJson::parse("[1, 2]"));
    CHECK(json_or_text(std::string(1'000'000, '[')) == OrderedJson(std::string(1'000'000, '[')));
}

TEST_CASE("a header longer than the format allows is refused, however long the file is") {
    const TemporaryFolder folder;
    const std::string path = folder.file("t.safetensors");
    write_bytes(path, raw<std::uint64_t>({limits::kHeaderBytes + 1}));
    std::filesystem::resize_file(path, limits::kHeaderBytes + 100);  // a sparse file, which takes no room
    check_message(error_of([&] { static_cast<void>(SafetensorsFile(path)); }),
                  {"t.safetensors", "header", text(limits::kHeaderBytes + 1), "at most " + text(limits::kHeaderBytes)});
}

TEST_CASE("more tensors than any file holds are refused") {
    std::string header = "{" + empty_tensor("first", "[0]");
    for (std::size_t i = 0; i < limits::kTensors; ++i) header += ", " + empty_tensor(text(i), "[0]");
    check_message(error_of_file(with_header(header + "}")),
                  {"t.safetensors", text(limits::kTensors + 1) + " tensors", "at most " + text(limits::kTensors)});
}

TEST_CASE("a tensor's name is no longer than a name") {
    const auto header = [](std::size_t length) { return "{" + empty_tensor(std::string(length, 'n'), "[0]") + "}"; };
    CHECK(error_of_file(with_header(header(limits::kNameBytes))) == "(no error)");
    check_message(error_of_file(with_header(header(limits::kNameBytes + 1))),
                  {"t.safetensors", "nnnn", text(limits::kNameBytes + 1) + " bytes", "at most"});
}

TEST_CASE("a shape doesn't overflow where one of its axes is empty, either") {
    for (const char* shape : {"[0, 4611686018427387904, 4]", "[4611686018427387904, 4, 0]", "[0, 2199023255552]",
                              "[1048576, 0, 1048576, 1048576]"})
        check_message(error_of_file(with_header("{" + empty_tensor("weight", shape) + "}")),
                      {"t.safetensors", "weight", "shape", text(limits::kNumbers)});
    CHECK(error_of_file(with_header("{" + empty_tensor("weight", "[0, 1048576]") + "}")) == "(no error)");
}

TEST_CASE("an input of too many rows or positions is refused, and so is one whose scores nothing holds") {
    check_message(error_of_tokens(limits::kBatch + 1, 1),
                  {"tokens", text(limits::kBatch + 1) + " batch rows", "at most " + text(limits::kBatch)});
    check_message(error_of_tokens(1, limits::kPositions + 1),
                  {"tokens", text(limits::kPositions + 1) + " positions", "at most " + text(limits::kPositions)});
    check_message(error_of_tokens(1, limits::kPositions),
                  {"attention scores", "[1, 2, 1048576, 1048576]", text(limits::kNumbers), "fewer"});
    CHECK(error_of_tokens(limits::kBatch, 2) == "(no error)");
}

// What the process may take decides what a run keeps, and never what it computes.
#include "tests/catch.h"
#include "tests/engine/contains.h"
#include "tests/engine/temporary_folder.h"
#include "tests/program/program.h"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace decoderscope::testing;

namespace {

std::string bytes_of_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// The scores and patterns of 1,000 tokens take 64 MB in this model.
std::vector<std::string> trace_of_a_long_text(const std::string& out, const std::vector<std::string>& more) {
    std::string tokens;
    for (int i = 0; i < 1000; ++i) tokens += std::to_string(i * 7 % 65) + " ";
    std::vector<std::string> words = {"trace", "experts", "--tokens", tokens, "--out", out};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

}  // namespace

TEST_CASE("a trace is the same, byte for byte, however little memory its run may take, and says what wasn't kept",
          "[long]") {
    const TemporaryFolder folder;
    const std::string all = folder.file("all.safetensors"), fits = folder.file("fits.safetensors");
    REQUIRE(run_program(trace_of_a_long_text(all, {"--record", "all"})).status == 0);
    const Ended ended = run_program(trace_of_a_long_text(fits, {"--memory", "60M"}));
    INFO(ended.err);
    REQUIRE(ended.status == 0);
    CHECK(contains(ended.err, "of this run's tensors are not kept, and computed again when they are read"));
    CHECK(bytes_of_file(all) == bytes_of_file(fits));

    const Ended refused = run_program(trace_of_a_long_text(fits, {"--memory", "5M"}));
    CHECK(refused.status == 1);
    CHECK(contains(refused.err, "shorten the text"));
    CHECK(bytes_of_file(all) == bytes_of_file(fits));  // what was there is left alone
}

TEST_CASE("a trace of some tensors holds these and no others") {
    const TemporaryFolder folder;
    const std::string some = folder.file("some.safetensors"), all = folder.file("all.safetensors");
    const auto traced = [](const std::string& out, std::vector<std::string> more) {
        more.insert(more.begin(), {"trace", "induction", "--out", out});
        return run_program(more);
    };
    REQUIRE(traced(all, {}).status == 0);
    REQUIRE(traced(some, {"--only", "logits", "blocks.0.attn.result"}).status == 0);
    CHECK(contains(bytes_of_file(some), "\"blocks.0.attn.result\""));  // which is computed only when it is asked for
    REQUIRE(traced(some, {"--only", "logits"}).status == 0);
    const std::string chosen = bytes_of_file(some);
    std::uint64_t header = 0;  // the length of the list of tensors; their numbers follow it
    std::memcpy(&header, chosen.data(), sizeof header);
    const std::string names = chosen.substr(sizeof header, header), numbers = chosen.substr(sizeof header + header);
    CHECK(contains(names, "\"logits\""));
    CHECK_FALSE(contains(names, "resid"));
    CHECK(!numbers.empty());
    CHECK(contains(bytes_of_file(all), numbers));
    const Ended unknown = traced(some, {"--only", "blocks.9.attn.pattern"});
    CHECK(unknown.status == 1);
    CHECK(contains(unknown.err, "blocks.9.attn.pattern: this run has no such tensor"));
    CHECK(bytes_of_file(some) == chosen);
    const Ended weight = traced(some, {"--only", "logits", "embed.weight"});
    CHECK(weight.status == 1);
    CHECK(contains(weight.err, "embed.weight: this run has no such tensor"));
    CHECK(bytes_of_file(some) == chosen);
}

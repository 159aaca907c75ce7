// What can't be written is noticed, whichever command wrote it: by a full disk, by a stream that is closed.
#include "tests/catch.h"
#include "tests/engine/contains.h"
#include "tests/engine/raw_safetensors.h"
#include "tests/engine/temporary_folder.h"
#include "tests/program/program.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

using namespace decoderscope::testing;

namespace {

bool is_one_line(const std::string& text) { return std::ranges::count(text, '\n') == 1 && text.ends_with('\n'); }

}  // namespace

TEST_CASE("each command notices that its output can't be written") {
    const TemporaryFolder folder;
    const std::string trace = folder.file("trace.safetensors");
    REQUIRE(run_program({"trace", "induction", "--out", trace}).status == 0);
    const std::string numbers = folder.file("numbers.safetensors"), two = raw<float>({1.0F, 2.0F});
    write_bytes(numbers, raw_safetensors({{"x", "F32", "[2]", two}, {"got", "F32", "[2]", two}}));
    const std::vector<std::pair<std::vector<std::string>, int>> commands = {
        {{"--help"}, 1},
        {{"--version"}, 1},
        {{"models"}, 1},
        {{"models", "--help"}, 1},
        {{"formulas", "--markdown"}, 1},
        {{"recorder"}, 1},
        {{"recorder", "--for", "llama.cpp"}, 1},
        {{"names", trace}, 1},
        {{"open", trace, "--list"}, 1},
        {{"lessons"}, 1},
        {{"lessons", "answers", "masks"}, 1},
        {{"explain", "induction", "--cell", "logits[0, 0, 0]"}, 1},
        {{"generate", "induction", "--length", "2"}, 1},
        {{"mask", "induction", "--json"}, 1},
        {{"cost", "induction", "--repeat", "1"}, 1},
        {{"sweep", "induction", "--vary", "temperature=1,2", "--row", "logits.max() / temperature"}, 1},
        {{"train", "induction", "--task", "induction", "--steps", "1", "--lr", "0.1"}, 1},
        {{"bisect", "induction", "--against", trace, "--json"}, 2},
        {{"compare", "induction", trace, "--markdown"}, 2},
        {{"diff", "induction", "--against", trace}, 2},
        {{"check", numbers, "--formula", "x"}, 2},
        {{"check", numbers, "--formula", "x + 1"}, 2},
        {{"lessons", "write", "write/softmax"}, 2},
    };
    for (const auto& [command, status] : commands)
        for (const char* output : {"/dev/full", "&-"}) {
            const Ended ended = run_program(command, output);
            INFO(command.front() << " > " << output << ": " << ended.err);
            CHECK_FALSE(ended.killed);
            CHECK(ended.status == status);
            CHECK(contains(ended.err, "decoderscope: standard output: cannot be written"));
        }
}

TEST_CASE("a command that prints nothing needs no output, and a file isn't taken for it") {
    const TemporaryFolder folder;
    const std::string table = folder.file("table.csv");
    const Ended ended = run_program({"cost", "induction", "--repeat", "1", "--csv", table}, "&-");
    INFO(ended.err);
    CHECK(ended.status == 0);
    CHECK(ended.err.empty());
    CHECK(read_bytes(table).find("decoderscope") == std::string::npos);
    // With output, the file has the table alone.
    const std::string both = folder.file("both.csv");
    CHECK(run_program({"cost", "induction", "--repeat", "1", "--json", "--csv", both}, "&-").status == 1);
    CHECK(read_bytes(both).find('{') == std::string::npos);
}

TEST_CASE("a log that can't be written is said") {
    const Ended ended = run_program({"--log", "/dev/full", "models"});
    INFO(ended.err);
    CHECK(ended.status == 1);
    CHECK(is_one_line(ended.err));
    CHECK(contains(ended.err, "/dev/full: not all of the log could be written"));
}

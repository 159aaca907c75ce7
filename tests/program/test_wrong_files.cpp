// Every error that a reader can throw, thrown through the command line of the program as it was built: one sentence on
// standard error, status 1 or, of a command that judges and couldn't, 2, nothing written, no crash.
#include "tests/catch.h"
#include "tests/engine/contains.h"
#include "tests/engine/temporary_folder.h"
#include "tests/program/program.h"
#include "tests/program/throw_sites.h"
#include "tests/program/wrong_files.h"
#include "tests/sanitized.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace decoderscope::testing;

namespace {

constexpr const char* kHere = "HERE";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

void write(const TemporaryFolder& folder, const Files& files) {
    for (const auto& [name, bytes] : files) {
        const std::filesystem::path path = folder.file(name);
        std::filesystem::create_directories(path.parent_path());
        write_bytes(path.string(), bytes);
    }
}

void check(const Wrong& wrong) {
    const TemporaryFolder folder;
    write(folder, wrong.files);
    Arguments arguments;
    for (const std::string& argument : wrong.arguments) arguments.push_back(replaced(argument, kHere, folder.path()));
    const Ended ended = run_program(arguments);
    const std::string said = replaced(ended.err, folder.path(), kHere);
    INFO(said);
    CHECK_FALSE(ended.killed);
    const bool judges = std::ranges::count(std::array{"bisect", "check", "compare", "diff"}, arguments.front()) > 0 ||
                        (arguments.front() == "lessons" && arguments[1] == "check");
    CHECK(ended.status == (judges && !wrong.is_judged ? 2 : 1));
    CHECK(contains(said, wrong.says + "\n"));
    CHECK_FALSE(std::filesystem::exists(folder.file("out.safetensors")));
}

void check(const std::vector<Wrong>& all) {
    for (const Wrong& wrong : looked_at(all, 4)) {  // the fuzzers read thousands under the sanitizers
        INFO(wrong.says);
        check(wrong);
    }
}

}  // namespace

TEST_CASE("a tokenizer's file that is wrong") { check(wrong_tokenizers()); }
TEST_CASE("a text that can't be cut into tokens") { check(wrong_texts()); }
TEST_CASE("a safetensors file that is wrong") { check(wrong_safetensors()); }
TEST_CASE("a model that is wrong") { check(wrong_models()); }
TEST_CASE("a GGUF file that is wrong") { check(wrong_gguf()); }
TEST_CASE("numbers in fewer bits that are wrong") { check(wrong_stored()); }
TEST_CASE("tensors whose names or shapes are wrong") { check(wrong_names()); }
TEST_CASE("an example that is wrong") { check(wrong_examples()); }
TEST_CASE("inputs that are wrong") { check(wrong_inputs()); }
TEST_CASE("a recording that is wrong") { check(wrong_recordings()); }
TEST_CASE("a session or a link that is wrong") { check(wrong_sessions()); }
TEST_CASE("a file that is made to take the stack, the memory or the time") { check(wrong_trees()); }

namespace {

// What no command line reaches, by the message, and why; or where else it is thrown through one.
const std::map<std::string_view, std::string_view>& not_here() {
    constexpr std::string_view kWindow = "thrown by the window alone", kSystem = "the system's own failure";
    static const std::map<std::string_view, std::string_view> all = {
        {"{path}: was truncated after it was opened, expected it to stay {size} bytes long", "tests/test_cut_file.sh"},
        {"cannot be read to its end; expected the file to stay as it was while it is read", kSystem},
        {"{name}: the model's files are missing, expected them in {installed} or {source}",
         "an installation that is damaged"},
        {"{name}: missing, expected it at {installed} or {source}", "an installation that is damaged"},
        {"{tensor}: not in the file, but in the mapping", "recognise_names.cpp refuses it first"},
        {"{from}: {rows} rows of q, k or v, expected those of {heads} heads", "check_weights.cpp refuses it first"},
        {"{question}: {why}", "canonical_weights() is for tests"},
        {"the text can't be normalised: {reason}", "the text is UTF-8, and short enough"},
        {"the text can't be normalised: expected UTF-8", "the text is UTF-8"},
        {"entry {number}, expected a finite score", "JSON has no other numbers"},
        {"{path}: {error}", "puts the path before another error"},
        {"{file}: {needed} MB of its weights must be in memory at once as floats, expected at most {most} MB: "
         "three quarters of what --memory sets, or of this machine's memory",
         "by an option, or a file of this size"},
        {"{folder}: cannot be created: {reason}", kWindow},
        {"{path}: {name} is a parameter of the recorded model, and of no decoder that is computed here",
         "tests/notebook/test_bisection.py"},
        {"expected an object", kWindow},
        {"{why}; it is left as it is, and nothing is kept there", kWindow},
        {"{path}: a file of your own, which a link can't hold; save a session file instead", kWindow},
        {"the session has {length} bytes, but a link can hold only {most}; save a session file instead", kWindow},
        {"the link would have {length} characters, but only links of up to {most} arrive reliably; save a session file "
         "instead",
         kWindow},
        {"its run computes {computed} of tensors, expected at most {most}", "tests/core/files/test_link.cpp"},
        {"not a link to a session; expected an address with #s1= in it", "another text is taken for a model's name"},
    };
    return all;
}

}  // namespace

TEST_CASE("every place where a reader throws is thrown from above, or is listed with the reason why it can't be") {
    std::vector<Wrong> all;
    for (const auto& list :
         {wrong_tokenizers(), wrong_texts(), wrong_safetensors(), wrong_models(), wrong_gguf(), wrong_stored(),
          wrong_names(), wrong_examples(), wrong_inputs(), wrong_recordings(), wrong_sessions(), wrong_trees()})
        all.insert(all.end(), list.begin(), list.end());
    std::set<std::string> listed;
    std::size_t thrown = 0;
    const std::vector<ThrowSite> sites = throw_sites();
    CHECK(sites.size() > 200);
    for (const ThrowSite& site : sites) {
        INFO(site.place << ": " << site.message);
        REQUIRE_FALSE(site.message.empty());
        if (not_here().contains(site.message)) {
            listed.insert(site.message);
            continue;
        }
        const bool found = std::ranges::any_of(all, [&](const Wrong& wrong) { return says(wrong.says, site.message); });
        CHECK(found);
        thrown += found ? 1 : 0;
    }
    CHECK(listed.size() == not_here().size());  // what is no longer in the sources is not listed either
    INFO(thrown << " of " << sites.size());
    CHECK(thrown + 30 > sites.size());
}

// Every option of every command, with values that nobody means: one sentence that names the option, and nothing else.
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/engine/contains.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

using namespace decoderscope::testing;

namespace {

using Words = std::vector<std::string>;

// What a command needs besides; %: a file that isn't there.
const std::vector<Words> kCommands = {
    {},
    {"bench", "induction"},
    {"bisect", "induction", "--against", "%"},
    {"chat", "induction", "--messages", "%"},
    {"check", "%", "--formula", "x"},
    {"compare", "induction", "%", "--markdown"},
    {"cost", "induction"},
    {"diff", "induction", "--against", "%"},
    {"explain", "induction", "--cell", "logits[0, 0, 0]"},
    {"export", "induction", "--tensor", "logits", "--out", "%.png"},
    {"formulas"},
    {"generate", "induction"},
    {"lessons"},
    {"lessons", "answers", "masks"},
    {"lessons", "check", "%"},
    {"lessons", "export", "masks", "--out", "%.html"},
    {"lessons", "judge", "%"},
    {"lessons", "write", "write/softmax"},
    {"mask", "induction"},
    {"models"},
    {"names", "induction"},
    {"open", "%"},
    {"recorder"},
    {"report", "induction", "--out", "%.html"},
    {"sweep", "induction", "--vary", "temperature=1,2", "--row", "logits.max() / temperature"},
    {"talk", "%"},
    {"trace", "induction", "--out", "%.safetensors"},
    {"train", "induction", "--task", "induction", "--steps", "1", "--lr", "0.1"},
};

struct Option {
    std::string name, type;
};

// As --help lists them: "  --depth INT:1..32", "  -h,--help".
std::vector<Option> options_of(const Words& command) {
    Words help = command;
    help.emplace_back("--help");
    std::istringstream lines(run(help).out);
    std::vector<Option> options;
    for (std::string line; std::getline(lines, line);) {
        const std::size_t dashes = line.find("--");
        if (!line.starts_with("  -") || dashes > 6) continue;
        std::istringstream words(line.substr(dashes));
        Option option;
        words >> option.name >> option.type;
        option.name = option.name.substr(0, option.name.find(','));
        option.type = option.type.substr(0, option.type.find(':'));
        options.push_back(option);
    }
    return options;
}

Outcome with(Words command, const std::string& none, const Option& option, const std::string& value) {
    for (std::string& word : command)
        if (word.starts_with('%')) word.replace(0, 1, none);
    // An option that is there already is taken out first.
    const auto there = std::ranges::find(command, option.name);
    if (there != command.end()) command.erase(there, there + 2);
    if (value.empty())
        command.insert(command.end(), {option.name, value});
    else
        command.push_back(option.name + "=" + value);
    return run(command);
}

}  // namespace

TEST_CASE("a number that is none, or beyond its option's bounds, is refused by the option's name", "[long]") {
    const TemporaryFolder folder;
    const std::string none = folder.file("none");
    const Words never = {"nan", "inf", "-inf", "-1", "", "x", "0x10", "1e400", "1 2", std::string(100'000, '9')};
    std::size_t tried = 0;
    for (const Words& command : kCommands)
        for (const Option& option : options_of(command)) {
            const bool whole = option.type == "INT" || option.type == "UINT";
            if (!whole && option.type != "FLOAT" && option.type != "SIZE") continue;
            Words values = never;
            if (whole) values.insert(values.end(), {"1e308", "1.5", "99999999999999999999", "18446744073709551616"});
            for (const std::string& value : values) {
                const Outcome outcome = with(command, none, option, value);
                INFO((command.empty() ? "" : command.front())
                     << " " << option.name << "=" << value.substr(0, 40) << ": " << outcome.err.substr(0, 400));
                CHECK(outcome.status == 2);
                CHECK(is_one_line(outcome.err));
                CHECK(contains(outcome.err, option.name + ": "));
                CHECK(contains(outcome.err, ", expected a "));
                CHECK(outcome.err.size() < 200);
                ++tried;
            }
        }
    CHECK(tried > 1000);
}

TEST_CASE("an empty text and a long one are used or refused in one sentence", "[.thorough]") {
    const TemporaryFolder folder;
    const std::string none = folder.file("none");
    for (const Words& command : kCommands)
        for (const Option& option : options_of(command)) {
            if (option.type != "TEXT" || option.name == "--help") continue;
            for (const std::string& value : {std::string(), std::string(1000, 'a')}) {
                const Outcome outcome = with(command, none, option, value);
                INFO((command.empty() ? "" : command.front()) << " " << option.name << "=" << value.substr(0, 40)
                                                              << ": " << outcome.status << outcome.err.substr(0, 400));
                CHECK(outcome.status <= 3);
                CHECK((outcome.status == 0 || is_one_line(outcome.err)));
            }
        }
}

TEST_CASE("no ids are none, not the example's") {
    const auto explained = [](const Words& given) {
        Words command = {"explain", "reverse", "--cell", "blocks.0.attn.q[0, 0, 0, 0]"};
        command.insert(command.end(), given.begin(), given.end());
        return run(command);
    };
    for (const std::string option : {"--tokens", "--encoder-tokens"}) {
        const Outcome outcome = explained({option, ""});
        INFO(outcome.err);
        CHECK(outcome.status == 1);
        CHECK(is_one_line(outcome.err));
        CHECK(contains(outcome.err, option));
    }
    // A text of nothing is the token that begins one.
    CHECK(explained({"--text", ""}).out != explained({}).out);
    // Digits are decimal, whatever they begin with.
    CHECK(explained({"--dropout-seed", "010"}).out == explained({"--dropout-seed", "10"}).out);
}

TEST_CASE("betas of 1 are refused: the mean of all gradients would be divided by 0") {
    const auto status = [](const std::string& option, const std::string& value) {
        return run({"train", "induction", "--task", "induction", "--steps", "2", "--lr", "0.01", option, value}).status;
    };
    CHECK(status("--betas", "1,1") == 2);
    CHECK(status("--betas", "0.9,1") == 2);
    CHECK(status("--betas", "0,0.999") == 0);
    CHECK(status("--betas", "0.9") == 2);
    CHECK(status("--warmup", "-1") == 2);
    CHECK(status("--clip", "0") == 2);
    CHECK(status("--batch", "0") == 2);
}

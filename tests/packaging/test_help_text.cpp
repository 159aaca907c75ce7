// The manual page and the completions say what --help says: all of it, and nothing else.
#include "app/cli.h"
#include "engine/base/error.h"
#include "packaging/help_text.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <sstream>

using namespace decoderscope::testing;
using namespace decoderscope::app;
using namespace decoderscope::packaging;

namespace {

std::string help_of(std::vector<std::string> arguments) {
    arguments.emplace_back("--help");
    std::ostringstream out, err;
    REQUIRE(run_cli(arguments, out, err).status == 0);
    return out.str();
}

// Every "--word" of a text, counted here.
std::vector<std::string> long_options(const std::string& text) {
    std::vector<std::string> found;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("  -")) continue;
        const std::string head = line.substr(2, line.find(' ', 2) - 2);
        std::istringstream names(head);
        for (std::string name; std::getline(names, name, ',');)
            if (name.starts_with("--")) found.push_back(name);
    }
    return found;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const Option& option(const CommandHelp& command, const std::string& name) {
    const auto found = std::ranges::find_if(
        command.options, [&](const Option& one) { return std::ranges::find(one.names, name) != one.names.end(); });
    REQUIRE(found != command.options.end());
    return *found;
}

const CommandHelp& command(const ProgramHelp& help, const std::string& name) {
    const auto found = std::ranges::find(help.commands, name, &CommandHelp::name);
    REQUIRE(found != help.commands.end());
    return *found;
}

}  // namespace

TEST_CASE("a help text is read for its options, values and words") {
    const CommandHelp help = parse_help(
        "Writes it down\nUsage: decoderscope write [OPTIONS] MODEL\n\nPositionals:\n"
        "  MODEL TEXT REQUIRED         a bundled model's name, or more\n\nOptions:\n"
        "  -h,--help                   Print this\n"
        "  --out TEXT REQUIRED         the file to write\n"
        "  --long TEXT Excludes: --out --help\n"
        "                              text instead of a file\n"
        "  --set TEXT ...              KEY=VALUE\n"
        "  --seed UINT                 a number\n");
    CHECK(help.summary == "Writes it down");
    CHECK(help.usage == "decoderscope write [OPTIONS] MODEL");
    REQUIRE(help.positionals.size() == 1);
    CHECK(help.positionals[0].value == Value::model);
    REQUIRE(help.options.size() == 5);
    CHECK(help.options[0].names == std::vector<std::string>{"-h", "--help"});
    CHECK(help.options[0].value == Value::none);
    CHECK(option(help, "--out").value == Value::file);
    CHECK(option(help, "--out").required);
    CHECK(option(help, "--long").value == Value::text);
    CHECK(option(help, "--long").description == "text instead of a file");
    CHECK(option(help, "--set").repeats);
    CHECK(option(help, "--seed").value == Value::number);
    CHECK_THROWS_AS(parse_help("nothing of the kind"), Error);
}

TEST_CASE("every command and every option of --help is in the manual page and in each shell's completions") {
    const ProgramHelp help = program_help();
    const std::string manual = manual_page(help), bash = bash_completion(help), zsh = zsh_completion(help),
                      fish = fish_completion(help);
    const auto check_all = [&](const std::string& help_text) {
        const std::vector<std::string> names = long_options(help_text);
        CHECK(names.size() >= 1);
        for (const std::string& name : names) {
            INFO(name);
            std::string in_troff = name;
            for (std::size_t at = 0; (at = in_troff.find('-', at)) != std::string::npos; at += 2)
                in_troff.replace(at, 1, "\\-");
            CHECK(holds(manual, "\\fB" + in_troff + "\\fR"));
            CHECK(holds(bash, name));
            CHECK(holds(zsh, "'" + name + "[") != holds(zsh, "'*" + name + "["));
            CHECK(holds(fish, " -l " + name.substr(2)));
        }
    };
    check_all(help_of({}));
    CHECK(help.commands.size() >= 6);
    for (const CommandHelp& one : help.commands) {
        INFO(one.name);
        check_all(help_of({one.name}));
        CHECK_FALSE(one.summary.empty());
        CHECK(holds(bash, one.name + ") words="));
        CHECK(holds(zsh, "'" + one.name + ":"));
        CHECK(holds(fish, " -a " + one.name + " "));
    }
    for (const std::string& model : help.models) CHECK(holds(bash, " " + model));
}

TEST_CASE("docs/command_line.md has every command") {
    const std::string page = read_bytes(DECODERSCOPE_TESTS_DIR "/../docs/command_line.md");
    for (const CommandHelp& one : program_help().commands) {
        INFO(one.name);
        CHECK(holds(page, "\n| `decoderscope " + one.name));
    }
}

TEST_CASE("values are completed with what they are") {
    const ProgramHelp help = program_help();
    CHECK(option(help.program, "--inputs").value == Value::file);
    CHECK(option(help.program, "--edits").value == Value::file);
    CHECK(option(help.program, "--model").value == Value::model);
    CHECK(option(help.program, "--tour").value == Value::folder);
    CHECK(option(help.program, "--text").value == Value::text);
    CHECK(option(help.program, "--dropout-seed").value == Value::number);
    CHECK(option(help.program, "--version").value == Value::none);
    CHECK(option(command(help, "trace"), "--out").value == Value::file);
    CHECK(option(command(help, "diff"), "--against").value == Value::file);
    CHECK(option(command(help, "generate"), "--length").value == Value::number);
    CHECK(command(help, "bench").positionals.at(0).value == Value::model);
}

TEST_CASE("no line of the manual page is taken for a request that is none") {
    std::istringstream lines(manual_page(program_help()));
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || (line[0] != '.' && line[0] != '\'')) continue;
        INFO(line);
        const bool known = line.starts_with(".SH ") || line.starts_with(".SS ") || line.starts_with(".TH ") ||
                           line == ".TP" || line == ".PP" || line == ".br" || line.starts_with(".\\\"");
        CHECK(known);
    }
}

#pragma once

#include <string>
#include <string_view>
#include <vector>

// The command line as its own --help tells it, so that the manual page and the shells' completions can't say anything
// else.
namespace decoderscope::packaging {

// What a value is completed with.
enum class Value { none, text, number, file, folder, model };

struct Option {
    std::vector<std::string> names;  // "-h", "--help"
    Value value = Value::none;
    bool required = false, repeats = false;
    std::string description;

    [[nodiscard]] const std::string& long_name() const { return names.back(); }
    bool operator==(const Option&) const = default;
};

struct CommandHelp {
    std::string name;     // empty: the program itself
    std::string summary;  // one sentence
    std::string usage;    // "decoderscope trace [OPTIONS] MODEL"
    std::vector<Option> positionals, options;
    std::vector<std::string> commands;  // of the program
};

// What --help printed. Throws Error if it isn't such a text.
[[nodiscard]] CommandHelp parse_help(std::string_view text);

// The whole program: the command line without a command, and each command.
struct ProgramHelp {
    std::string version;
    CommandHelp program;
    std::vector<CommandHelp> commands;
    std::vector<std::string> models;  // the bundled ones
};
[[nodiscard]] ProgramHelp program_help();

[[nodiscard]] std::string manual_page(const ProgramHelp& help);
[[nodiscard]] std::string bash_completion(const ProgramHelp& help);
[[nodiscard]] std::string zsh_completion(const ProgramHelp& help);
[[nodiscard]] std::string fish_completion(const ProgramHelp& help);

}  // namespace decoderscope::packaging

#include "packaging/help_text.h"

#include "app/cli.h"
#include "engine/base/error.h"
#include "engine/load/bundled_models.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>

namespace decoderscope::packaging {

using namespace decoderscope::app;
using namespace decoderscope::load;

namespace {

std::vector<std::string> split(std::string_view text, char at) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == at)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

std::string trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
    return first == std::string_view::npos ? std::string() : std::string(text.substr(first, last - first + 1));
}

// "Options:" and, as newer libraries write it, "OPTIONS:".
std::string section_of(const std::string& line) {
    if (line.empty() || line.front() == ' ' || line.back() != ':') return {};
    std::string name = line.substr(0, line.size() - 1);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name;
}

// An entry's first column and its description.
struct Entry {
    std::string head, description;
};

// "  --out TEXT REQUIRED         the file", or the second part on its own lines, indented further.
std::vector<Entry> entries_of(const std::vector<std::string>& lines) {
    std::vector<Entry> entries;
    for (const std::string& line : lines) {
        const bool begins = line.size() > 2 && line[0] == ' ' && line[1] == ' ' && line[2] != ' ';
        if (!begins) {
            if (!entries.empty() && !trimmed(line).empty())
                entries.back().description += (entries.back().description.empty() ? "" : " ") + trimmed(line);
            continue;
        }
        const std::size_t gap = line.find("  ", 2);
        entries.push_back({trimmed(line.substr(2, gap == std::string::npos ? gap : gap - 2)),
                           gap == std::string::npos ? std::string() : trimmed(line.substr(gap))});
    }
    return entries;
}

bool speaks_of(const std::string& text, const std::string& word) { return text.find(word) != std::string::npos; }

// The kind of value, derived from the option's description.
Value value_of(const std::string& type, const Entry& entry) {
    for (const char* number : {"UINT", "INT", "FLOAT"})
        if (type.starts_with(number)) return Value::number;
    if (speaks_of(entry.description, "bundled model's name")) return Value::model;
    if (speaks_of(entry.description, "instead of a file")) return Value::text;
    if (speaks_of(entry.description, "file")) return Value::file;
    return speaks_of(entry.description, "into this folder") ? Value::folder : Value::text;
}

// "--source,--encoder-text TEXT Excludes: --encoder-tokens"
Option option_of(const Entry& entry) {
    static constexpr std::array kNoTypes = {"REQUIRED", "Excludes:", "Needs:"};
    const std::vector<std::string> words = split(entry.head, ' ');
    Option option{.names = split(words.front(), ','), .description = entry.description};
    const auto has = [&](std::string_view word) { return std::ranges::find(words, word) != words.end(); };
    option.required = has("REQUIRED");
    option.repeats = has("...");
    if (words.size() > 1 && std::ranges::find(kNoTypes, words[1]) == kNoTypes.end())
        option.value = value_of(words[1], entry);
    return option;
}

// What the program prints for these arguments.
std::string printed(const std::vector<std::string>& arguments) {
    std::ostringstream out, err;
    const CliResult result = run_cli(arguments, out, err);
    if (result.status != 0 || result.window)
        throw Error("decoderscope: it printed no help: {said}", {{"said", err.str()}});
    return out.str();
}

}  // namespace

CommandHelp parse_help(std::string_view text) {
    CommandHelp help;
    std::string section;
    std::vector<std::string> lines;
    const auto end_section = [&] {
        for (const Entry& entry : entries_of(lines)) {
            if (section == "options") help.options.push_back(option_of(entry));
            if (section == "positionals") help.positionals.push_back(option_of(entry));
            if (section == "subcommands") help.commands.push_back(entry.head);
        }
        lines.clear();
    };
    for (const std::string& line : split(text, '\n')) {
        if (const std::string next = section_of(line); !next.empty()) {
            end_section();
            section = next;
        } else if (line.starts_with("Usage:")) {
            help.usage = trimmed(line.substr(6));
        } else if (section.empty() && help.usage.empty() && help.summary.empty()) {
            help.summary = trimmed(line);
        } else {
            lines.push_back(line);
        }
    }
    end_section();
    if (help.usage.empty() || help.options.empty())
        throw Error("--help: expected a line \"Usage:\" and a list \"Options:\"");
    return help;
}

ProgramHelp program_help() {
    ProgramHelp help{.version = DECODERSCOPE_VERSION, .program = parse_help(printed({"--help"}))};
    for (const std::string& name : help.program.commands) {
        help.commands.push_back(parse_help(printed({name, "--help"})));
        help.commands.back().name = name;
    }
    for (const BundledModel& model : bundled_models()) help.models.push_back(model.name);
    return help;
}

}  // namespace decoderscope::packaging

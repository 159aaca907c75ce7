#include "packaging/help_text.h"

#include <algorithm>

namespace decoderscope::packaging {

namespace {

// Text escaped for troff: hyphens can be copied, no line looks like a request.
std::string troff(const std::string& text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '-')
            escaped += "\\-";
        else if (c == '\\')
            escaped += "\\e";
        else
            escaped += c;
    }
    const bool request = !escaped.empty() && (escaped.front() == '.' || escaped.front() == '\'');
    return (request ? "\\&" : "") + escaped;
}

std::string bold(const std::string& text) { return "\\fB" + troff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + troff(text) + "\\fR"; }

std::string placeholder(Value value) {
    switch (value) {
        case Value::none:
            return {};
        case Value::number:
            return "NUMBER";
        case Value::file:
            return "FILE";
        case Value::folder:
            return "FOLDER";
        case Value::model:
            return "MODEL";
        case Value::text:
            break;
    }
    return "TEXT";
}

std::string entry(const Option& option, bool positional) {
    std::string head;
    for (const std::string& name : option.names)
        head += (head.empty() ? "" : ", ") + (positional ? italic(name) : bold(name));
    if (!positional && option.value != Value::none) head += " " + italic(placeholder(option.value));
    if (option.repeats) head += " \\&...";
    const std::string required = option.required && !positional ? " (required)" : "";
    return ".TP\n" + head + "\n" + troff(option.description + required) + "\n";
}

bool is_shared(const ProgramHelp& help, const Option& option) {
    return std::ranges::find(help.program.options, option) != help.program.options.end();
}

// A command's own options; those it shares with the program are described with the program.
std::string command(const ProgramHelp& help, const CommandHelp& command) {
    std::string text = ".SS " + troff(command.usage) + "\n" + troff(command.summary) + ".\n";
    std::string shared;
    for (const Option& option : command.options)
        if (is_shared(help, option)) shared += (shared.empty() ? "" : ", ") + bold(option.long_name());
    if (!shared.empty()) text += ".PP\nTakes " + shared + " as above";
    if (!shared.empty()) text += ".\n";
    for (const Option& option : command.positionals) text += entry(option, true);
    for (const Option& option : command.options)
        if (!is_shared(help, option)) text += entry(option, false);
    return text;
}

}  // namespace

std::string manual_page(const ProgramHelp& help) {
    std::string text =
        ".\\\" Made from the program's --help when it was built.\n.TH DECODERSCOPE 1 \"\" \"decoderscope " +
        troff(help.version) + "\" \"User Commands\"\n";
    text += ".SH NAME\ndecoderscope \\- see how a Transformer decoder computes\n";
    text += ".SH SYNOPSIS\n";
    text += troff(help.program.usage) + "\n";
    for (const CommandHelp& one : help.commands) text += ".br\n" + troff(one.usage) + "\n";
    text += ".SH DESCRIPTION\n" + troff(help.program.summary) + "\n";
    text += ".SH OPTIONS\n";
    for (const Option& option : help.program.positionals) text += entry(option, true);
    for (const Option& option : help.program.options) text += entry(option, false);
    text += ".SH COMMANDS\n";
    for (const CommandHelp& one : help.commands) text += command(help, one);
    text += ".SH MODELS\nBundled are";
    for (std::size_t i = 0; i < help.models.size(); ++i) {
        const bool last = i + 1 == help.models.size();
        text += (last ? " and " : " ") + bold(help.models[i]) + (last ? ".\n" : i + 2 < help.models.size() ? "," : "");
    }
    text +=
        ".SH EXIT STATUS\n.TP\n0\nDone.\n.TP\n1\nThe work failed; one line on standard error names the file, the key "
        "or "
        "the tensor, and what was expected.\n.TP\n2\nThe command line was wrong.\n";
    return text;
}

}  // namespace decoderscope::packaging

#include "packaging/help_text.h"

#include <algorithm>
#include <functional>

namespace decoderscope::packaging {

namespace {

std::string joined(const std::vector<std::string>& words, const std::string& between) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
    return text;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
    return text;
}

// The names of all options of a command that take such a value.
std::vector<std::string> option_names(const CommandHelp& command, const std::function<bool(Value)>& wanted) {
    std::vector<std::string> names;
    for (const Option& option : command.options)
        if (wanted(option.value)) names.insert(names.end(), option.names.begin(), option.names.end());
    return names;
}

std::vector<std::string> option_names(const ProgramHelp& help, const std::function<bool(Value)>& wanted) {
    std::vector<std::string> names = option_names(help.program, wanted);
    for (const CommandHelp& command : help.commands)
        for (const std::string& name : option_names(command, wanted))
            if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    return names;
}

bool any(Value) { return true; }
std::function<bool(Value)> is(Value wanted) {
    return [wanted](Value value) { return value == wanted; };
}

bool takes_model(const CommandHelp& command) {
    return std::ranges::any_of(command.positionals, [](const Option& one) { return one.value == Value::model; });
}

// ---- bash

// "        --a|--b) what ;;", or nothing if there are no names.
std::string bash_case(const std::vector<std::string>& names, const std::string& what) {
    return names.empty() ? std::string() : "        " + joined(names, "|") + ") " + what + " ;;\n";
}

// ---- zsh

// Escaped for brackets within single quotes.
std::string zsh_text(const std::string& text) {
    std::string escaped = replaced(text, "\\", "\\\\");
    for (const char* special : {"[", "]", ":"}) escaped = replaced(escaped, special, std::string("\\") + special);
    return replaced(escaped, "'", "'\\''");
}

std::string zsh_value(Value value) {
    switch (value) {
        case Value::none:
            return {};
        case Value::number:
            return ":number: ";
        case Value::file:
            return ":file:_files";
        case Value::folder:
            return ":folder:_files -/";
        case Value::model:
            return ":model:_decoderscope_models";
        case Value::text:
            break;
    }
    return ":text: ";
}

std::string zsh_arguments(const CommandHelp& command) {
    std::string text;
    for (const Option& option : command.options)
        for (const std::string& name : option.names)
            text += " \\\n        '" + std::string(option.repeats ? "*" : "") + name + "[" +
                    zsh_text(option.description) + "]" + zsh_value(option.value) + "'";
    for (std::size_t i = 0; i < command.positionals.size(); ++i)
        text += " \\\n        '" + std::to_string(i + 1) + zsh_value(command.positionals[i].value) + "'";
    return text;
}

// ---- fish

std::string fish_text(const std::string& text) {
    return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string fish_value(Value value, const std::vector<std::string>& models) {
    switch (value) {
        case Value::none:
            return {};
        case Value::file:
            return " -r -F";
        case Value::folder:
            return " -x -a '(__fish_complete_directories)'";
        case Value::model:
            return " -r -F -a " + fish_text(joined(models, " "));
        case Value::number:
        case Value::text:
            break;
    }
    return " -x";
}

std::string fish_options(const ProgramHelp& help, const CommandHelp& command, const std::string& where) {
    std::string text;
    for (const Option& option : command.options) {
        text += "complete -c decoderscope -n " + where;
        for (const std::string& name : option.names)
            text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
        text += fish_value(option.value, help.models) + " -d " + fish_text(option.description) + "\n";
    }
    return text;
}

}  // namespace

std::string bash_completion(const ProgramHelp& help) {
    std::string text = R"(# bash completion for decoderscope, made from its --help when it was built.
_decoderscope() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= words= i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
)";
    text += "            " + joined(help.program.commands, "|") + ") command=${COMP_WORDS[i]}; break ;;\n";
    text += R"(        esac
    done
    case $before in
)";
    text += bash_case(option_names(help, is(Value::file)),
                      "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); return");
    text += bash_case(option_names(help, is(Value::folder)),
                      "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$word\"); return");
    text += bash_case(option_names(help, is(Value::model)),
                      "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -W '" + joined(help.models, " ") +
                          "' -- \"$word\"); return");
    text += bash_case(option_names(help, [](Value value) { return value == Value::text || value == Value::number; }),
                      "return");
    text += "    esac\n    case $command in\n";
    for (const CommandHelp& command : help.commands) {
        const std::vector<std::string> names = option_names(command, any);
        const std::string models = takes_model(command) ? " " + joined(help.models, " ") : "";
        text += "        " + command.name + ") words='" + joined(names, " ") + models + "' ;;\n";
    }
    text += "        *) words='" + joined(option_names(help.program, any), " ") + " " +
            joined(help.program.commands, " ") + "' ;;\n";
    text += R"(    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    if [[ $word != -* ]]; then
        compopt -o filenames
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
    fi
}
complete -F _decoderscope decoderscope
)";
    return text;
}

std::string zsh_completion(const ProgramHelp& help) {
    std::string text = "#compdef decoderscope\n# Made from the program's --help when it was built.\n\n";
    text += "_decoderscope_models() {\n    compadd " + joined(help.models, " ") + "\n    _files\n}\n\n";
    text += "_decoderscope_commands() {\n    local -a commands=(";
    for (const CommandHelp& command : help.commands)
        text += "\n        '" + command.name + ":" + zsh_text(command.summary) + "'";
    text += ")\n    _describe command commands\n    _files\n}\n\n";
    text +=
        "_decoderscope() {\n    local curcontext=$curcontext state line\n    typeset -A opt_args\n    _arguments -C" +
        zsh_arguments(help.program) +
        " \\\n        '1: :_decoderscope_commands' \\\n        '*:: :->rest'\n    [[ $state == rest ]] || return\n";
    text += "    case $words[1] in\n";
    for (const CommandHelp& command : help.commands)
        text += "    " + command.name + ")\n        _arguments" + zsh_arguments(command) + " ;;\n";
    text += "    esac\n}\n\n_decoderscope \"$@\"\n";
    return text;
}

std::string fish_completion(const ProgramHelp& help) {
    std::string text = "# fish completion for decoderscope, made from its --help when it was built.\n";
    for (const CommandHelp& command : help.commands)
        text += "complete -c decoderscope -n __fish_use_subcommand -a " + command.name + " -d " +
                fish_text(command.summary) + "\n";
    text += fish_options(help, help.program, "__fish_use_subcommand");
    for (const CommandHelp& command : help.commands) {
        const std::string where = "'__fish_seen_subcommand_from " + command.name + "'";
        text += fish_options(help, command, where);
        if (takes_model(command))
            text += "complete -c decoderscope -n " + where + " -a " + fish_text(joined(help.models, " ")) + "\n";
    }
    return text;
}

}  // namespace decoderscope::packaging

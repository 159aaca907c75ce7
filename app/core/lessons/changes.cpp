#include "app/core/lessons/changes.h"

#include "app/core/introduction/introduction.h"
#include "app/core/session/typed_inputs.h"
#include "app/core/text/trimmed.h"
#include "engine/error.h"
#include "engine/mutations/mutation.h"

namespace decoderscope::lessons {

namespace {

constexpr std::string_view kAroundChanges = " \t\n";

void add_part(Changes& changes, std::string_view part) {
    if (part.starts_with('[')) {
        for (const Edit& edit : parse_edits(part)) changes.edits.push_back(edit);
        return;
    }
    const auto sign = part.find('=');
    if (sign == std::string_view::npos)
        throw Error("\"{part}\" is no change; expected KEY=VALUE or a JSON list of edits", {{"part", part}});
    const std::string key(trimmed(part.substr(0, sign), kAroundChanges)),
        value(trimmed(part.substr(sign + 1), kAroundChanges));
    if (key == "source") {
        changes.source = value;
    } else if (key == "target") {
        changes.target = value;
    } else if (key == "mutation") {
        if (find_mutation(value) == nullptr)
            throw Error("mutation: \"{name}\" is unknown; expected the name of one in engine/mutations/",
                        {{"name", value}});
        changes.mutation = value;
    } else if (key == "gradients_of") {
        changes.gradients_of = value;
    } else if (key == "dropout_seed") {
        if (value.empty() || value.find_first_not_of("0123456789") != std::string::npos || value.size() > 18)
            throw Error("dropout_seed: \"{value}\", expected a whole number", {{"value", value}});
        changes.dropout_seed = std::stoull(value);
    } else {
        changes.set.emplace_back(key, value);
    }
}

TypedSequences typed(const Changes& changes) {
    TypedSequences typed;
    if (changes.source) typed.source = Typed{.text = *changes.source, .name = "source"};
    if (changes.target) typed.target = Typed{.text = *changes.target, .name = "target"};
    return typed;
}

}  // namespace

Changes parse_changes(std::string_view text) {
    Changes changes;
    constexpr std::string_view kBetween = " ; ";
    while (true) {
        const auto end = text.find(kBetween);
        add_part(changes, trimmed(text.substr(0, end), kAroundChanges));
        if (end == std::string_view::npos) return changes;
        text.remove_prefix(end + kBetween.size());
    }
}

Scenario changed(Scenario scenario, const Changes& changes) {
    if (!changes.set.empty()) scenario = with_overrides(std::move(scenario), changes.set);
    if (changes.source || changes.target) {
        scenario.inputs = typed_inputs(*scenario.model(), scenario.inputs, typed(changes));
        scenario.generated.clear();
    }
    scenario.edits.insert(scenario.edits.end(), changes.edits.begin(), changes.edits.end());
    if (changes.mutation) scenario.mutation = *changes.mutation;
    if (changes.dropout_seed) scenario.dropout_seed = changes.dropout_seed;
    if (changes.gradients_of) scenario.gradients_of = *changes.gradients_of;
    return scenario;
}

std::vector<Command> commands_of(const Changes& changes) {
    if (changes.mutation) throw Error("a mutation is a place's: the window has no command for it");
    std::vector<Command> commands;
    if (changes.source || changes.target) commands.push_back(command::TypeInput{.typed = typed(changes)});
    if (changes.dropout_seed) commands.push_back(command::SetDropout{changes.dropout_seed});
    if (changes.gradients_of) commands.push_back(command::SetGradients{*changes.gradients_of});
    const Trial trial{.set = changes.set, .edits = changes.edits};
    for (Command& command : decoderscope::commands_of(trial)) commands.push_back(std::move(command));
    return commands;
}

}  // namespace decoderscope::lessons

#include "app/core/lessons/runs.h"

#include "app/core/run/passes_of_text.h"
#include "app/core/run/typed_inputs.h"
#include "app/core/session/introduction.h"
#include "app/core/text/characters.h"
#include "engine/base/error.h"
#include "engine/mutations/mutations.h"

#include <algorithm>

namespace decoderscope::core::lessons {

namespace {

constexpr std::string_view kAroundChanges = " \t\n";

// A text of one line, in which "\\n" ends a batch row.
std::string in_rows(std::string text) {
    for (std::size_t at = 0; (at = text.find("\\n", at)) != std::string::npos; ++at) text.replace(at, 2, "\n");
    return text;
}

// "1 of 10, 8"
PassOf pass_in(const std::string& text) {
    PassOf pass;
    const auto of = text.find(" of ");
    const auto number = [&](std::string_view digits) {
        const std::string whole(trimmed(digits, kAroundChanges));
        if (whole.empty() || whole.size() > 9 || whole.find_first_not_of("0123456789") != std::string::npos)
            throw Error("pass: \"{text}\", expected a pass and how many positions each computes: 1 of 10, 8",
                        {{"text", text}});
        return std::stol(whole);
    };
    pass.pass = static_cast<std::size_t>(number(std::string_view(text).substr(0, of)));
    std::string_view sizes = of == std::string::npos ? std::string_view() : std::string_view(text).substr(of + 4);
    for (bool last = false; !last;) {
        const auto comma = sizes.find(',');
        pass.sizes.push_back(number(sizes.substr(0, comma)));
        last = comma == std::string_view::npos;
        if (!last) sizes.remove_prefix(comma + 1);
    }
    return pass;
}

void add_part(Changes& changes, std::string_view part) {
    if (part.starts_with('[')) {
        for (const Edit& edit : parse_edits(part)) changes.edits.push_back(edit);
        return;
    }
    const auto sign = part.find('=');
    if (sign == std::string_view::npos)
        throw Error("\"{part}\" is not a change; expected KEY=VALUE or a JSON list of edits", {{"part", part}});
    const std::string key(trimmed(part.substr(0, sign), kAroundChanges)),
        value(trimmed(part.substr(sign + 1), kAroundChanges));
    if (key == "source") {
        changes.source = in_rows(value);
    } else if (key == "target") {
        changes.target = in_rows(value);
    } else if (key == "mutation") {
        if (mutations::find_mutation(value) == nullptr)
            throw Error("mutation: \"{name}\" is unknown; expected the name of one in engine/mutations/",
                        {{"name", value}});
        changes.mutation = value;
    } else if (key == "pass") {
        changes.pass = pass_in(value);
    } else if (key == "gradients_of") {
        changes.gradient_target = value;
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

Ran ran(Scenario scenario, const Run* previous) {
    std::shared_ptr<const Run> run = execute(plan_of(scenario), {.previous = previous});
    return {std::move(scenario), std::move(run)};
}

bool same(const Tensor& a, const Tensor& b) {
    if (a.empty() || b.empty()) return a.empty() && b.empty();
    return a.axes() == b.axes() && std::ranges::equal(a.values(), b.values());
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
        scenario = with_whole_text(std::move(scenario));
        scenario.inputs = typed_inputs(*scenario.model(), scenario.inputs, typed(changes));
        scenario.generated.clear();
    }
    if (changes.pass) scenario = with_pass(std::move(scenario), changes.pass->sizes, changes.pass->pass);
    scenario.edits.insert(scenario.edits.end(), changes.edits.begin(), changes.edits.end());
    if (changes.mutation) scenario.mutation = *changes.mutation;
    if (changes.dropout_seed) scenario.dropout_seed = changes.dropout_seed;
    if (changes.gradient_target) scenario.gradient_target = *changes.gradient_target;
    return scenario;
}

std::vector<Command> commands_of(const Changes& changes) {
    if (changes.mutation) throw Error("a mutation belongs to a place: the window has no command for it");
    std::vector<Command> commands;
    if (changes.source || changes.target) commands.push_back(command::TypeInput{.typed = typed(changes)});
    if (changes.pass) commands.push_back(command::ShowPass{changes.pass->sizes, changes.pass->pass});
    if (changes.dropout_seed) commands.push_back(command::SetDropout{changes.dropout_seed});
    if (changes.gradient_target) commands.push_back(command::SetGradients{*changes.gradient_target});
    const load::Trial trial{.set = changes.set, .edits = changes.edits};
    for (Command& command : decoderscope::core::commands_of(trial)) commands.push_back(std::move(command));
    return commands;
}

Runs::Runs(Scenario now, std::shared_ptr<const Run> run, std::shared_ptr<const Scenario> opened)
    : now_{std::move(now), std::move(run)}, opened_(std::move(opened)) {
    if (!now_.run) now_ = ran(now_.scenario, nullptr);
}

const Ran& Runs::before() {
    if (!opened_) return now_;
    if (before_) return *before_;
    if (opened_->about().name != now_.scenario.about().name)
        throw Error("{model}: expected the model that the lesson opened, {opened}",
                    {{"model", now_.scenario.about().name}, {"opened", opened_->about().name}});
    Scenario scenario = *opened_;
    const Inputs &theirs = text_of(*opened_), &ours = text_of(now_.scenario);
    // The same text: then with the masks that it was opened with, too.
    if (!same(theirs.tokens, ours.tokens) || !same(theirs.encoder_tokens, ours.encoder_tokens)) {
        scenario = with_whole_text(std::move(scenario));
        scenario.inputs = ours;
    }
    const TextInPasses* passes = shown_pass(now_.scenario);
    scenario = passes == nullptr ? with_whole_text(std::move(scenario))
                                 : with_pass(std::move(scenario), passes->sizes, *passes->shown);
    before_ = ran(std::move(scenario), now_.run.get());
    return *before_;
}

const Ran& Runs::with(const Ran& from, const std::string& changes) {
    std::unique_ptr<Ran>& found = others_[{&from, changes}];
    if (!found) found = std::make_unique<Ran>(ran(changed(from.scenario, parse_changes(changes)), from.run.get()));
    return *found;
}

Tensor Runs::tensor(const Ran& of, const std::string& name) {
    const Ref step = of.run->plan().find(name);
    if (step == nullptr) return lens(of, name);
    Tensor value = of.run->value(step->id);
    if (!value.empty()) return value;
    Tensor& made = on_demand_[{&of, name}];
    if (made.empty()) {
        const std::vector<std::string> asked = {name};
        made = execute(of.run->shared_plan(), {.previous = of.run.get(), .asked = asked})->value(step->id);
    }
    return made;
}

// The logit lens is not part of a run: it is computed beside it.
Tensor Runs::lens(const Ran& of, const std::string& name) {
    std::shared_ptr<const Run>& run = lenses_[&of];
    if (!run) run = execute(plan_of(of.scenario, true), {.previous = of.run.get()});
    const Tensor& value = run->value(name);
    if (value.empty()) throw Error("{name}: the run has no such tensor", {{"name", name}});
    return value;
}

std::size_t Runs::edits() const {
    // Each cell or head, however many one gesture changed: a lesson's solution is a file, which knows no gestures.
    const std::size_t now = now_.scenario.edits.size(), before = opened_ ? opened_->edits.size() : 0;
    return now > before ? now - before : 0;
}

}  // namespace decoderscope::core::lessons

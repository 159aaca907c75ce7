#include "app/core/session/introduction.h"

#include "app/core/run/labels.h"
#include "app/core/text/numbers.h"
#include "engine/base/error.h"
#include "engine/base/tables.h"
#include "engine/load/bundled_models.h"

#include <algorithm>
#include <array>
#include <utility>

namespace decoderscope::core {

namespace {

Sentence blocks_of(const Config& config) {
    const Sentence decoder = message_n("a decoder of {count} block", "a decoder of {count} blocks", config.num_layers);
    if (config.encoder_layers == 0) return decoder;
    return message(
        "{encoder} and {decoder}",
        {{"encoder", message_n("an encoder of {count} block", "an encoder of {count} blocks", config.encoder_layers)},
         {"decoder", decoder}});
}

Sentence norm_of(const Config& config) {
    const Phrase place = place_of_norms(config.placement()).title;
    return message("{place} with {norm}", {{"place", place}, {"norm", name_of(config.norm)}});
}

Phrase positions_of(const Config& config) {
    static constexpr std::array<Phrase, 4> kPositions = {message("no positional encoding"),
                                                         message("sinusoidal positions"), message("learned positions"),
                                                         message("rotary positions")};
    return kPositions[static_cast<std::size_t>(config.positional_encoding)];
}

Sentence output_of(const Config& config) {
    if (config.vocab_size == 0) return message("It reads and writes rows of numbers: it has no vocabulary.");
    const Arguments size = {{"tokens", grouped(config.vocab_size)}};
    return config.lm_head ? message("It predicts which of {tokens} tokens comes next.", size)
                          : message("It reads {tokens} different tokens and has no language head.", size);
}

// Of a text that nobody wrote, where it is still there.
Sentence drawn_text_of(const Scenario& scenario) {
    const std::span<const float> text = scenario.inputs.tokens.values();
    if (!scenario.computes() || text.empty()) return {};
    const Inputs drawn = load::example_inputs(scenario.model()->config(), 0);
    if (!std::ranges::equal(text, drawn.tokens.values())) return {};
    return scenario.tokenizer().size() > 0
               ? message("Its text was drawn at random: type your own.")
               : message(
                     "No tokenizer lies beside it, so the numbers in its text are ids of tokens, drawn at random: "
                     "type others, or put its tokenizer.json there.");
}

bool fits(const load::Trial& trial, Scenario scenario) {
    try {
        scenario = with_overrides(std::move(scenario), trial.set);
        scenario.edits.insert(scenario.edits.end(), trial.edits.begin(), trial.edits.end());
        const std::shared_ptr<const Plan> plan = plan_of(scenario);
        if (trial.step.empty()) return true;
        const Ref step = plan->find(trial.step);
        if (step == nullptr) return false;
        bool inside = !trial.cell || trial.cell->size() == step->axes.size();
        for (std::size_t i = 0; trial.cell && inside && i < step->axes.size(); ++i)
            inside = (*trial.cell)[i] < step->axes[i].size;
        return inside;
    } catch (const Error&) {
        return false;
    }
}

bool is_done(const load::Trial& trial, const Scenario& scenario) {
    if (trial.set.empty() && trial.edits.empty()) return false;
    const Overrides now = config_values(scenario.config());
    const auto holds = [&](const auto& key) { return std::ranges::find(now, key) != now.end(); };
    const auto made = [&](const Edit& edit) { return std::ranges::find(scenario.edits, edit) != scenario.edits.end(); };
    return std::ranges::all_of(trial.set, holds) && std::ranges::all_of(trial.edits, made);
}

}  // namespace

Sentence introduction_of(const Scenario& scenario) {
    if (!scenario.about().description.empty()) return scenario.about().description;
    const Config& config = scenario.config();
    const Index shared = config.num_key_value_heads;
    const Sentence heads = shared == 0 || shared == config.nhead
                               ? message_n("{count} head", "{count} heads", config.nhead)
                               : message_n("{count} head with grouped queries (keys and values for {shared})",
                                           "{count} heads with grouped queries (keys and values for {shared})",
                                           config.nhead, {{"shared", shared}});
    const Sentence model = message("This is {blocks}, {heads} each, d_model {d_model}, {norm}, {positions}. {output}",
                                   {{"blocks", blocks_of(config)},
                                    {"heads", heads},
                                    {"d_model", grouped(config.d_model)},
                                    {"norm", norm_of(config)},
                                    {"positions", positions_of(config)},
                                    {"output", output_of(config)}});
    const Sentence drawn = drawn_text_of(scenario);
    return drawn.empty() ? model : message("{model} {text}", {{"model", model}, {"text", drawn}});
}

std::vector<Command> commands_of(const load::Trial& trial) {
    std::vector<Command> commands;
    if (!trial.set.empty() || !trial.edits.empty())
        commands.push_back(command::KeepVariation{{.overrides = trial.set, .more_edits = trial.edits}});
    if (trial.cell)
        commands.push_back(command::Follow{trial.step, *trial.cell});
    else if (!trial.step.empty())
        commands.push_back(command::GoTo{trial.step});
    if (!trial.look.empty()) commands.push_back(command::Tell{asset_text(trial.look), false});
    return commands;
}

std::vector<Command> commands_of(const load::Trial& trial, const Scenario& scenario) {
    std::vector<Command> commands = commands_of(trial);
    if (!scenario.computes()) return commands;
    Variation alone{.overrides = trial.set, .without_edits = true, .more_edits = scenario.edits};
    const Overrides own = config_values(scenario.model()->config());
    bool is_alone = true;
    for (const load::Trial& other : scenario.model()->trials) {
        if (other.title == trial.title || !is_done(other, scenario)) continue;
        is_alone = false;
        for (const Edit& edit : other.edits) std::erase(alone.more_edits, edit);
        for (const auto& [key, value] : other.set) {
            const auto is_key = [&key = key](const auto& one) { return one.first == key; };
            const auto found = std::ranges::find_if(own, is_key);
            if (found != own.end() && std::ranges::none_of(trial.set, is_key)) alone.overrides.push_back(*found);
        }
    }
    if (is_alone) return commands;
    for (const Edit& edit : trial.edits) std::erase(alone.more_edits, edit);
    alone.more_edits.insert(alone.more_edits.end(), trial.edits.begin(), trial.edits.end());
    std::erase_if(commands, [](const Command& command) { return command.get_if<command::KeepVariation>() != nullptr; });
    commands.insert(commands.begin(), command::KeepVariation{alone});
    return commands;
}

std::vector<FittingTrial> fitting_trials(const Scenario& scenario) {
    std::vector<FittingTrial> fitting;
    if (!scenario.computes()) return fitting;
    for (const load::Trial& trial : scenario.model()->trials)
        if (fits(trial, scenario)) fitting.push_back({trial, is_done(trial, scenario)});
    return fitting;
}

Value<ShownTrials> shown_trials(Derived& derived, const Snapshot& shown) {
    return derived.get<ShownTrials>({shown.run}, std::tuple<>(),
                                    [&] { return ShownTrials{fitting_trials(shown.scenario)}; });
}

}  // namespace decoderscope::core

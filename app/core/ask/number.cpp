#include "app/core/ask/number.h"

#include "app/core/generate/prediction.h"
#include "app/core/run/labels.h"
#include "app/core/run/output_moves.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/text/token_text.h"
#include "engine/base/error.h"
#include "engine/graph/substitution.h"
#include "engine/tensor/tensor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

namespace decoderscope::core::ask {

namespace {

std::optional<Index> predicted_at(const Tensor& logits, const ResolvedNumber& number) {
    return predicted_token(logits.row({number.batch, number.position, 0}));
}

Index clamped(Index value, Index count) { return std::clamp<Index>(value, 0, count - 1); }

Sentence name_of(const Scenario& scenario, const ResolvedNumber& number, NumberKind kind) {
    const Arguments arguments = {{"token", token_text(scenario.tokenizer(), number.token)},
                                 {"other", token_text(scenario.tokenizer(), number.minus)},
                                 {"position", number.position}};
    switch (kind) {
        case NumberKind::probability:
            return message("the probability of “{token}” at position {position}", arguments);
        case NumberKind::difference:
            return message("the logit of “{token}” minus that of “{other}” at position {position}", arguments);
        case NumberKind::cell:
        case NumberKind::logit:
            break;
    }
    return message("the logit of “{token}” at position {position}", arguments);
}

}  // namespace

Resumable<TellingSwap> find_telling_swap(Scenario scenario, std::shared_ptr<const Run> run, ResolvedNumber number) {
    TellingSwap found;
    const Plan& plan = run->plan();
    // The swaps worth trying, in the order of the text: of the source if there is one. In a decoder's own text nothing
    // after the position matters, and its first token may be a mark.
    const bool source = !scenario.inputs.encoder_tokens.empty();
    const tokenizer::Tokenizer& tokenizer = source ? scenario.encoder_tokenizer() : scenario.tokenizer();
    constexpr Index kTokensEach = 4;
    std::vector<ReplacedToken> swaps =
        replaced_tokens(scenario, *run, source ? TokenSequence::source : TokenSequence::target, kTokensEach);
    std::erase_if(swaps, [&](const ReplacedToken& one) {
        return one.batch != number.batch || (!source && one.position > number.position) ||
               !is_ordinary(tokenizer, one.before);
    });
    if (swaps.size() > kMostSwaps) swaps.resize(kMostSwaps);
    const Ref logits = plan.find("logits"), asked = plan.find(number.number.tensor);
    if (swaps.empty() || logits == nullptr || asked == nullptr || run->value(logits->id).rank() != 3) co_return found;
    const Substitution to_logits(*run, logits->id), to_number(*run, asked->id);
    const std::optional<Index> answer = predicted_at(run->value(logits->id), number);
    const double before = number.number.in(run->value(asked->id));
    for (const ReplacedToken& swap : swaps) {
        co_yield kPause;
        const SetCell set = edit_of(swap);
        const StepId input = plan.find(set.tensor)->id;
        Tensor swapped = run->value(input);
        swapped.writable()[static_cast<std::size_t>(swapped.offset(set.index))] = set.value;
        ++found.tried;
        const bool changes = predicted_at(to_logits.with(input, swapped), number) != answer;
        const double change = number.number.in(to_number.with(input, swapped)) - before;
        if (!changes && found.swap && std::abs(change) <= std::abs(found.change)) continue;
        found.swap = swap;
        found.change = change;
        found.changes_answer = changes;
        if (changes) break;
    }
    co_return found;
}

OtherChoice with_swap(OtherChoice choice, const TellingSwap& swap) {
    if (choice.kind != OtherKind::token || choice.position || choice.token || !swap.swap) return choice;
    choice.position = swap.swap->position;
    choice.token = swap.swap->after;
    return choice;
}

Sentence swap_sentence(const TellingSwap& swap) {
    if (swap.changes_answer) return {};
    if (!swap.swap) return message("No token of this input can be replaced.");
    return message_n("The one swap that was tried doesn't change the answer.",
                     "None of the {count} swaps that were tried changes the answer; this one moves the number most.",
                     swap.tried);
}

void check_number(const Run& run, const ChosenNumber& number) {
    const Ref step = run.plan().find(number.tensor);
    if (step == nullptr || run.value(step->id).empty())
        throw Error("{name}: this run has no such tensor; expected one such as logits", {{"name", number.tensor}});
    check_cell({number.tensor, number.cell}, step->axes);
    if (number.minus) check_cell({number.tensor, *number.minus}, step->axes);
}

Sentence number_obstacle(const Scenario& scenario, const Run& run, const NumberChoice& choice) {
    if (choice.kind != NumberKind::cell) {
        const Tensor& logits = run.value("logits");
        const bool fits = !logits.empty() && logits.rank() == 3 && scenario.batch() == logits.dim(0);
        return fits ? Sentence() : message("This model has no logits. Select a cell and press Shift+W.");
    }
    try {
        check_number(run, {choice.tensor, choice.cell, {}});
    } catch (const Error& error) {
        return error.sentence();
    }
    return {};
}

Index position_in_doubt(const Inputs& inputs, const Tensor& logits, Index batch) {
    constexpr Index kMostRead = 4'000'000;
    Index found = inputs.pos() - 1;  // the last that isn't padding
    while (found > 0 && is_padding(inputs.attention_mask, batch, found)) --found;
    if (logits.dim(1) * logits.dim(2) > kMostRead || logits.dim(2) < 2) return found;
    double closest = std::numeric_limits<double>::infinity();
    for (Index position = 0; position < logits.dim(1); ++position) {
        if (is_padding(inputs.attention_mask, batch, position)) continue;
        float first = -std::numeric_limits<float>::infinity(), second = first;
        bool is_nan = false;
        for (Index token = 0; token < logits.dim(2); ++token) {
            const float logit = logits.at(Cell{batch, position, token});
            is_nan = is_nan || std::isnan(logit);
            second = std::max(second, std::min(first, logit));
            first = std::max(first, logit);
        }
        const double apart = static_cast<double>(first) - static_cast<double>(second);
        if (is_nan || !(apart < closest)) continue;
        closest = apart;
        found = position;
    }
    return found;
}

ResolvedNumber resolved(const Scenario& scenario, const Run& run, Index batch, const NumberChoice& choice) {
    ResolvedNumber number{.number = {choice.tensor, choice.cell, {}}, .batch = batch};
    if (choice.kind == NumberKind::cell) {
        number.name = Sentence::verbatim(cell_name(choice.tensor, choice.cell));
        return number;
    }
    const Tensor& logits = run.value("logits");
    number.position =
        clamped(choice.position ? *choice.position : position_in_doubt(inputs_of_shown(scenario), logits, batch),
                logits.dim(1));
    const std::vector<generate::Answer> likely = generate::likely_answers(run, batch, number.position, 2);
    const auto likely_token = [&](std::size_t rank) { return likely.size() > rank ? likely[rank].token : Index{0}; };
    number.token = clamped(choice.token.value_or(likely_token(0)), logits.dim(2));
    const Index other = number.token == likely_token(0) ? likely_token(1) : likely_token(0);
    number.minus = clamped(choice.minus.value_or(other), logits.dim(2));
    number.number.tensor = choice.kind == NumberKind::probability ? "probs" : "logits";
    number.number.cell = {batch, number.position, number.token};
    if (choice.kind == NumberKind::difference) number.number.minus = Cell{batch, number.position, number.minus};
    number.name = name_of(scenario, number, choice.kind);
    return number;
}

std::optional<ReplacedToken> changed_token(const Scenario& scenario, Index batch, const OtherChoice& choice) {
    const Inputs inputs = inputs_of_shown(scenario);
    ReplacedToken changed{.in_source = !inputs.encoder_tokens.empty(), .batch = batch};
    const Tensor& tokens = changed.in_source ? inputs.encoder_tokens : inputs.tokens;
    if (tokens.empty()) return std::nullopt;
    const tokenizer::Tokenizer& tokenizer = changed.in_source ? scenario.encoder_tokenizer() : scenario.tokenizer();
    const Index vocabulary = changed.in_source ? scenario.config().encoder_vocab_size : scenario.config().vocab_size;
    const auto token_at = [&](Index position) { return static_cast<Index>(tokens.at(Cell{batch, position})); };
    Index position = 0;
    while (position < tokens.dim(1) && !is_ordinary(tokenizer, token_at(position))) ++position;
    changed.position = clamped(choice.position.value_or(position % tokens.dim(1)), tokens.dim(1));
    changed.before = token_at(changed.position);
    Index next = (changed.before + 1) % vocabulary;
    for (Index step = 1; step < vocabulary && !is_ordinary(tokenizer, next); ++step) next = (next + 1) % vocabulary;
    changed.after = clamped(choice.token.value_or(next), vocabulary);
    return changed;
}

OtherRun other_run(const Snapshot& shown, Index batch, const OtherChoice& choice) {
    Scenario scenario = shown.scenario;
    scenario.gradient_target.clear();
    try {
        switch (choice.kind) {
            case OtherKind::token: {
                const std::optional<ReplacedToken> changed = changed_token(scenario, batch, choice);
                if (!changed) return {{}, nullptr, message("This model reads no tokens that could be changed.")};
                Tensor& tokens = changed->in_source ? scenario.inputs.encoder_tokens : scenario.inputs.tokens;
                tokens.writable()[static_cast<std::size_t>(tokens.offset(Cell{batch, changed->position}))] =
                    static_cast<float>(changed->after);
                return {std::move(scenario), nullptr, {}};
            }
            case OtherKind::unedited:
                if (!is_edited(shown.scenario)) return {{}, nullptr, message("This run has no edits.")};
                scenario = without_edits(std::move(scenario));
                return {std::move(scenario), shown.unedited, {}};
            case OtherKind::pinned:
                if (!shown.pinned || !shown.pinned->run) return {{}, nullptr, message("No run is pinned.")};
                return {shown.pinned->scenario ? std::optional(*shown.pinned->scenario) : std::nullopt,
                        shown.pinned->run,
                        {}};
            case OtherKind::configuration:
                if (choice.option.first.empty()) return {{}, nullptr, message("Choose another configuration.")};
                return {with_override(std::move(scenario), choice.option.first, choice.option.second), nullptr, {}};
        }
    } catch (const Error& error) {
        return {{}, nullptr, error.sentence()};
    }
    return {};
}

}  // namespace decoderscope::core::ask

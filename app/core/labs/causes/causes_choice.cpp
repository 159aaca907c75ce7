#include "app/core/labs/causes/causes_choice.h"

#include "app/core/generate/prediction.h"
#include "app/core/run/labels.h"
#include "app/core/text/token_text.h"
#include "engine/base/error.h"
#include "engine/tensor/tensor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace decoderscope::core::causes {

void check_number(const Run& run, const ChosenNumber& number) {
    const Ref step = run.plan().find(number.tensor);
    if (step == nullptr || run.value(step->id).empty())
        throw Error("{name}: this run has no such tensor; expected one such as logits", {{"name", number.tensor}});
    check_cell({number.tensor, number.cell}, step->axes);
    if (number.minus) check_cell({number.tensor, *number.minus}, step->axes);
}

bool is_ordinary(const tokenizer::Tokenizer& tokenizer, Index token) {
    const tokenizer::SpecialTokens special = tokenizer.special();
    return token != special.pad && token != special.beginning && !special.ends_at(token);
}

namespace {

// The last position of a row that isn't padding.
Index last_position(const Inputs& inputs, Index batch) {
    Index last = inputs.pos() - 1;
    while (last > 0 && is_padding(inputs.attention_mask, batch, last)) --last;
    return last;
}

Index clamped(Index value, Index count) { return std::clamp<Index>(value, 0, count - 1); }

ResolvedNumber of_cell(const NumberChoice& choice, Index batch) {
    ResolvedNumber number{.number = {choice.tensor, choice.cell, {}}, .batch = batch};
    number.name = Sentence::verbatim(cell_name(choice.tensor, choice.cell));
    return number;
}

std::string token_name(const Scenario& scenario, Index token) { return token_text(scenario.tokenizer(), token); }

Sentence name_of(const Scenario& scenario, const ResolvedNumber& number, NumberKind kind) {
    const Arguments arguments = {{"token", token_name(scenario, number.token)},
                                 {"other", token_name(scenario, number.minus)},
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

Index next_ordinary(const tokenizer::Tokenizer& tokenizer, Index token, Index vocabulary) {
    for (Index step = 1; step < vocabulary; ++step)
        if (const Index next = (token + step) % vocabulary; is_ordinary(tokenizer, next)) return next;
    return (token + 1) % vocabulary;
}

Index first_ordinary(const tokenizer::Tokenizer& tokenizer, const Tensor& tokens, Index batch) {
    for (Index i = 0; i < tokens.dim(1); ++i)
        if (is_ordinary(tokenizer, static_cast<Index>(tokens.at(Cell{batch, i})))) return i;
    return 0;
}

}  // namespace

Sentence number_obstacle(const Scenario& scenario, const Run& run, const NumberChoice& choice) {
    if (choice.kind != NumberKind::cell) {
        const Tensor& logits = run.value("logits");
        const bool fits = !logits.empty() && logits.rank() == 3 && scenario.batch() == logits.dim(0);
        return fits ? Sentence() : message("This model has no logits. Select a cell and press W.");
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
    Index found = last_position(inputs, batch);
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
    if (choice.kind == NumberKind::cell) return of_cell(choice, batch);
    const Tensor& logits = run.value("logits");
    ResolvedNumber number{.number = {}, .batch = batch};
    number.position =
        clamped(choice.position ? *choice.position : position_in_doubt(scenario.inputs, logits, batch), logits.dim(1));
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

std::optional<ChangedToken> changed_token(const Scenario& scenario, Index batch, const OtherChoice& choice) {
    const Inputs& inputs = scenario.inputs;
    ChangedToken changed{.in_source = !inputs.encoder_tokens.empty()};
    const Tensor& tokens = changed.in_source ? inputs.encoder_tokens : inputs.tokens;
    if (tokens.empty()) return std::nullopt;
    const tokenizer::Tokenizer& tokenizer = changed.in_source ? scenario.encoder_tokenizer() : scenario.tokenizer();
    const Index vocabulary = changed.in_source ? scenario.config().encoder_vocab_size : scenario.config().vocab_size;
    changed.position = clamped(choice.position.value_or(first_ordinary(tokenizer, tokens, batch)), tokens.dim(1));
    changed.before = static_cast<Index>(tokens.at(Cell{batch, changed.position}));
    changed.after = clamped(choice.token.value_or(next_ordinary(tokenizer, changed.before, vocabulary)), vocabulary);
    return changed;
}

OtherRun other_run(const Snapshot& shown, Index batch, const OtherChoice& choice) {
    Scenario scenario = shown.scenario;
    scenario.gradient_target.clear();
    try {
        switch (choice.kind) {
            case OtherKind::token: {
                const std::optional<ChangedToken> changed = changed_token(scenario, batch, choice);
                if (!changed) return {{}, nullptr, message("This model reads no tokens that could be changed.")};
                Tensor& tokens = changed->in_source ? scenario.inputs.encoder_tokens : scenario.inputs.tokens;
                tokens.writable()[static_cast<std::size_t>(tokens.offset(Cell{batch, changed->position}))] =
                    static_cast<float>(changed->after);
                return {std::move(scenario), nullptr, {}};
            }
            case OtherKind::unedited:
                if (shown.scenario.edits.empty()) return {{}, nullptr, message("This run has no edits.")};
                scenario.edits.clear();
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

}  // namespace decoderscope::core::causes

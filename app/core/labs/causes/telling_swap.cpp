#include "app/core/labs/causes/telling_swap.h"

#include "app/core/run/output_moves.h"
#include "engine/graph/substitution.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace decoderscope::core::causes {

namespace {

constexpr Index kTokensEach = 4;

// Up to this many ordinary tokens other than this one, spread over the vocabulary.
std::vector<Index> other_tokens(const tokenizer::Tokenizer& tokenizer, Index token, Index vocabulary) {
    std::vector<Index> found;
    for (Index i = 0; i < kTokensEach; ++i) {
        Index other = (token + 1 + i * std::max<Index>(1, vocabulary / kTokensEach)) % vocabulary;
        for (Index step = 0; step < vocabulary && (other == token || !is_ordinary(tokenizer, other)); ++step)
            other = (other + 1) % vocabulary;
        if (other != token && std::ranges::find(found, other) == found.end()) found.push_back(other);
    }
    return found;
}

struct SwappedInput {
    Ref step = nullptr;
    const tokenizer::Tokenizer& tokenizer;
    const Tensor& mask;
    Index vocabulary = 0;
    bool in_source = false;
};

SwappedInput input_of(const Scenario& scenario, const Plan& plan) {
    const load::Model& model = *scenario.model();
    if (!scenario.inputs.encoder_tokens.empty())
        return {plan.find("encoder_tokens"), model.encoder_tokenizer, scenario.inputs.encoder_attention_mask,
                scenario.config().encoder_vocab_size, true};
    return {plan.find("tokens"), model.tokenizer, scenario.inputs.attention_mask, scenario.config().vocab_size, false};
}

std::optional<Index> predicted_at(const Tensor& logits, const ResolvedNumber& number) {
    return predicted_token(logits.row({number.batch, number.position, 0}));
}

// The swaps worth trying, in the order of the text. In a decoder's own text nothing after the position matters, and its
// first token may be a mark.
std::vector<ChangedToken> swaps_of(const SwappedInput& input, const Tensor& tokens, const ResolvedNumber& number) {
    std::vector<ChangedToken> swaps;
    for (Index at = 0; at < tokens.dim(1); ++at) {
        if (is_padding(input.mask, number.batch, at) || (!input.in_source && at > number.position)) continue;
        const auto before = static_cast<Index>(tokens.at(Cell{number.batch, at}));
        if (!is_ordinary(input.tokenizer, before)) continue;
        for (const Index after : other_tokens(input.tokenizer, before, input.vocabulary))
            swaps.push_back({input.in_source, at, before, after});
    }
    return swaps;
}

}  // namespace

Resumable<TellingSwap> find_telling_swap(Scenario scenario, std::shared_ptr<const Run> run, ResolvedNumber number) {
    TellingSwap found;
    const Plan& plan = run->plan();
    const SwappedInput input = input_of(scenario, plan);
    const Ref logits = plan.find("logits"), asked = plan.find(number.number.tensor);
    if (input.step == nullptr || logits == nullptr || asked == nullptr || run->value(logits->id).rank() != 3)
        co_return found;
    const Tensor tokens = run->value(input.step->id);  // [batch, pos]
    const Substitution to_logits(*run, logits->id), to_number(*run, asked->id);
    const std::optional<Index> answer = predicted_at(run->value(logits->id), number);
    const double before = number.number.in(run->value(asked->id));
    for (const ChangedToken& swap : swaps_of(input, tokens, number)) {
        if (found.tried == kMostSwaps) break;
        co_yield kPause;
        Tensor swapped = tokens;
        swapped.writable()[static_cast<std::size_t>(tokens.offset(Cell{number.batch, swap.position}))] =
            static_cast<float>(swap.after);
        ++found.tried;
        const bool changes = predicted_at(to_logits.with(input.step->id, swapped), number) != answer;
        const double change = number.number.in(to_number.with(input.step->id, swapped)) - before;
        if (!changes && found.swap && std::abs(change) <= std::abs(found.change)) continue;
        found.swap = swap;
        found.change = change;
        found.changes_answer = changes;
        if (changes) break;
    }
    co_return found;
}

Value<TellingSwap> shown_telling_swap(Derived& derived, const Snapshot& shown, const ResolvedNumber& number) {
    return derived.later<TellingSwap>({shown.run},
                                      std::make_tuple(number.number.tensor, number.number.cell,
                                                      number.number.minus.value_or(Cell()), number.position),
                                      [&] { return find_telling_swap(shown.scenario, shown.run, number); });
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

}  // namespace decoderscope::core::causes

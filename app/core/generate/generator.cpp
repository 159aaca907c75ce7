#include "app/core/generate/generator.h"

#include "app/core/generate/generation.h"
#include "app/core/generate/passes.h"
#include "engine/error.h"

namespace decoderscope {

namespace {

Scenario row_of(Scenario scenario, Index row) {
    if (const Sentence obstacle = generation_obstacle(scenario); !obstacle.empty()) throw Error(obstacle);
    const InputsPart whole = {0, row_length(scenario.inputs, row), row};
    scenario.edits = edits_of_part(scenario, whole);
    scenario.inputs = part_of(scenario.inputs, whole);
    scenario.generated.clear();
    return scenario;
}

}  // namespace

Generator::Generator(Scenario scenario, Index row, Sampling sampling, bool cached)
    : scenario_(row_of(std::move(scenario), row)),
      row_(row),
      sampling_(sampling),
      cached_(cached && scenario_.mutation.empty()) {
    check_sampling(sampling_);
}

std::optional<Index> Generator::next() {
    const Index length = scenario_.inputs.pos();
    if (has_ended(scenario_, 0) || !row_is_full(scenario_, 0).empty()) return std::nullopt;
    const InputsPart part = {past_.positions, length - past_.positions};
    static const std::vector<std::string> logits_last = {"logits"};
    const auto run =
        execute(plan_of_part(scenario_, part, past_.positions > 0 ? &past_ : nullptr), {.last_row_first = logits_last});
    computed_positions_ += part.count;
    if (cached_) past_ = past_of(*run);
    const Tensor logits = rows_from(run->value("logits"), part.count - 1);  // [1, 1, vocab]
    const auto vocab = static_cast<std::size_t>(logits.dim(2));
    const auto choice = next_token(logits.values().last(vocab), sampling_);
    if (!choice) throw Error("logits: NaN or ∞ after position {length}, expected numbers", {{"length", length - 1}});
    const Draw drawn = draw(*choice, sampling_number(sampling_.seed, row_, length));
    const Index token = choice->candidates[drawn.rank].token;
    scenario_ = with_token(std::move(scenario_), 0, token);
    return token;
}

std::vector<Index> Generator::tokens() const { return row_tokens(scenario_.inputs, 0); }

}  // namespace decoderscope

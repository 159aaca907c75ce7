#pragma once

#include "app/core/derived/derived.h"
#include "app/core/run/scenario.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

// What the model answers: at each position the most probable token, for the one that follows.
namespace decoderscope::core::generate {

struct Prediction {
    std::optional<Index> token;   // predicted_token() in app/core/run/output_moves.h; nothing for padding, too
    std::optional<Index> target;  // what the inputs' targets ask for, otherwise the token that follows in the
                                  // row's document; nothing if that ends
    bool is_padding = false;

    [[nodiscard]] bool is_judged() const { return target.has_value(); }
    [[nodiscard]] bool is_right() const { return is_judged() && token == target; }
};

// Every position's prediction, [batch, pos].
struct Predictions {
    Index batch = 0, pos = 0;
    std::vector<Prediction> all;
    Index made = 0;               // at positions that aren't padding
    Index judged = 0, right = 0;  // how many of them have a target, and are it

    [[nodiscard]] std::span<const Prediction> row(Index row) const {
        return std::span(all).subspan(static_cast<std::size_t>(row * pos), static_cast<std::size_t>(pos));
    }
    // The last position of a row that isn't padding: what is predicted there goes on with the text.
    [[nodiscard]] Index last(Index number) const {
        Index last = pos - 1;
        while (last > 0 && row(number)[static_cast<std::size_t>(last)].is_padding) --last;
        return last;
    }
};

// Whether the model predicts tokens that can be read: it continues a text, and has a vocabulary.
[[nodiscard]] bool predicts_tokens(const Scenario& scenario);

// The predictions of a run with these inputs.
[[nodiscard]] Resumable<Predictions> predictions_of(std::shared_ptr<const Run> run, Inputs inputs);
// As above, from the cache; empty while they are being read, or if the model predicts no tokens.
[[nodiscard]] Value<Predictions> shown_predictions(Derived& derived, const Scenario& scenario,
                                                   const std::shared_ptr<const Run>& run);

// A token and its probability: softmax of the logits.
struct Answer {
    Index token = 0;
    double probability = 0.0;
};
// "81 %", "0.4 %".
[[nodiscard]] std::string percent_text(double probability);
// The most probable tokens at a position, the most probable first; none if a logit is NaN or +∞.
[[nodiscard]] std::vector<Answer> likely_answers(const Run& run, Index batch, Index position, std::size_t most);
// A token's probability at a position; NaN if a logit is NaN or +∞.
[[nodiscard]] double probability_of(const Run& run, Index batch, Index position, Index token);

// What the window says about one position's prediction.
struct ShownAnswer {
    std::vector<Answer> likely;
    std::optional<Answer> target;  // what should follow, if that is known
};
[[nodiscard]] Value<ShownAnswer> shown_answer(Derived& derived, const std::shared_ptr<const Run>& run, Index batch,
                                              Index position, std::optional<Index> target);

// What goes on with the text: the answer at the last position of a row that isn't padding.
struct NextAnswer {
    Index row = 0, position = 0;
    Value<ShownAnswer> shown;
};
// For a batch row, or the last one that there is; nothing where shown_predictions() is empty.
[[nodiscard]] std::optional<NextAnswer> next_answer(Derived& derived, const Scenario& scenario,
                                                    const std::shared_ptr<const Run>& run, Index batch);

}  // namespace decoderscope::core::generate

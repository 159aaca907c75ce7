#pragma once

#include "app/core/jobs/resumable.h"
#include "app/core/run/scenario.h"
#include "engine/base/message.h"
#include "engine/graph/run.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

// What a run predicts, and how far the outputs of two runs are apart: for everything that reports it: the window,
// lessons, files and the command line. What counts:
//
// - A position counts unless attention_mask hides it: padding is left out, and every sentence says so.
// - A prediction is the token of the largest logit, the first if several are equal. If a logit is NaN, nothing is
//   predicted: that is wrong wherever a token follows.
// - A prediction changed if it is another token, or if it is one in only one of the two runs.
// - A number moved by |after − before|; the same infinity doesn't count as a move. NaN in both is neither a move nor
// the
//   same number: positions that have one are counted and reported.
namespace decoderscope::core {

// The decoder's final output: the logits, otherwise the last recorded [batch, pos, d_model] of the decoder
// (ln_final.normalized, or the last block's output). nullptr for a plan without either.
[[nodiscard]] Ref output_step(const Plan& plan);
// Whether the output is logits, so that each position predicts a token.
[[nodiscard]] bool predicts_tokens(const Step& output);

// The token of the largest of one position's logits or probabilities; nothing if one is NaN.
[[nodiscard]] std::optional<Index> predicted_token(std::span<const float> logits);

// The output of one position in two runs.
struct PositionMove {
    Index batch = 0, position = 0;
    bool counts = true;  // it isn't padding
    // max |after − before| over vocab or d_model; NaN if one is NaN in only one run, or if nothing moved but what is
    // NaN in both
    double largest = 0.0;
    double norm = 0.0;                    // the L2 norm of after − before; NaN if either is NaN anywhere
    bool lost = false, regained = false;  // a number became NaN; one that was NaN is a number
    bool stays_nan = false;               // one is NaN in both runs: whether it is the same can't be said
    std::optional<Index> before, after;   // the predictions, if the output is logits

    [[nodiscard]] bool moved() const { return lost || regained || largest > 0.0; }
    [[nodiscard]] bool changes_prediction() const { return counts && before != after; }
};

// The whole output in two runs.
struct OutputMoves {
    std::string
        output;  // "logits", otherwise the last tensor of the stream; empty if there is none, or of another shape
    bool predicts = false;  // the output is logits
    Index row_length = 0;
    std::vector<PositionMove> all;  // [batch, pos]

    Index padding = 0, lost_in_padding = 0;  // positions that don't count; those of them that became NaN

    // Of the positions that count:
    Index positions = 0;
    Index lost = 0, regained = 0, stays_nan = 0;
    double largest = 0.0;                 // how far a number moved at most; NaN is counted only in lost and regained
    std::optional<std::size_t> furthest;  // which of `all` moved furthest, NaN before any number; nothing if none moved
    std::vector<std::size_t> changed;     // which of `all` changed their prediction

    [[nodiscard]] std::span<const PositionMove> row(Index batch) const {
        return std::span(all).subspan(static_cast<std::size_t>(batch * row_length),
                                      static_cast<std::size_t>(row_length));
    }
};

// `before` and `after` are [batch, pos, …] of one shape; an empty mask hides nothing.
[[nodiscard]] OutputMoves moves_of(const Tensor& before, const Tensor& after, const Tensor& attention_mask,
                                   bool predicts);
// How many predictions changed, from logits [batch, pos, vocab]: as many as moves_of() lists in `changed`, without
// measuring how far anything moved, which takes longer.
[[nodiscard]] Index count_of_changed_predictions(const Tensor& before, const Tensor& after,
                                                 const Tensor& attention_mask);
// Compares two runs. Pauses now and then.
[[nodiscard]] Resumable<OutputMoves> output_moves(std::shared_ptr<const Run> before, std::shared_ptr<const Run> after,
                                                  Tensor attention_mask);

// Whether it happened, or would if something were done.
enum class Mood { happened, would };
// "logits moved by at most 1.62; the prediction changed at 1 of 20 positions: position 3 “a” → “b”."
[[nodiscard]] Sentence moves_sentence(const Scenario& scenario, const OutputMoves& moves, Mood mood);
// "position 3 “a” → “b”, position 5 “c” → “d” and 4 more": the first predictions that changed; empty if none did.
[[nodiscard]] Sentence changes_sentence(const Scenario& scenario, const OutputMoves& moves);
// "furthest at row 1, position 3"; empty if nothing moved.
[[nodiscard]] Sentence furthest_sentence(const Scenario& scenario, const OutputMoves& moves);
// The effect of a scenario's edits, with what they are compared with: the run without them, but with the scenario's
// settings. "Against the same run (Post-Norm) without edits: logits stayed the same."
[[nodiscard]] Sentence against_unedited(const Scenario& scenario, const Sentence& effect);

}  // namespace decoderscope::core

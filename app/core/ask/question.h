#pragma once

#include "app/core/answer/answer.h"
#include "app/core/ask/seek.h"
#include "app/core/derived/derived.h"
#include "app/core/jobs/progress.h"
#include "app/core/run/slice.h"
#include "app/core/run/snapshot.h"
#include "app/core/train/training_board.h"
#include "engine/base/message.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

// What is asked of many runs that differ in one thing, and what the answer shows.
namespace decoderscope::core::ask {

// What a person asks.
struct SweepQuestion {
    std::string vary;       // as points_of() reads it; two things that vary have a ";" between them
    std::string row;        // as row_from() reads it; empty: only which predictions change
    std::string seek = {};  // what the row is to become, as target_from() reads it; empty: nothing is sought
    bool operator==(const SweepQuestion&) const = default;
};

// Throws Error as points_of() and row_from() do, and if more than two things vary.
struct AskedSweep {
    Unswept unswept;
    Points points;  // none if something is sought
};
// `training`: of which the model is a step, so that its steps can be varied; nullptr: none.
[[nodiscard]] AskedSweep asked(const Snapshot& shown, const SweepQuestion& question,
                               const std::shared_ptr<const train::Recipe>& training = nullptr);

// How an answer is shown: what the runs of one number say in a table, in a curve or, if two things vary, in a grid;
// several numbers in curves or as a picture with a row for each run; matrices as a picture each; what was sought as a
// sentence.
enum class Form { table, curves, grid, rows, pictures, found };

inline constexpr std::size_t kMostCurves = 12, kMostPictures = 64;

struct ShownSweep {
    static constexpr std::size_t kKept = 2;
    static constexpr bool kGoesOn = true;

    Sentence error;  // why there is none; empty if there is one
    Sweep sweep;
    Sentence training;           // whose steps were varied; empty if none were
    std::optional<Found> found;  // what was sought; there is no sweep then
    Points points;
    Row row;
    Form form = Form::table;
    std::vector<std::size_t> order;  // of the table's lines: the largest number first, then what changes most

    // Which result a cell of a picture, or a place along the curves, is of.
    [[nodiscard]] std::size_t result_at(std::size_t picture, Index row, Index column) const;
};

// The answer; empty while it is computed. `progress` counts its runs, if there is one.
[[nodiscard]] Value<ShownSweep> shown_sweep(Derived& derived, const Snapshot& shown, const SweepQuestion& question,
                                            const SharedProgress& progress,
                                            const std::shared_ptr<const train::Recipe>& training = nullptr);
// The same at once. What can't be asked, or run, is its error.
[[nodiscard]] Resumable<ShownSweep> answered(Snapshot shown, SweepQuestion question, SharedProgress progress,
                                             std::shared_ptr<const train::Recipe> training = nullptr);

// The training, of those seen, that the shown model is a step of, or else how Train would train it from new weights;
// nullptr if there is neither.
[[nodiscard]] std::shared_ptr<const train::Recipe> training_of(Derived& derived, const Snapshot& shown,
                                                               std::span<const train::SeenTraining> seen);

// What a result's number is, as its form shows it: the row's only number or, if none is watched, how many predictions
// change. NaN if it has none.
[[nodiscard]] double number_of(const Result& result);
// The row's number, or its first ones.
[[nodiscard]] std::string text_of_value(const Result& result);
// "attention_scale = 0.5; head = blocks.0.attn head 3"
[[nodiscard]] Sentence where_sentence(const Sweep& sweep, const Result& result);
// "41 runs; predictions change in 12 of them, first at temperature = 0.7.", or "5 of 24 can each be left out without
// changing a prediction. 1 more is off already."
[[nodiscard]] Sentence summary_sentence(const ShownSweep& shown);

// The edits, keys and seed that make a run of the sweep, or what was found, the work's own, with the row as its formula
// was there.
[[nodiscard]] Variation kept_variation(const ShownSweep& shown, std::size_t result);
// Why a run can't be made the work; empty if it can.
[[nodiscard]] Sentence obstacle_to_keeping(const ShownSweep& shown, std::size_t result);
[[nodiscard]] Variation found_variation(const ShownSweep& shown);

// The answer: a table, curves, or pictures, of matrices at most so many; and as files have it, with all of them.
[[nodiscard]] Answer answer_of(const Scenario& scenario, const ShownSweep& shown,
                               std::size_t most_pictures = kMostPictures);
[[nodiscard]] Exhibit sweep_exhibit(const Scenario& scenario, const ShownSweep& shown);

// ---- what can be asked

// A question with the words that people use for it.
struct ReadyQuestion {
    SweepQuestion question;
    Phrase title = Phrase("");
    std::string words;
};
// What a question may be about: its row has {attention}, {batch} and {head} in their place.
struct OnStage {
    std::string attention;  // "blocks.0.attn"
    Place place;
};
// All of them (assets/tables/sweeps.json); those that fit this run, about what is on the stage.
[[nodiscard]] const std::vector<ReadyQuestion>& ready_questions();
struct ReadyQuestions {
    static constexpr std::size_t kKept = 2;
    std::vector<ReadyQuestion> fitting;
};
[[nodiscard]] Value<ReadyQuestions> ready_questions(Derived& derived, const Snapshot& shown, const OnStage& stage,
                                                    const std::shared_ptr<const train::Recipe>& training);

// What may vary, and which rows can be watched, beside a selected cell of a step: to be chosen instead of typed.
struct Proposals {
    static constexpr std::size_t kKept = 2;
    std::vector<std::string> vary, rows;
};
[[nodiscard]] Value<Proposals> proposals(Derived& derived, const Snapshot& shown, const std::string& row,
                                         const std::string& step, const std::optional<Cell>& cell);

}  // namespace decoderscope::core::ask

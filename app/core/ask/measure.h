#pragma once

#include "app/core/answer/table.h"
#include "app/core/ask/vary.h"
#include "app/core/jobs/resumable.h"
#include "engine/base/message.h"
#include "engine/tensor/tensor.h"

#include <atomic>
#include <cstddef>
#include <iosfwd>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

// One row's value in many runs that differ in one thing.
namespace decoderscope::core::ask {

// How many numbers the row may have in all runs together.
inline constexpr Index kMostNumbers = 10'000'000;

// What a run does to the output, over the positions that count (app/core/run/output_moves.h).
struct Effect {
    std::string output;                // "logits"
    bool predicts = false;             // it is logits: then predictions change
    Index positions = 0, changed = 0;  // that count; whose predictions change
    Index lost = 0, stays_nan = 0;     // that become NaN; that are NaN in both runs
    double largest = 0.0;              // how far a number moves at most
    Sentence changes, said;            // which predictions change, and to what; with all the rest
};

struct Result {
    std::vector<At> at;
    std::size_t point = 0;  // its number
    Tensor value;           // of the row; empty if none is watched
    // Against the unswept run; nothing if the model predicts no tokens, or if they weren't asked for.
    std::optional<Index> predictions_changed = std::nullopt;
    std::optional<Effect> effect = std::nullopt;  // nothing if it wasn't asked for, or if there is no output to compare
    std::string continuation = {};                // that was drawn; of several rows with a line each
};

struct Sweep {
    std::string row;                  // the tensor's name; empty if none is watched
    std::string title;                // the row as it was written
    std::vector<std::string> varied;  // beside each result's `at`
    std::vector<Result> results;      // in the order of the points; fewer if it was stopped
    bool predicts = false;            // whether results say how many predictions changed
    std::optional<Tensor> unswept;    // the row without any change; nothing if its formula names a number that varies
    std::optional<Step> step;         // the row's, as in the first run; nothing if none is watched
};

// What is compared of each run's output. With a large vocabulary it may take longest.
enum class OfOutput { nothing, predictions, effect };

struct SweepOptions {
    OfOutput output = OfOutput::predictions;
    bool unswept = true;                       // also the row without any change
    std::atomic<std::size_t>* done = nullptr;  // counts the finished runs
};

// Computes the row in every run, one run after the other; without a row, only what the output does. Each reuses what it
// can from the unswept one and computes only what the row and the predictions need. Pauses between steps; stops between
// two. Throws Error naming the point that can't be run, or if the row has too many numbers.
[[nodiscard]] Resumable<Sweep> swept(Unswept unswept, Points points, SweepOptions options = {},
                                     std::stop_token stop = {});

// "20 continuations, 7 of them different; most often “abc”, 9 times." Empty if none were drawn.
[[nodiscard]] Sentence continuations_sentence(const Sweep& sweep);

// Throws Error if the row has another shape in some of the runs.
void check_alike(const Sweep& sweep);

// The sweep with its results by the row's value, the largest first, NaN last. Throws Error if it is not one number.
[[nodiscard]] Sweep sorted(Sweep sweep);

// ---- as files and terminals have it

// A JSON list with a line for each run: {"at": 0.5, "value": 1.25, "predictions_changed": 2}. "at" is a number, a text,
// or a list of them if several things are varied; "value" a number, or nested lists by the tensor's axes; what is not
// finite is "nan", "inf" or "-inf". "predictions_changed" is missing if the sweep doesn't say.
void write_json(std::ostream& out, const Sweep& sweep);

// As a table: a row for each run, the first of the row's numbers, and the row without any change in place of a total.
// Throws Error if the row's shape is not the same in all runs.
[[nodiscard]] Table table_of(const Sweep& sweep, int digits, std::size_t most_numbers);
// How far each two runs are apart, as a table of the runs by the runs: the largest difference of the row's numbers, NaN
// where one of them is. Throws Error if the row's shape is not the same in all runs, or if they are too many.
[[nodiscard]] Table pairs_of(const Sweep& sweep, int digits);
// The table with all numbers; and in aligned columns for a terminal, of a row that has many numbers only the first, as
// the last line says.
void write_csv(std::ostream& out, const Sweep& sweep);
void write_text(std::ostream& out, const Sweep& sweep);

}  // namespace decoderscope::core::ask

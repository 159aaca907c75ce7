#pragma once

#include "app/core/derived/derived.h"
#include "app/core/run/scenario.h"
#include "app/core/run/snapshot.h"
#include "engine/base/message.h"
#include "engine/files/block_numbers.h"
#include "engine/graph/explanation.h"
#include "engine/graph/plan.h"
#include "engine/graph/run.h"
#include "engine/sheet/readers.h"

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::core::step {

// "(0.0625 · 6 = 0.375)", "(0.5 · 3 − 0.25 = 1.25)": a number of a weight as its file holds it, scale first.
[[nodiscard]] std::string stored_text(const packed::StoredNumber& stored);

// Writes the weights' numbers of an explanation as their file holds them, if that is in fewer bits. A weight's own cell
// is also explained in this way.
void show_stored(const Scenario& scenario, const Plan& plan, const Step& step, const Cell& cell,
                 Explanation& explanation);

// All digits that tell a float from its neighbours, with a true minus: "0.25143978", "−∞", "NaN".
[[nodiscard]] std::string exact_number(float value);

// Parses a float as typed: "0.5", "-1e-3", "inf", "-∞", "nan". Returns false if it isn't one.
[[nodiscard]] bool parse_number(std::string_view text, float& value);

// The terms of a line by magnitude, largest first; NaN before all.
[[nodiscard]] std::vector<std::size_t> largest_first(const Line& line);

// One factor: its number, or how it was computed. Negative numbers are in brackets except in first place.
[[nodiscard]] std::string factor_text(const Factor& factor, bool first);

// A line in its numbers, as on a blackboard: "z = 0.62 · 1.4 + 0.31 · (−0.2) + … = 0.83", with its largest terms.
[[nodiscard]] std::string written_out(const Line& line, std::size_t most_terms);

// An entry of a line's list of terms: one term, or a group of terms with their sum, which opens to its parts.
struct TermPart {
    std::string name;                 // "key 3 “a”", "head 0", "d_model 16 to 31"; empty if nothing tells it apart
    double value = 0.0;               // the sum
    std::size_t count = 1;            // how many terms
    std::optional<std::size_t> term;  // its number in the line, if it is one term
    std::vector<TermPart> parts;      // of a group; their sums add up to its value
};

// An explanation and, for each of its lines, the terms as a list: largest first. If they run along several axes of
// their operand, as those of o_proj along head and d_head, they are grouped by the first. Beyond the ten largest they
// are grouped by blocks of what they run along. The entries' sums add up to the line.
struct ReadExplanation {
    Explanation explanation;
    std::vector<std::vector<TermPart>> lines;  // [line, entry]
};

inline constexpr std::size_t kMostTerms = 10;  // listed one by one
inline constexpr std::size_t kFewMore = 5;     // that make no group

// How one cell of a step was computed. The names of tokens are those of the scenario.
[[nodiscard]] ReadExplanation read_explanation(const Scenario& scenario, const Run& run, const Step& step,
                                               const Cell& cell);

// What reads a cell next, as inspector and terminal show it.

// The readers of a cell of the shown run; empty while they are being found.
struct ShownReaders {
    std::vector<decoderscope::sheet::Reader> readers;
};
[[nodiscard]] Value<ShownReaders> shown_readers(Derived& derived, const Snapshot& shown, const Step& step,
                                                const Cell& cell);

// "blocks.0.attn.z[0, 1, 3–5, 0–15]": the cells of a reader.
[[nodiscard]] std::string reader_text(const Plan& plan, const decoderscope::sheet::Reader& reader);

// A line for each reader, for a terminal.
void write_readers(std::ostream& out, const Run& run, const Step& step, const Cell& cell);

// The backward pass of a run, as the window shows it (engine/backward/gradient.h).

// The gradient of the target at a cell: the same cell of the step's gradient.
struct CellSlope {
    std::string tensor;  // "grad.blocks.0.attn.z"
    float value = 0.0F;
};
// Nothing in a run without gradients, and for cells of the backward pass itself.
[[nodiscard]] std::optional<CellSlope> slope_at(const Run& run, const Step& step, const Cell& cell);

// What a gradient says and doesn't say; empty for steps of the forward pass. A score's gradient says which weight
// should grow; the gradient with respect to the pattern, before the softmax shares it out, does not.
[[nodiscard]] std::vector<Sentence> words_on_gradient(const Plan& plan, const Step& step, const std::string& target);

// The scores that a pattern was computed from; nullptr for other steps.
[[nodiscard]] Ref scores_of_pattern(const Plan& plan, const Step& pattern);

// Whether gradients of this cell can be asked for: a cell of a computed step of the forward pass, or of a parameter.
[[nodiscard]] bool can_be_target(const Step& step);
// Whether the run has logits and targets to measure a loss by.
[[nodiscard]] bool has_loss(const Run& run);

}  // namespace decoderscope::core::step

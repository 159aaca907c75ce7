#pragma once

#include "app/core/figure/exhibit.h"
#include "app/core/run/notes.h"
#include "app/core/run/scenario.h"
#include "app/core/run/slice.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace decoderscope::core {

// A computed run and its scenario: what an exhibit keeps alive while it is written.
struct ShownRun {
    Scenario scenario;
    std::shared_ptr<const Run> run;
    Notes notes = {};
    // The run that its edits are told against, asked for where they are told; none: they aren't.
    std::function<std::shared_ptr<const Run>()> unedited = {};
};

// The name of the model, as it may stand in a file's: of one loaded from a folder the folder's, without the path to it.
[[nodiscard]] std::string file_name_of_model(const Scenario& scenario);

// The command line that opens the same run, but for the command itself: "words --text 'And the LORD'". Nothing if it
// can't be said in options: there are edits, or inputs that no text makes. `file`: a session that holds it; or empty.
[[nodiscard]] std::optional<std::string> arguments_of_run(const Scenario& scenario, const std::string& file);

// What was run, what is shown, and what was changed, in one line: "reverse · blocks.1.cross_attn.pattern · batch 0,
// head 3 · 1 edit: blocks.0.attn: head 2 × 0". `place` is left out if empty.
[[nodiscard]] std::string caption_of(const Scenario& scenario, const std::string& what, const std::string& place);

// All steps are those of the run's own plan.

// A step at a place, with or without the tensors that it was computed from.
[[nodiscard]] Exhibit step_exhibit(const ShownRun& shown, const Step& step, Place place, bool with_operands = false);

// Which slices of a tensor are shown together.
struct Gathering {
    bool all_heads = false;   // false: the place's
    bool all_layers = false;  // the same step of every block; false: only its own
    bool own_ranges = false;  // each slice's colours span its own values; false: those of all
};
// Slices of a tensor and of its counterparts in other blocks, in a grid: a row per layer, a column per head. Throws
// Error if heads or layers are asked for and it has no heads or isn't in a block, or if a counterpart has no values.
[[nodiscard]] Exhibit gathered_exhibit(const ShownRun& shown, const Step& step, Place place, Gathering gathering);

// One head of an attention: its pattern, the q, k and v that made it, and its output.
[[nodiscard]] Exhibit head_exhibit(const ShownRun& shown, const std::string& attention, Place place);

}  // namespace decoderscope::core

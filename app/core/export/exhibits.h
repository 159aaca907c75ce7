#pragma once

#include "app/core/diff/reference_run.h"
#include "app/core/export/exhibit.h"
#include "app/core/generate/sampling.h"
#include "app/core/step/slice.h"

#include <memory>
#include <optional>
#include <string>

namespace decoderscope {

// A computed run and what it was computed for: what an exhibit holds on to while it is written.
struct ShownRun {
    Scenario scenario;
    std::shared_ptr<const Run> run;
};

// What was run, where one looks, and what was changed, in a line: "reverse · blocks.1.cross_attn.pattern · batch 0,
// head 3 · 1 edit: blocks.0.attn: head 2 × 0". `place` is left out where it is empty.
[[nodiscard]] std::string caption_of(const Scenario& scenario, const std::string& what, const std::string& place);

// Steps are those of the run's own plan.

// A step at a place, with the tensors that it was computed from or without.
[[nodiscard]] Exhibit step_exhibit(const ShownRun& shown, const Step& step, Place place, bool with_operands = false);

// Which slices of a tensor are shown together.
struct Gathering {
    bool all_heads = false;   // else the place's
    bool all_layers = false;  // the same step of every block, else of its own
    bool own_ranges = false;  // each slice's colours span its own values, else those of all
};
// Slices of a tensor and of its twins in other blocks, in a grid: a row a layer, a column a head. Throws Error where it
// has no heads, or is in no block, and these were asked for, or where a twin has no values.
[[nodiscard]] Exhibit gathered_exhibit(const ShownRun& shown, const Step& step, Place place, Gathering gathering);

// One head of an attention: its pattern, and the q, k and v that made it and its output.
[[nodiscard]] Exhibit head_exhibit(const ShownRun& shown, const std::string& attention, Place place);

// The masks of an attention, each by itself and combined, and what they do to scores, pattern and output.
[[nodiscard]] Exhibit masks_exhibit(const ShownRun& shown, const std::string& attention, Place place);

// ---- Pre-Norm beside Post-Norm; `own` is the run that both are variations of

// The curves by depth of the stack whose blocks are called prefix + "blocks.0", ….
[[nodiscard]] Exhibit depth_exhibit(const Scenario& own, const DepthCurves& pre, const DepthCurves& post);
// A step in both, and the difference. Nothing where it is not computed in both.
[[nodiscard]] std::optional<Exhibit> norms_step_exhibit(const ShownRun& pre, const ShownRun& post,
                                                        const std::string& step, Place place);
// What a norm does to one row of numbers in both.
[[nodiscard]] std::optional<Exhibit> norm_row_exhibit(const ShownRun& pre, const ShownRun& post,
                                                      const std::string& norm, Index batch, Index pos);

// ---- what is generated

// The most probable next tokens of a batch row with their probabilities before and after temperature and cuts.
[[nodiscard]] std::optional<Exhibit> next_token_exhibit(const ShownRun& shown, Index row, const Sampling& sampling);
// What the KV cache keeps of one layer: k and v.
[[nodiscard]] Exhibit cache_exhibit(const ShownRun& shown, Index layer, Place place);
// What each layer would say next, by position. `lens` is the run with the logit lens.
[[nodiscard]] Exhibit lens_exhibit(const ShownRun& shown, const std::shared_ptr<const Run>& lens, Index row);

// A step in the run and in another, and the difference. Nothing where the other has no such tensor of that shape.
[[nodiscard]] std::optional<Exhibit> difference_exhibit(const ShownRun& shown, const ReferenceRun& other,
                                                        const Step& step, Place place, double tolerance);

}  // namespace decoderscope

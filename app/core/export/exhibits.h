#pragma once

#include "app/core/diff/reference_run.h"
#include "app/core/export/exhibit.h"
#include "app/core/generate/sampling.h"
#include "app/core/norms/placements.h"
#include "app/core/step/slice.h"

#include <memory>
#include <optional>
#include <string>

namespace decoderscope {

// A computed run and its scenario: what an exhibit keeps alive while it is written.
struct ShownRun {
    Scenario scenario;
    std::shared_ptr<const Run> run;
};

// What was run, what is shown, and what was changed, in one line: "reverse · blocks.1.cross_attn.pattern · batch 0,
// head 3 · 1 edit: blocks.0.attn: head 2 × 0". `place` is left out if empty.
[[nodiscard]] std::string caption_of(const Scenario& scenario, const std::string& what, const std::string& place);

// Steps are those of the run's own plan.

// A step at a place, with or without the tensors that it was computed from.
[[nodiscard]] Exhibit step_exhibit(const ShownRun& shown, const Step& step, Place place, bool with_operands = false);

// Which slices of a tensor are shown together.
struct Gathering {
    bool all_heads = false;   // false: the place's
    bool all_layers = false;  // the same step of every block; false: only its own
    bool own_ranges = false;  // each slice's colours span its own values; false: those of all
};
// Slices of a tensor and of its counterparts in other blocks, in a grid: a row per layer, a column per head. Throws
// Error if heads or layers are asked for and it has no heads or is in no block, or if a counterpart has no values.
[[nodiscard]] Exhibit gathered_exhibit(const ShownRun& shown, const Step& step, Place place, Gathering gathering);

// One head of an attention: its pattern, the q, k and v that made it, and its output.
[[nodiscard]] Exhibit head_exhibit(const ShownRun& shown, const std::string& attention, Place place);

// The masks of an attention, each by itself and combined, and what they do to scores, pattern and output.
[[nodiscard]] Exhibit masks_exhibit(const ShownRun& shown, const std::string& attention, Place place);

// ---- two places of the norms; `own` is the run that both are variations of

// The curves by depth of the stack whose blocks are called prefix + "blocks.0", ….
[[nodiscard]] Exhibit depth_exhibit(const Scenario& own, const DepthCurves& left, const DepthCurves& right,
                                    const Places& places = kPreAndPost);
// A step in both, and the difference. Nothing if it is not computed in both.
[[nodiscard]] std::optional<Exhibit> norms_step_exhibit(const ShownRun& left, const ShownRun& right,
                                                        const std::string& step, Place place);
// What a norm does to one row of numbers in both.
[[nodiscard]] std::optional<Exhibit> norm_row_exhibit(const ShownRun& left, const ShownRun& right,
                                                      const std::string& norm, Index batch, Index pos);

// ---- what is generated

// The most probable next tokens of a batch row with their probabilities before and after temperature and cuts.
[[nodiscard]] std::optional<Exhibit> next_token_exhibit(const ShownRun& shown, Index row, const Sampling& sampling);
// One layer of the KV cache: k and v.
[[nodiscard]] Exhibit cache_exhibit(const ShownRun& shown, Index layer, Place place);
// What each layer would predict next, by position. `lens` is the run with the logit lens.
[[nodiscard]] Exhibit lens_exhibit(const ShownRun& shown, const std::shared_ptr<const Run>& lens, Index row);

// A step in this run and in another, and the difference. Nothing if the other has no such tensor of that shape.
[[nodiscard]] std::optional<Exhibit> difference_exhibit(const ShownRun& shown, const ReferenceRun& other,
                                                        const Step& step, Place place, double tolerance);

}  // namespace decoderscope

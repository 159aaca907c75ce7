#pragma once

#include "app/core/derived/derived.h"
#include "app/core/labs/step/explanation_text.h"
#include "app/core/labs/step/outline.h"
#include "app/core/run/labels.h"
#include "app/core/run/slice.h"
#include "app/core/session/session.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// What is derived from single steps.
namespace decoderscope::core::step {

// A step's picture at a place.
struct ShownHeatmap {
    static constexpr std::size_t kKept = 64;  // the cards of a step and of the steps around it

    Heatmap heatmap;
    std::vector<std::uint8_t> changed;  // [row, column]: differs from the unedited run; empty if nothing does
};

// The step must have values.
[[nodiscard]] Value<ShownHeatmap> shown_heatmap(Derived& derived, const Snapshot& shown, const Step& step, Place place);

// The outline of a run's plan (outline.h).
struct ShownOutline {
    std::vector<OutlineBlock> blocks;
};
[[nodiscard]] Value<ShownOutline> shown_outline(Derived& derived, const std::shared_ptr<const Run>& run);

// How a cell of a step was computed.
[[nodiscard]] Value<Explanation> shown_explanation(Derived& derived, const Snapshot& shown, const Step& step,
                                                   const Cell& cell);
// The explanation as lists of terms with names.
[[nodiscard]] Value<ReadExplanation> shown_terms(Derived& derived, const Snapshot& shown, const Step& step,
                                                 const Cell& cell);

// The names of a step's rows, for a row of the batch.
[[nodiscard]] Value<PlaceNames> shown_row_names(Derived& derived, const Snapshot& shown, const Step& step, Index batch);

// Where a cell of a step is, in words (app/core/run/labels.h).
struct ShownPlace {
    std::string text;
};
[[nodiscard]] Value<ShownPlace> shown_place(Derived& derived, const Snapshot& shown, const Step& step,
                                            const Cell& cell);

}  // namespace decoderscope::core::step

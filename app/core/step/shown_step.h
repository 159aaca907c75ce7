#pragma once

#include "app/core/derived/derived.h"
#include "app/core/session/session.h"
#include "app/core/step/outline.h"
#include "app/core/step/slice.h"

#include <cstdint>
#include <memory>
#include <vector>

// What is derived from single steps.
namespace decoderscope {

// A step's picture at a place.
struct ShownHeatmap {
    static constexpr std::size_t kKept = 64;  // the cards of a step and of the steps around it

    Heatmap heatmap;
    std::vector<std::uint8_t> changed;  // [row, column]: differs from the unedited run; empty where nothing does
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

}  // namespace decoderscope

#pragma once

#include "app/core/derived/derived.h"
#include "app/core/figure/exhibit.h"
#include "app/core/run/labels.h"
#include "engine/base/message.h"
#include "engine/graph/run.h"

#include <string>
#include <vector>

namespace decoderscope::core::norms {

// How a stack of blocks treats its residual stream, block by block. A length is the L2 norm of a row of d_model
// numbers; every value is a mean over the rows (batch and position) that are not padding.
struct DepthCurves {
    Index blocks = 0;
    DepthCurve stream;                // length of resid_pre, of each residual sum and of what leaves the last block
    std::vector<DepthCurve> updates;  // length of what each sublayer adds to the stream, after its dropout and its norm
    std::vector<DepthCurve> ratios;   // that length divided by the length of the row that it is added to
    std::vector<DepthCurve> scales;   // lnN.scale: what each norm divides by
    DepthCurve cosines;               // between what enters a block and what enters the next (or leaves the last)
    double entering = 0.0;            // length of what enters the first block
    double leaving = 0.0;             // and of what leaves the last, normalised under Post-Norm

    [[nodiscard]] double growth() const { return leaving / entering; }
};

// Measures a stack.
[[nodiscard]] DepthCurves depth_curves(const Run& run, StackKind stack);

// What is compared by depth, in words: "Pre-Norm" and "Post-Norm", by default.
[[nodiscard]] Both<std::string> titles_of(const Places& places = kPreAndPost);

// Of two runs, by their names: what the curves of both show, in a sentence or two with the measured numbers.
[[nodiscard]] std::string depth_sentence(const DepthCurves& left, const DepthCurves& right,
                                         const Both<std::string>& names = titles_of());
// All measures: the first run's curves solid, the second's dashed.
[[nodiscard]] std::vector<Chart> depth_charts(const Both<DepthCurves>& both, const Both<std::string>& names);
// How far apart two runs of the same inputs are, at what is added to the stream and at its sums: the length of A − B
// over that of A, as a mean over the rows. Of the steps of the left one's curves that both have.
[[nodiscard]] Chart parting_chart(const Both<Side>& runs, const DepthCurves& of_left, StackKind stack);
// As above, for files; `own` is the run that both are variations of.
[[nodiscard]] Exhibit depth_exhibit(const Scenario& own, const DepthCurves& left, const DepthCurves& right,
                                    const Both<std::string>& names = titles_of());

// Both are cached by the two runs.
struct ShownDepth {
    Both<DepthCurves> curves;
    std::vector<Chart> charts;  // what tells most comes first
};
[[nodiscard]] Value<ShownDepth> shown_depth(Derived& derived, const Both<Side>& runs, StackKind stack);

// How long one position's row of the residual stream is (L2): what enters the stack, then what each block leaves.
struct StreamLength {
    std::string step;   // "blocks.1.resid_post"
    std::string block;  // empty for what enters the stack
    double length = 0.0;
};
[[nodiscard]] std::vector<StreamLength> stream_lengths(const Run& run, StackKind stack, Index batch, Index position);

}  // namespace decoderscope::core::norms

#pragma once

#include "app/core/figure/chart.h"
#include "app/core/run/labels.h"
#include "engine/base/message.h"
#include "engine/graph/run.h"

#include <span>
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

// One of the measures of a stack, as charts show it.
struct DepthMeasure {
    const char* id;         // "stream": names files
    Phrase title, caption;  // "Residual stream", "length of x"
    bool may_be_logarithmic;
    std::span<const DepthCurve> (*curves)(const DepthCurves& of);
};
// All of them, in the order in which they are drawn.
[[nodiscard]] std::span<const DepthMeasure> depth_measures();

// Measures a stack.
[[nodiscard]] DepthCurves depth_curves(const Run& run, StackKind stack);

// What the curves of both show, in a sentence or two with the measured numbers.
[[nodiscard]] std::string depth_sentence(const DepthCurves& left, const DepthCurves& right,
                                         const Places& places = kPreAndPost);

}  // namespace decoderscope::core::norms

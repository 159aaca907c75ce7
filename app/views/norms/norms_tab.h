#pragma once

#include "app/core/diff/step_pair.h"
#include "app/core/norms/depth_curves.h"
#include "app/core/norms/norm_row.h"
#include "app/core/session/session.h"
#include "app/core/step/outline.h"
#include "app/core/work/saved_view.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope {

// Something for Pre-Norm and for Post-Norm.
template <class T>
struct BothNorms {
    T pre, post;
};

// What was measured on the two runs, made once for what it depends on.
template <class T>
struct Measured {
    std::string key;  // empty: nothing yet
    T value;
};

// What the Norms tab remembers from frame to frame.
struct NormsTabState {
    NormsView view = NormsView::depth;
    std::optional<Index> layers;                    // how many blocks to stack; nothing: as many as the model has
    float gain_factor = 1.0F, shift_factor = 1.0F;  // what gains and shifts of all norms are multiplied by
    Index row = 0;                                  // the position whose row is explained
    std::optional<BothNorms<Variation>> asked;      // the two runs that were asked for
    std::optional<double> marked_depth;             // pointed at in a chart, as of the last frame
    std::optional<BothNorms<Companion>> shown;  // the last two runs that were there; what is measured below is theirs
    std::uint64_t runs_taken = 0;               // another number for other runs

    Measured<BothNorms<DepthCurves>> curves;
    Measured<BothNorms<std::vector<OutlinePart>>> diagrams;
    Measured<std::optional<StepPair>> pair;
    Measured<BothNorms<std::optional<NormRow>>> rows;
};

}  // namespace decoderscope

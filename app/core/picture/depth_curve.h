#pragma once

#include "engine/plan.h"

#include <string>
#include <vector>

namespace decoderscope {

// One number of a curve by depth, and the step that it was measured on.
struct DepthPoint {
    double depth = 0.0;  // in blocks: block 2 lies from 2 to 3
    double value = 0.0;
    std::string step;  // "blocks.2.resid_mid"
};

struct DepthCurve {
    std::string name;  // "attn_out", "ln1": the same in every block
    Meaning meaning = Meaning::residual;
    Part part = Part::residual_stream;
    std::vector<DepthPoint> points;
};

}  // namespace decoderscope

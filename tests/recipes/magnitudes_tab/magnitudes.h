#pragma once

#include "app/core/derived/derived.h"
#include "app/core/run/exhibit_step.h"
#include "engine/graph/run.h"

#include <memory>
#include <string>
#include <vector>

namespace decoderscope {

using namespace decoderscope::core;

// A computed step and its value that is furthest from 0.
struct Magnitude {
    std::string step;      // "blocks.0.attn.z"
    float largest = 0.0F;  // NaN if any of its values is
};

// The magnitudes of all steps whose values are available, in the order of computation.
struct Magnitudes {
    std::vector<Magnitude> steps;
};
[[nodiscard]] Magnitudes magnitudes_of(const Run& run);
// As above, computed once per run.
[[nodiscard]] core::Value<Magnitudes> shown_magnitudes(Derived& derived, const std::shared_ptr<const Run>& run);

// The magnitudes as one column of numbers.
[[nodiscard]] Exhibit magnitudes_exhibit(const ShownRun& shown);

}  // namespace decoderscope

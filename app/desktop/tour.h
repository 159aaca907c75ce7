#pragma once

#include "app/core/run/scenario.h"

#include <string>
#include <vector>

namespace decoderscope::app {

// Draws the tour of a model into a folder: the opening, a cell explained, the mask, the MLP, the last step, as PNG
// files. Returns their paths. Throws Error if the machine can't draw without a screen or the folder can't be written.
[[nodiscard]] std::vector<std::string> draw_tour(const core::Scenario& scenario, const std::string& folder);

}  // namespace decoderscope::app

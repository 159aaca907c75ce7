#pragma once

#include <imgui.h>

#include <string>
#include <vector>

namespace decoderscope::testing {

// A piece of text as it was drawn, with the contrast (WCAG 2) of its colour against what lies beneath it.
struct DrawnContrast {
    std::string text;
    double ratio = 0.0;
};

// Of the text that stands on plain colour; numbers in heatmaps stand on textures and are left out.
[[nodiscard]] std::vector<DrawnContrast> drawn_contrasts(const ImDrawData& frame, const ImFontAtlas& atlas);

}  // namespace decoderscope::testing

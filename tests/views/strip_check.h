#pragma once

#include "tests/views/driver.h"

#include <array>

namespace decoderscope::testing {

using namespace decoderscope::views;

// The text sizes at which the window must hold together, and the windows for each.
struct WindowSize {
    float scale;
    ImVec2 size;
};
inline const std::array kWindows = {WindowSize{1.0F, {1024, 768}},  WindowSize{1.0F, {1280, 800}},
                                    WindowSize{1.5F, {1280, 800}},  WindowSize{2.0F, {1920, 1080}},
                                    WindowSize{2.0F, {3840, 2160}}, WindowSize{3.0F, {3840, 2160}}};

// Fails if text that begins in this area leaves it sideways, is cut with "…", or overlaps other text that does.
void check_strip(const Driver& driver, Area area);

}  // namespace decoderscope::testing

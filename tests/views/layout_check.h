#pragma once

#include "tests/views/driver.h"

#include <array>

namespace decoderscope::testing {

// A laptop's window, and one that fills a monitor of 3840 × 2160 at twice the size.
struct Screen {
    float scale;
    ImVec2 size;
};
inline const std::array kScreens = {Screen{1.0F, {1280, 800}}, Screen{2.0F, {3840, 2160}}};

// Fails if visible text leaves a screen of this size, or if two pieces of it overlap.
void check_layout(const Driver& driver, ImVec2 size);

}  // namespace decoderscope::testing

#pragma once

#include "tests/sanitized.h"
#include "tests/views/driver.h"

#include <array>
#include <span>
#include <string_view>

namespace decoderscope::testing {

// A window and the scale of all lengths in it: text size times the monitor's scale. Each text size is tested in the
// smallest window that it is promised for, and in one that fills a monitor of 3840 × 2160.
struct Screen {
    float scale;
    ImVec2 size;
};
inline const std::array kAllScreens = {Screen{1.0F, {1024, 768}},  Screen{1.0F, {1280, 800}},
                                       Screen{1.5F, {1280, 800}},  Screen{2.0F, {1920, 1080}},
                                       Screen{2.0F, {3840, 2160}}, Screen{3.0F, {3840, 2160}}};
inline const std::span<const Screen> kScreens = std::span(kAllScreens).first(kSanitized ? 1 : kAllScreens.size());

// Fails if visible text leaves a screen of this size, or if two pieces of it overlap.
void check_layout(const Driver& driver, ImVec2 size);
// As above, for a dialog over the window: it is drawn last, from its heading on.
void check_dialog(const Driver& driver, ImVec2 size, std::string_view heading);

}  // namespace decoderscope::testing

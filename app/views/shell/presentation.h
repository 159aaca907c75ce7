#pragma once

#include "app/views/widgets/widgets.h"

#include <array>
#include <cstdint>

namespace decoderscope {

// What slides over the stage while presenting: by the pointer at its edge, or by its key.
enum class SlidePanel : std::uint8_t { bars, map, inspector, timeline };
inline constexpr std::size_t kSlidePanels = 4;

struct PresentationState {
    std::array<bool, kSlidePanels> asked{};     // by key: stays until the key is pressed again
    std::array<bool, kSlidePanels> pointed{};   // while the pointer is at its edge or on it
    std::array<float, kSlidePanels> visible{};  // how far each has slid in: 0 to 1
    float bars_height = 0.0F;                   // of the bars as last drawn, pixels
};

// Advances the slides by a frame. `areas` are where the panels lie when they are all in. Panels stay while a popup is
// open. Without motion they appear and vanish at once. A negative `edge` calls none. Returns whether something still
// moves.
[[nodiscard]] bool advance(PresentationState& state, const std::array<Area, kSlidePanels>& areas, Area whole,
                           bool motion, float edge);

// Where a panel is now.
[[nodiscard]] Area slid(Area area, SlidePanel panel, float visible);

}  // namespace decoderscope

#pragma once

#include "app/views/widgets/widgets.h"

#include <imgui.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace decoderscope::views {

// How wide the inspector is beside the stage. All lengths are pixels at a scale of 1.

inline constexpr float kLeastInspector = 220.0F;
inline constexpr float kLeastStage = 580.0F;  // the inspector yields before the stage gets narrower
inline constexpr float kRail = 24.0F;         // what is left of it, folded: the button that brings it back
inline constexpr float kSplitter = 8.0F;

// Whether the window is so low that the bars, the strip and the foot take less of it: 1920 × 1080 at 192 dots per inch.
[[nodiscard]] bool is_low_window(const Ui& ui);

struct InspectorWidth {
    float drawn = 0.0F;  // 0: folded, a rail remains
    float most = 0.0F;   // the widest that it may become by dragging its edge
};

// The stage gets its room first: an inspector that doesn't fit beside it becomes narrower, then it is folded. `wanted`:
// 0, if it is to be folded.
[[nodiscard]] InspectorWidth fit_inspector(float window, float wanted);

// What slides over the stage while presenting: by the pointer at its edge, or by its key.
enum class SlidePanel : std::uint8_t { bars, inspector, strip };
inline constexpr std::size_t kSlidePanels = 3;

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

// Sizes of windows in pixels at a scale of 1: what the monitor shows divided by its own scale.

// The smallest window; where a desktop ignores it, what is beyond the window's edge is cut off.
inline const ImVec2 kLeastWindow = {640.0F, 400.0F};
// The size that a window opens with: what is wanted, four fifths of a larger monitor, all of a smaller one. A side of
// the monitor that isn't known is 0.
[[nodiscard]] ImVec2 opening_size(ImVec2 wanted, ImVec2 monitor);

// The least room that the panels are laid out in, at a text size of 100 %. A text size fits a window if the window is
// at least this room times that size: 100 % from 1024 × 768, 150 % from 1280 × 800, 200 % from 1920 × 1080, 300 % at
// 3840 × 2160.
inline const ImVec2 kLeastRoom = {853.0F, 533.0F};

// The sizes that are offered, ascending; 1 is 100 %.
[[nodiscard]] std::span<const float> text_sizes();
// The largest of them that fits into a window of this size. If none does, as on a phone, the size at which the whole
// width and height are seen.
[[nodiscard]] float largest_text_size(ImVec2 window);
// The size to draw with: the wanted one, or the largest that fits into the window if that is less.
[[nodiscard]] float drawn_text_size(float wanted, float largest);
// The next size that is offered above or below `drawn`, none if there is none.
[[nodiscard]] std::optional<float> larger_text_size(float drawn, float largest);
[[nodiscard]] std::optional<float> smaller_text_size(float drawn);

}  // namespace decoderscope::views

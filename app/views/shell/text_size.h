#pragma once

#include <imgui.h>

#include <optional>
#include <span>

namespace decoderscope {

// Sizes of windows in pixels at a scale of 1: what the monitor shows divided by its own scale.

// The smallest window; where a desktop ignores it, what is beyond the window's edge is cut off.
inline const ImVec2 kLeastWindow = {640.0F, 400.0F};
// The least room that the panels are laid out in, at a text size of 100 %. A window bears a text size if it is at least
// this room times that size: 100 % from 1024 × 768, 150 % from 1280 × 800, 200 % from 1920 × 1080, 300 % at 3840 ×
// 2160.
inline const ImVec2 kLeastRoom = {853.0F, 533.0F};

// The sizes that are offered, ascending; 1 is 100 %.
[[nodiscard]] std::span<const float> text_sizes();
// The largest of them that a window of this size bears; the smallest if it bears none.
[[nodiscard]] float largest_text_size(ImVec2 window);
// The size to draw with: the wanted one, or the largest that the window bears if that is less.
[[nodiscard]] float drawn_text_size(float wanted, float largest);
// The next size that is offered above or below `drawn`, none if there is none.
[[nodiscard]] std::optional<float> larger_text_size(float drawn, float largest);
[[nodiscard]] std::optional<float> smaller_text_size(float drawn);

}  // namespace decoderscope

#pragma once

namespace decoderscope {

// How wide map and inspector are beside the stage. All lengths are pixels at a scale of 1.

inline constexpr float kLeastMap = 150.0F, kLeastInspector = 220.0F;
inline constexpr float kLeastStage = 580.0F;  // the panels yield before the stage gets narrower
inline constexpr float kRail = 24.0F;         // what is left of a folded panel: the button that brings it back
inline constexpr float kSplitter = 8.0F;

struct WantedPanels {
    float map = 0.0F, inspector = 0.0F;  // widths
    bool map_folded = false, inspector_folded = false;
    bool map_first = false;  // which stays if there is room for one only
};

struct PanelWidths {
    float map = 0.0F, inspector = 0.0F;  // 0: folded, a rail remains
    // The widest that each may become by dragging its edge.
    float most_map = 0.0F, most_inspector = 0.0F;
};

// The stage gets its room first: panels that don't fit beside it become narrower, then one of them is folded, then the
// other.
[[nodiscard]] PanelWidths fit_panels(float window, const WantedPanels& wanted);

}  // namespace decoderscope

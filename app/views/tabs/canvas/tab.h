#pragma once

#include "app/core/derived/derived.h"
#include "app/core/session/session.h"
#include "app/core/tabs/canvas/canvas_layout.h"
#include "app/views/frame/step_textures.h"
#include "app/views/frame/tab.h"
#include "app/views/frame/view_state.h"
#include "app/views/tabs/canvas/camera.h"

#include <memory>
#include <optional>
#include <string>

namespace decoderscope::views::canvas {

inline constexpr std::string_view kCanvasTab = "canvas";

[[nodiscard]] Tab canvas_tab();

// What the camera looks at, whatever the size and the form of the window.
struct Look {
    std::string step;     // whose picture is in the middle, or next to it
    Point at;             // of the middle, in parts of that picture
    double across = 1.0;  // how many units are seen from left to right
};

// What a key or a session asks the canvas for, until it is drawn next.
struct CanvasAsked {
    double zoom = 1.0;
    ImVec2 pan = {0, 0};  // in tenths of the area
    bool whole = false;
    std::optional<Look> look;
};

// What the canvas remembers from frame to frame.
struct CanvasTabState {
    bool weights = false;
    bool is_whole = true;  // all is shown, whatever the window's size
    Camera camera;
    Area area{};  // where it was drawn last
    std::optional<Camera> flies_from, flies_to;
    double flown = 0.0;  // of the way, 0 to 1
    CanvasAsked asked;
    std::optional<Look> look;  // as drawn last; nothing: at the whole
    core::Cursor followed;     // the cursor that the camera was last brought to
    StepTextures textures{"canvas"};
    std::weak_ptr<const void> model;  // that the camera looks at
};

// Where a step's picture was drawn last; nothing if it isn't on the canvas. The head is the number of a picture in its
// grid.
[[nodiscard]] std::optional<Area> picture_on_canvas(const core::Session& session, const CanvasTabState& state,
                                                    const std::string& step, Index head = 0);

void draw_canvas_tab(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

}  // namespace decoderscope::views::canvas

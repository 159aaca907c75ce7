#pragma once

#include "app/core/session/session.h"
#include "app/views/frame/view_state.h"

namespace decoderscope::views {

// Whether the left button paints the mask only while a switch is on, or always.
enum class Brush { switched, always };
// The row of heads, batch and layer that several tabs share: head chips, counters, the mask brush's switch; in as many
// lines as the width needs.
[[nodiscard]] float choices_height(const Ui& ui, const core::Session& session, ViewState& state, float width,
                                   Brush brush = Brush::switched);
void draw_choices(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands,
                  Brush brush = Brush::switched);

}  // namespace decoderscope::views

#pragma once

#include "app/views/heads/heads_tab.h"
#include "app/views/shell/view_state.h"

namespace decoderscope {

// The companion run in which the open head is off.
inline constexpr const char* kHeadPreview = "heads.without";

// The strip's height: the same with and without edits, so that nothing moves under the mouse; lower if there are many
// layers to show.
[[nodiscard]] float effect_strip_height(const Ui& ui, const Session& session, const HeadsTabState& heads);

// What the edits do to the output, one bar per position: how far the logits (or the last residual) moved from the
// unedited run. Without edits, hollow bars show what switching the open head off would do.
void draw_effect_strip(const Ui& ui, const Session& session, ViewState& state, Area area);

}  // namespace decoderscope

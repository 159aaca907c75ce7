#pragma once

#include "app/views/heads/heads_tab.h"
#include "app/views/shell/view_state.h"

namespace decoderscope {

// The companion run in which the open head is off.
inline constexpr const char* kHeadPreview = "heads.without";

// How high the strip is: the same with and without edits, so that nothing moves from under the mouse; lower where there
// are many layers to see.
[[nodiscard]] float effect_strip_height(const Ui& ui, const Session& session, const HeadsTabState& heads);

// What the edits do to the output, a bar a position: how far the logits (or the last residual) moved from the unedited
// run. Without edits: what switching the open head off would do, in hollow bars.
void draw_effect_strip(const Ui& ui, const Session& session, ViewState& state, Area area);

}  // namespace decoderscope

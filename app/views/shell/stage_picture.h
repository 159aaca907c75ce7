#pragma once

#include "app/core/figure/exhibit.h"
#include "app/core/files/talk_states.h"

namespace decoderscope::views::shell {

// What the window would show of a talk's state, as a picture, without a window: what the state's tab exports first; a
// tab that exports nothing leaves the state's step. It is computed before this returns. Throws Error if there is
// nothing to show.
[[nodiscard]] core::Exhibit stage_picture(const core::files::ShownState& shown);

}  // namespace decoderscope::views::shell

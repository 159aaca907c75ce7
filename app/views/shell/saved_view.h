#pragma once

#include "app/core/work/saved_view.h"
#include "app/views/shell/view_state.h"

namespace decoderscope {

// What of the window is saved with a person's work, and how it is shown again. Returns what to tell the person of what
// could not be: a lab of a newer program, or one that was saved otherwise.
[[nodiscard]] SavedView saved_view(const ViewState& state);
[[nodiscard]] Commands show_saved(ViewState& state, const SavedView& saved);

}  // namespace decoderscope

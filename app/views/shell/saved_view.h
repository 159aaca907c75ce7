#pragma once

#include "app/core/work/saved_view.h"
#include "app/views/shell/view_state.h"

namespace decoderscope {

// The part of the window's state that is saved with the work, and how it is restored. Returns a message about what
// could not be restored: a lab of a newer program, or one that was saved differently.
[[nodiscard]] SavedView saved_view(const ViewState& state);
[[nodiscard]] Commands show_saved(ViewState& state, const SavedView& saved);

}  // namespace decoderscope

#include "app/views/shell/panels.h"

namespace decoderscope {

void show_map(ViewState& state, bool shown) {
    state.settings.map_folded = !shown;
    state.map_first = shown;
}

void show_inspector(ViewState& state, bool shown) {
    state.settings.inspector_folded = !shown;
    if (shown) state.map_first = false;
}

}  // namespace decoderscope

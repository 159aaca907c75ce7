#include "app/views/diff_tab.h"

#include "app/views/panels.h"

namespace decoderscope {

void draw_diff_tab(const Ui&, const Session&, ViewState&, Area, Commands&) {}

}  // namespace decoderscope

#include "app/views/heads_tab.h"

#include "app/views/panels.h"

namespace decoderscope {

void draw_heads_tab(const Ui&, const Session&, ViewState&, Area, Commands&) {}

}  // namespace decoderscope

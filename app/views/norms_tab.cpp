#include "app/views/norms_tab.h"

#include "app/views/panels.h"

namespace decoderscope {

void draw_norms_tab(const Ui&, const Session&, ViewState&, Area, Commands&) {}

}  // namespace decoderscope

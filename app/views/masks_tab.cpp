#include "app/views/masks_tab.h"

#include "app/views/panels.h"

namespace decoderscope {

void draw_masks_tab(const Ui&, const Session&, ViewState&, Area, Commands&) {}

}  // namespace decoderscope

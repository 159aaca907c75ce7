#include "app/views/step/lab.h"

#include "app/views/shell/panels.h"
#include "engine/message.h"

namespace decoderscope {

// Adds no exports: every tab exports the step.
Lab step_lab() {
    return {.id = kStepLab,
            .title = message("Step"),
            .question = message("How is this tensor computed?"),
            .key = Key::s,
            .draw = draw_step_tab};
}

}  // namespace decoderscope

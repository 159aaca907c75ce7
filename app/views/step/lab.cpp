#include "app/views/step/lab.h"

#include "app/views/shell/panels.h"

namespace decoderscope {

// It exports the step, as every tab does.
Lab step_lab() {
    return {.id = kStepLab,
            .title = "Step",
            .question = "How is this tensor computed?",
            .key = Key::s,
            .draw = draw_step_tab};
}

}  // namespace decoderscope

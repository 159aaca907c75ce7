// The one list of tabs. Nothing else is in this file, so that a test can be linked with a longer list.
#include "app/views/tabs/ask/tab.h"
#include "app/views/tabs/canvas/tab.h"
#include "app/views/tabs/compare/tab.h"
#include "app/views/tabs/experts/tab.h"
#include "app/views/tabs/generate/tab.h"
#include "app/views/tabs/heads/tab.h"
#include "app/views/tabs/masks/tab.h"
#include "app/views/tabs/step/tab.h"
#include "app/views/tabs/train/tab.h"

#include <array>

namespace decoderscope::views {

std::span<const Tab> tabs() {
    // clang-format off
    static const std::array all = {
        step::step_tab(),
        canvas::canvas_tab(),
        heads::heads_tab(),
        masks::masks_tab(),
        compare::compare_tab(),
        experts::experts_tab(),
        generate::generate_tab(),
        ask::ask_tab(),
        train::train_tab(),
    };
    // clang-format on
    return all;
}

}  // namespace decoderscope::views

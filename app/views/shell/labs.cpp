// The one list of labs. Nothing else is in this file, so that a test can be linked with a longer list.
#include "app/views/labs/causes/lab.h"
#include "app/views/labs/diff/lab.h"
#include "app/views/labs/experts/lab.h"
#include "app/views/labs/generate/lab.h"
#include "app/views/labs/heads/lab.h"
#include "app/views/labs/masks/lab.h"
#include "app/views/labs/norms/lab.h"
#include "app/views/labs/step/lab.h"
#include "app/views/labs/train/lab.h"

#include <array>

namespace decoderscope::views {

std::span<const Lab> labs() {
    // clang-format off
    static const std::array all = {
        step::step_lab(),
        heads::heads_lab(),
        masks::masks_lab(),
        norms::norms_lab(),
        experts::experts_lab(),
        generate::generate_lab(),
        diff::diff_lab(),
        causes::causes_lab(),
        train::train_lab(),
    };
    // clang-format on
    return all;
}

}  // namespace decoderscope::views

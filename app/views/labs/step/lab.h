#pragma once

#include "app/views/frame/lab.h"

namespace decoderscope::views::step {

[[nodiscard]] Lab step_lab();

}  // namespace decoderscope::views::step

#pragma once

#include "app/views/shell/lab.h"

namespace decoderscope {

[[nodiscard]] Lab step_lab();

}  // namespace decoderscope

#pragma once

#include "app/views/shell/lab.h"

namespace decoderscope {

[[nodiscard]] Lab magnitudes_lab();

}  // namespace decoderscope

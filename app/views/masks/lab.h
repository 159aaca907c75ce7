#pragma once

#include "app/views/shell/lab.h"

namespace decoderscope {

[[nodiscard]] Lab masks_lab();

}  // namespace decoderscope

#pragma once

#include "app/views/frame/lab.h"

namespace decoderscope {

[[nodiscard]] Lab magnitudes_lab();

}  // namespace decoderscope

#pragma once

#include "app/views/frame/lab.h"

namespace decoderscope {

using namespace decoderscope::views;

[[nodiscard]] Lab magnitudes_lab();

}  // namespace decoderscope

#pragma once

#include "app/views/frame/tab.h"

namespace decoderscope {

using namespace decoderscope::views;

[[nodiscard]] Tab magnitudes_tab();

}  // namespace decoderscope

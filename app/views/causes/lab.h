#pragma once

#include "app/views/shell/lab.h"

namespace decoderscope {

[[nodiscard]] Lab causes_lab();

}  // namespace decoderscope

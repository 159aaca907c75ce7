#pragma once

#include "app/views/shell/lab.h"

namespace decoderscope {

[[nodiscard]] Lab diff_lab();

}  // namespace decoderscope

#pragma once

#include "app/views/shell/lab.h"

namespace decoderscope {

[[nodiscard]] Lab train_lab();

}  // namespace decoderscope

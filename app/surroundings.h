#pragma once

#include "app/core/work/surroundings.h"

namespace decoderscope {

// As the desktop is set, or the browser.
[[nodiscard]] Surroundings surroundings();

}  // namespace decoderscope

#pragma once

#include "engine/train/tasks.h"

namespace decoderscope {

// The task of `dates`: a day of the years 1900 to 2099 in one of seven spellings, sometimes in lower case, is written
// as ISO 8601 does. About one day in 73 is held out.
[[nodiscard]] Task dates_task();

}  // namespace decoderscope

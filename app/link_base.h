#pragma once

#include "app/core/work/link_address.h"
#include "app/core/work/settings.h"

namespace decoderscope {

// Where copied links lead: to the page that the program runs in, or, on a desktop, to the browser version that the
// settings name.
[[nodiscard]] LinkBase link_base(const Settings& settings);

}  // namespace decoderscope

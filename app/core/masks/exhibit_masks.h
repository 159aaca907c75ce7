#pragma once

#include "app/core/step/exhibit_step.h"

#include <string>

namespace decoderscope {

// The masks of an attention, each by itself and combined, and what they do to scores, pattern and output.
[[nodiscard]] Exhibit masks_exhibit(const ShownRun& shown, const std::string& attention, Place place);

}  // namespace decoderscope

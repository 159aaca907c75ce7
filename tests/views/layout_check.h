#pragma once

#include "tests/views/driver.h"

namespace decoderscope::testing {

// Fails where text that is seen leaves a screen of this size, or where two pieces of it overlap.
void check_layout(const Driver& driver, ImVec2 size);

}  // namespace decoderscope::testing

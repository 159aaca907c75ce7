#pragma once

#include <string>

namespace decoderscope::testing {

// The traces that PyTorch's modules with and without mistakes left, and their checkpoints (tests/reference/bugs/).
inline const std::string kTraces = DECODERSCOPE_TESTS_DIR "/reference/bugs/traces/";

}  // namespace decoderscope::testing

#pragma once

#include <string>

namespace decoderscope::testing {

// GPT-2's tables with only the pieces that the tests' texts need (tests/reference/make_gpt2_tokens.mjs).
inline const std::string kReducedGpt2Tokens = DECODERSCOPE_TESTS_DIR "/reference/gpt2_tokens";

}  // namespace decoderscope::testing

#pragma once

namespace decoderscope::testing {

// Whether every access to memory is checked, which takes five to ten times as long. What is looped over to see many
// pictures or numbers of one kind is looped over less often then: the same code runs, and the release's tests see all.
#ifdef DECODERSCOPE_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace decoderscope::testing

#pragma once

#include "app/core/lessons/judge.h"
#include "engine/base/message.h"

#include <vector>

namespace decoderscope::core::lessons {

// Answers a question without having understood it: clicks what is lit or brightest, types no text or holds a key
// down, switches everything off, types 0, 999 or NaN over the selected cell. Returns what each was that passes, "the
// brightest cell". `at`: where the lesson has gone last; nullptr: nowhere. Choices are judged by their form, in a test.
[[nodiscard]] std::vector<Sentence> nonsense_that_passes(const Asked& asked, const Place* at);

}  // namespace decoderscope::core::lessons

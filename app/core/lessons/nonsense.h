#pragma once

#include "app/core/lessons/judge.h"
#include "engine/base/message.h"

#include <vector>

namespace decoderscope::core::lessons {

// Answers a question as one who has understood nothing: clicks what is lit or brightest, types no text or holds a key
// down, switches everything off, types 0, 999 or NaN over the selected cell. Returns what each was that passes, "the
// brightest cell". `at`: where the lesson has gone last; nullptr: nowhere. Choices are for whoever counts their form.
[[nodiscard]] std::vector<Sentence> nonsense_that_passes(const Asked& asked, const Place* at);

}  // namespace decoderscope::core::lessons

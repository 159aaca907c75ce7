#pragma once

#include "engine/message.h"

#include <string>
#include <vector>

namespace decoderscope::lessons {

// What differs between a lesson's file and its translation beyond the words: pages, blocks, keys, and the numbers that
// stand in the texts. A sentence each that begins with the translation's file and line. Throws Error where one of them
// can't be read.
[[nodiscard]] std::vector<Sentence> compare_translation(const std::string& lesson, const std::string& translation);

}  // namespace decoderscope::lessons

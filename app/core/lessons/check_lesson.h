#pragma once

#include "app/core/lessons/lesson.h"
#include "engine/message.h"

#include <span>
#include <string_view>
#include <vector>

namespace decoderscope::lessons {

// Plays a lesson: opens every place, computes every number, gives every solution and every wrong answer, and answers at
// random. What is wrong, a sentence each that begins with file and line. `tabs` are the ids of the window's tabs.
[[nodiscard]] std::vector<Sentence> check_lesson(const Lesson& lesson, std::span<const std::string_view> tabs);

}  // namespace decoderscope::lessons

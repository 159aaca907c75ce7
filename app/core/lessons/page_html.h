#pragma once

#include "app/core/lessons/lesson.h"

#include <iosfwd>

namespace decoderscope::lessons {

// A lesson as one page of HTML without anything from outside: its numbers are those of the models and texts that its
// places open, and its questions can be answered in a browser. Throws Error where a place can't be opened.
void write_lesson_page(std::ostream& out, const Lesson& lesson);

}  // namespace decoderscope::lessons

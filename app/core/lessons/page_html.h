#pragma once

#include "app/core/lessons/lesson.h"

#include <iosfwd>
#include <string>

namespace decoderscope::lessons {

// The language that a lesson is written in: "zh_CN" of "lesson.zh_CN.md"; "en" where the file's name says nothing.
[[nodiscard]] std::string language_of(const Lesson& lesson);

// A lesson as one page of HTML without anything from outside: its numbers are those of the models and texts that its
// places open, and its questions can be answered in a browser. Words such as "Question" are in the spoken language.
// Throws Error where a place can't be opened.
void write_lesson_page(std::ostream& out, const Lesson& lesson);

}  // namespace decoderscope::lessons

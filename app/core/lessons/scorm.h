#pragma once

#include "app/core/lessons/page.h"

#include <iosfwd>

namespace decoderscope::core::lessons {

// A lesson's page as a package for learning platforms, SCORM 1.2: a zip with imsmanifest.xml and index.html, which
// reports score (0 to 100, of the questions that a page can judge) and status ("completed" once each is solved or its
// answers are used up). `tries`: how many answers to a question count, if the lesson doesn't say. Throws Error as
// write_lesson_page does.
void write_scorm(std::ostream& out, const Lesson& lesson, LessonPageOptions options, int tries);

}  // namespace decoderscope::core::lessons

#pragma once

#include "app/core/lessons/grade.h"

#include <iosfwd>

// A class's grades as text, as CSV and as JSON.
namespace decoderscope::cli {

void write_grades(std::ostream& out, const core::lessons::ClassGrades& grades,
                  const core::lessons::Roster* roster = nullptr);
// One line a hand-in: id (the learner), points, of how many, lesson, time, file, and 1 or 0 for each question; empty:
// not answered.
void write_grades_csv(std::ostream& out, const core::lessons::ClassGrades& grades);
// A line a learner and a column a lesson, with the headers that Canvas' gradebook and Moodle's grade import know. Of a
// roster all, otherwise who handed in; of a roster that such a platform exported, its own columns.
void write_canvas_csv(std::ostream& out, const core::lessons::ClassGrades& grades, const core::lessons::Roster* roster);
void write_moodle_csv(std::ostream& out, const core::lessons::ClassGrades& grades, const core::lessons::Roster* roster);
void write_grades_json(std::ostream& out, const core::lessons::ClassGrades& grades,
                       const core::lessons::Roster* roster = nullptr);

}  // namespace decoderscope::cli

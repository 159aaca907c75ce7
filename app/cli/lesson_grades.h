#pragma once

#include "app/cli/gradebook.h"
#include "app/core/lessons/grade.h"

#include <iosfwd>

// A class's grades as text, as CSV and as JSON.
namespace decoderscope::cli {

void write_grades(std::ostream& out, const core::lessons::ClassGrades& grades,
                  const core::lessons::Roster* roster = nullptr);
// One line a hand-in: id (the learner), points, of how many, lesson, time, file, and 1 or 0 for each question; empty:
// not answered.
void write_grades_csv(std::ostream& out, const core::lessons::ClassGrades& grades);
void write_gradebook(std::ostream& out, const Gradebook& book);
void write_grades_json(std::ostream& out, const core::lessons::ClassGrades& grades,
                       const core::lessons::Roster* roster = nullptr);

}  // namespace decoderscope::cli

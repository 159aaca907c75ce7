#pragma once

#include "app/core/lessons/grade.h"

#include <string>
#include <vector>

// A class's points as a learning platform imports them: who, and a column for each lesson. What an import makes of a
// field is read from the sources of Canvas (its GradebookImporter) and of Moodle (its gradeimport_csv).
namespace decoderscope::cli {

struct Gradebook {
    std::vector<std::vector<std::string>> records;  // the line of columns first
    std::vector<std::string> left_out;              // handed in, but the platform couldn't tell who they are
};

// Both platforms take an empty field for "no grade", which takes away one that stands there. So there is no line for
// those who handed nothing in; and if the roster has a column of the lesson, as an exported gradebook does ("From text
// to text (123)"), its name is kept, by which Canvas finds the assignment, and its field where a hand-in is missing.

// Canvas finds a learner by ID, SIS User ID or SIS Login ID, otherwise by the name.
[[nodiscard]] Gradebook canvas_gradebook(const core::lessons::ClassGrades& grades, const core::lessons::Roster* roster);

// Moodle finds a learner by the column that the teacher chooses, and gives the points of a line in which it is empty to
// the learner of the line before. So each column that can be chosen is filled in each line: those that some learners
// don't have aren't written; if every one is such a column, the fullest is, and who isn't in it is left out.
[[nodiscard]] Gradebook moodle_gradebook(const core::lessons::ClassGrades& grades, const core::lessons::Roster* roster);

}  // namespace decoderscope::cli

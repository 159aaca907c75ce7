#pragma once

#include "app/core/lessons/grade.h"

#include <string>

namespace decoderscope::core::lessons {

// Writes a page of HTML for each learner and lesson to a folder, which is made if it isn't there: every question with
// the answers that were given and the replies to them, and what was learned. The right answer to a question that wasn't
// solved isn't told. Pages of the same names are replaced. The program's own words are in the spoken language. Throws
// Error naming the file that can't be written.
void write_feedback(const std::string& folder, const ClassGrades& grades);

}  // namespace decoderscope::core::lessons

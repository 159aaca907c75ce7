#pragma once

#include "app/core/lessons/given.h"

#include <memory>
#include <string>
#include <vector>

namespace decoderscope::core::lessons {

// The right answer to a question, for a teacher.
struct KeyEntry {
    std::string question;  // its id
    Shown ask;
    std::string answer;  // "0.955 ± 0.1", a choice, a cell; for an action, the changes
    Shown learned;       // of the run in which it is solved
};

// `opened` is what the lesson has opened for the question. Throws Error if that lacks what it asks about.
[[nodiscard]] KeyEntry key_entry(const Lesson& lesson, const Question& question,
                                 const std::shared_ptr<const Scenario>& opened);

// Every question of a lesson, in its order, each on the run that its place opens.
[[nodiscard]] std::vector<KeyEntry> answer_key(const Lesson& lesson);

}  // namespace decoderscope::core::lessons

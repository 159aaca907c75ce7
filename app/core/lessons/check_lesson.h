#pragma once

#include "app/core/lessons/lesson.h"
#include "app/core/lessons/progress.h"
#include "engine/base/message.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
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

// Plays a lesson: opens every place, computes every number, gives every solution and every wrong answer, and answers at
// random. Returns what is wrong, one sentence each, beginning with file and line. `tabs` are the ids of the window's
// tabs.
[[nodiscard]] std::vector<Sentence> check_lesson(const Lesson& lesson, std::span<const std::string_view> tabs);

// What differs between a lesson's file and its translation beyond the words: pages, blocks, keys, and the numbers that
// stand in the texts. Returns one sentence each, beginning with the translation's file and line. Throws Error if one of
// them can't be read.
[[nodiscard]] std::vector<Sentence> compare_translation(const std::string& lesson, const std::string& translation);

}  // namespace decoderscope::core::lessons

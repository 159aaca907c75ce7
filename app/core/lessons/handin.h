#pragma once

#include "app/core/lessons/progress.h"

#include <string>
#include <vector>

// What a learner hands in, and what is found when it is judged again.
namespace decoderscope::core::lessons {

// The contents of a hand-in file: the answers, each with the run that it was given for.
[[nodiscard]] std::string handin_text(const Lesson& lesson, const LessonProgress& progress);

// Where it is written: decoderscope-NAME.json in that folder, or NAME-2, NAME-3 … so that no other file is lost.
[[nodiscard]] std::string handin_path(const std::string& folder, const Lesson& lesson, const std::string& text);

struct JudgedAnswer {
    std::string question;
    bool given = false, right = false;
    int tries = 0;
    std::size_t hints = 0;
    std::string why;  // why it isn't right, or can't be judged
};
struct JudgedHandin {
    std::string lesson, title;
    std::vector<JudgedAnswer> answers;  // one per question of the lesson, in its order

    [[nodiscard]] std::size_t right() const;
};

// Judges every answer of a hand-in again, on its run. Nothing that the file says of itself counts. Throws Error naming
// the file.
[[nodiscard]] JudgedHandin judge_handin(const std::string& path);

}  // namespace decoderscope::core::lessons

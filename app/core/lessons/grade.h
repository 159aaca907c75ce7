#pragma once

#include "app/core/lessons/handin.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

// The hand-ins of a class: learners × questions, and what each question shows about them.
namespace decoderscope::core::lessons {

struct GradedHandin {
    std::string file;  // below the folder
    std::string learner, time;
    std::uint64_t seed = 0, round = 0;
    JudgedHandin judged;
};

// An answer that some learners gave, and that is wrong.
struct WrongAnswer {
    std::string said, why;
    std::size_t count = 0;
};

// How a class answered one question.
struct QuestionGrades {
    std::string id;
    std::size_t answered = 0, right = 0, at_first = 0;  // learners
    std::vector<WrongAnswer> wrong;                     // the most frequent first
    double difficulty = 0.0;  // the share of all learners whose first answer was right: 1 is easy
    // The correlation of a right first answer with how many of the other questions were right at first; nothing if all
    // are alike.
    std::optional<double> discrimination;
};

// Learners who handed in twice or more, by their names: their first and their last time.
struct BeforeAndAfter {
    std::size_t learners = 0;
    double before = 0.0, after = 0.0;  // the share of questions that were right at the first answer, on average
    std::optional<double> gain;        // (after - before) / (1 - before); nothing if there was nothing to gain
};

struct LessonGrades {
    std::shared_ptr<const Lesson> lesson;
    std::vector<GradedHandin> handins;  // by learner, then file
    std::vector<QuestionGrades> questions;
    std::optional<double> reliability;  // Cronbach's α of the first answers
    std::optional<BeforeAndAfter> twice;
};

// A file that has no grades, and why.
struct Ungraded {
    std::string file, why;
};

struct ClassGrades {
    std::vector<LessonGrades> lessons;
    std::vector<Ungraded> unreadable;  // damaged, or of a lesson that isn't known
    std::vector<Ungraded> foreign;     // of another lesson than the one that was asked for
};

// All .json files of a folder and of the folders in it. `lesson`: only hand-ins for this one are graded; nullptr: for
// any of the program's. Throws Error naming the folder if it can't be read.
[[nodiscard]] ClassGrades grade_folder(const std::string& folder, std::shared_ptr<const Lesson> lesson);

}  // namespace decoderscope::core::lessons

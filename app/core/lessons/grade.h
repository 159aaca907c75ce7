#pragma once

#include "app/core/lessons/handin.h"
#include "app/core/lessons/roster.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

// The hand-ins of a class: learners × questions, and what each question shows about them.
namespace decoderscope::core::lessons {

struct GradedHandin {
    std::string file;  // below the folder, readable
    std::string learner, time;
    std::uint64_t seed = 0, round = 0;
    JudgedHandin judged;
    std::string who;                        // tells learners apart, also two of one name: by the roster, or by the seed
    std::optional<std::size_t> enrolled{};  // which one of the roster
    std::vector<std::uint64_t> moments{};   // what was answered in which second, as hashes, in order
};

// Two hand-ins that are more alike than two learners' are.
struct Copies {
    std::string file, learner;        // of the one
    std::string of_file, of_learner;  // of the one that was handed in before it
    bool same_seed = false;           // one file, or one computer
    std::size_t same_seconds = 0;     // answers that are the same in the same second
};

// An answer that some learners gave, and that is wrong.
struct WrongAnswer {
    std::string said, why;
    std::size_t count = 0;  // learners, however often they gave it
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

// A file that has no grades, and why.
struct Ungraded {
    std::string file, why;
};

struct LessonGrades {
    std::shared_ptr<const Lesson> lesson;
    std::vector<GradedHandin> handins;  // by learner, then file
    std::vector<QuestionGrades> questions;
    std::optional<double> reliability;  // Cronbach's α of the first answers
    std::optional<BeforeAndAfter> twice;
    std::vector<Copies> copies;
    std::vector<Ungraded> replaced;    // the same learner handed in the same round again, later
    std::vector<std::size_t> missing;  // of the roster
};

struct ClassGrades {
    std::vector<LessonGrades> lessons;
    std::vector<Ungraded> unreadable;  // damaged, or of a lesson that isn't known
    std::vector<Ungraded> foreign;     // of another lesson than the one that was asked for
};

struct GradeOptions {
    int tries = 0;                     // how many answers to a question count; 0: all
    const Roster* roster = nullptr;    // nullptr: the class is who handed in
    Pseudonyms* pseudonyms = nullptr;  // instead of learners' names and of files'
};

// All .json files of a folder and of the folders in it. `lesson`: only hand-ins for this one are graded; nullptr: for
// any of the program's. Throws Error naming the folder if it can't be read.
[[nodiscard]] ClassGrades grade_folder(const std::string& folder, std::shared_ptr<const Lesson> lesson,
                                       const GradeOptions& options = {});

// A learner with the hand-in that counts for each lesson: the last round's.
struct ClassLine {
    const Enrolled* enrolled = nullptr;  // nullptr: there is no roster
    std::string learner;
    std::vector<const GradedHandin*> handins;  // by the grades' lessons; nullptr: missing
};
// All of the roster; without one, all who handed in.
[[nodiscard]] std::vector<ClassLine> class_lines(const ClassGrades& grades, const Roster* roster);

}  // namespace decoderscope::core::lessons

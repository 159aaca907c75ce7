#pragma once

#include "app/core/lessons/progress.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// What a learner hands in, and what is found when it is judged again.
namespace decoderscope::core::lessons {

// The contents of a hand-in file: every answer in its order, each with the run that it was given for.
[[nodiscard]] std::string handin_text(const Lesson& lesson, const LessonProgress& progress, const Learner& learner);

// Where it is written: decoderscope-LESSON-LEARNER.json in that folder, or …-2, …-3 so that no other file is lost.
[[nodiscard]] std::string handin_path(const std::string& folder, const Lesson& lesson, const std::string& learner,
                                      const std::string& text);

// A hand-in as its file describes it. Its name, time and title are readable.
struct Handin {
    struct Handed {
        std::vector<GivenAnswer> given;
        std::size_t hints = 0;
        int tries = 0;             // as the file says
        bool complete = true;      // every answer is there; in older files only the last one
        bool old_numbers = false;  // typed when "4,096" was read as 4.096
        std::size_t left_out = 0;  // answers beyond those that any program keeps
    };
    std::string learner, time;
    bool is_edited = false;                              // since it was written; older files don't tell
    std::uint64_t seed = 0, round = 0;                   // by which the version is chosen
    std::optional<int> version;                          // of the lesson that was read; older files don't tell
    std::string lesson, title, digest;                   // of a bundled lesson its name, otherwise its file's name
    std::map<std::string, Handed, std::less<>> answers;  // by question
    std::vector<std::string> remarks;                    // what is odd about it, a sentence each
};

// One answer, judged again.
struct JudgedTry {
    bool right = false;
    std::string said;     // what was answered, in words
    std::string why;      // why it isn't right, or can't be judged
    std::string learned;  // what is said to the right answer
    bool is_odd = false;  // it can't be judged
};
struct JudgedAnswer {
    std::string question;
    std::string ask = {};  // in words; empty if the lesson has opened nothing
    bool given = false, right = false;
    bool at_first = false;  // the first answer was right already
    int tries = 0;
    std::size_t hints = 0;  // as the file says
    bool complete = true;   // false: `tries` and `at_first` are as the file says, too
    std::vector<JudgedTry> all;
    std::string why;  // of the last one
};
struct JudgedHandin {
    Handin handin;
    std::shared_ptr<const Lesson> lesson;  // in the learner's version
    std::string refused;                   // why nothing of it was judged: it is of another lesson than the one given
    std::vector<JudgedAnswer> answers;     // one per question of the learner's version, in its order
    std::vector<std::string> remarks;      // what is odd about the file, a sentence each

    [[nodiscard]] std::size_t right() const;
};

// Judges every answer on the run that it was given for. Nothing that the file says of itself counts. `lesson`: what it
// has to be handed in for; nullptr: one of the program's, or one beside the file, by its name. `tries`: how many
// answers to a question count, as the lesson itself may say; 0: all. An action may be tried any number of times. Throws
// Error naming the file.
[[nodiscard]] JudgedHandin judge_handin(const std::string& path, std::shared_ptr<const Lesson> lesson = nullptr,
                                        int tries = 0);

}  // namespace decoderscope::core::lessons

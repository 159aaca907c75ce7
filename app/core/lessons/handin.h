#pragma once

#include "app/core/lessons/progress.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What a learner hands in, and what is found when it is judged again.
namespace decoderscope::core::lessons {

// The contents of a hand-in file: every answer in its order, each with the run that it was given for.
[[nodiscard]] std::string handin_text(const Lesson& lesson, const LessonProgress& progress, const Learner& learner);

// Where it is written: decoderscope-LESSON-LEARNER.json in that folder, or …-2, …-3 so that no other file is lost.
[[nodiscard]] std::string handin_path(const std::string& folder, const Lesson& lesson, const std::string& learner,
                                      const std::string& text);

// A text from a file of another's, to be shown on one line: without control characters and marks of a text's direction,
// of at most `most` characters.
[[nodiscard]] std::string readable(std::string_view text, std::size_t most = 200);

// A name as a part of a file's: letters, digits and other characters that every system allows, at most forty; the rest
// become "-".
[[nodiscard]] std::string in_file_name(const std::string& name);

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
// Throws Error naming the file.
[[nodiscard]] Handin read_handin(const std::string& path);
// Whether it was handed in for this lesson, or for another edition of it: one of the program's by its name, another one
// by its contents, or by its file's name and its title.
[[nodiscard]] bool is_of(const Handin& handin, const Lesson& lesson);

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
    std::string lesson, title;
    bool is_edited = false;
    bool is_this_edition = true;
    std::vector<JudgedAnswer> answers;  // one per question of the lesson, in its order
    std::vector<std::string> remarks;   // what is odd about the file, a sentence each

    [[nodiscard]] std::size_t right() const;
};

// Judges hand-ins for a lesson. Runs that many learners have in common are computed once.
class HandinJudge {
public:
    // `tries`: how many answers to a question count, as the lesson itself may say; 0: all. An action may be tried any
    // number of times.
    explicit HandinJudge(std::shared_ptr<const Lesson> lesson, int tries = 0);
    ~HandinJudge();

    [[nodiscard]] const Lesson& lesson() const { return *lesson_; }
    // Every answer on the run that it was given for. Nothing that the file says of itself counts.
    [[nodiscard]] JudgedHandin judge(const Handin& handin);

private:
    struct Stage;

    struct Chosen;

    [[nodiscard]] JudgedAnswer judged(const Question& question, const Handin::Handed& handed, JudgedHandin& of);
    [[nodiscard]] JudgedTry judged(const Question& question, const GivenAnswer& given);
    [[nodiscard]] Stage& stage_of(const Question& question);
    [[nodiscard]] std::optional<std::size_t> choice_that_says(const Question& question, const std::string& words);
    [[nodiscard]] Chosen chosen(const Question& question, const Answer& answer, bool is_this_edition);

    std::shared_ptr<const Lesson> lesson_;
    int tries_ = 0;
    std::optional<std::vector<Lesson>> translations_;                    // once they are needed
    std::map<int, std::unique_ptr<HandinJudge>> of_versions_;            // the other ones
    std::map<std::string, std::unique_ptr<Stage>, std::less<>> stages_;  // by question
    std::map<std::string, JudgedTry, std::less<>> known_;                // by question, run and answer
};

// As above, for one file, of one of the program's lessons or of one beside it. Throws Error naming the file.
[[nodiscard]] JudgedHandin judge_handin(const std::string& path);

}  // namespace decoderscope::core::lessons

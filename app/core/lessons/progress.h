#pragma once

#include "app/core/lessons/judge.h"
#include "engine/base/json.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::core::lessons {

inline constexpr std::size_t kMostGiven = 200;  // answers to one question that are kept, besides the right one

// One answer, right or wrong, as it was given.
struct GivenAnswer {
    Answer answer;
    std::string run;   // the session that it was given for, as session_text writes it, in one line
    std::string time;  // "2026-03-01T14:05:00Z"; empty: not known
    bool operator==(const GivenAnswer&) const = default;
};

// A moment as "2026-03-01T14:05:00Z".
[[nodiscard]] std::string utc_text(std::chrono::system_clock::time_point when);

// A scenario as the run of an answer.
[[nodiscard]] std::string run_text(const Scenario& scenario);
// The run of an answer, on the model that the lesson opened: a learner's own model proves nothing. Throws Error if it
// was given for another model, or can't be read.
[[nodiscard]] Scenario scenario_of_run(const std::string& run, const Scenario& opened);

// What the lesson has opened when it asks this question. Throws Error if it has opened nothing.
[[nodiscard]] std::shared_ptr<const Scenario> opened_for(const Lesson& lesson, const Question& question);

// What the lesson said about a question when it was solved. It stays, whatever is opened later.
struct Said {
    std::string language;  // of the lesson's file
    Shown ask, learned;
    std::string answer = {};  // what was answered, in words; empty for an action
    bool operator==(const Said&) const = default;
};
// The reply, beginning with the computed number if the answer was only near it.
[[nodiscard]] Said said_of(const Asked& asked, const Answer& answer);

// The answer with the words of the choice that it names.
[[nodiscard]] Answer with_words(const Question& question, Answer answer);

// What was answered, in words.
[[nodiscard]] std::string answer_text(const Asked& asked, const Answer& answer, const Verdict& verdict);

// How far a learner is; kept in the settings' folder, nothing is sent anywhere.
struct QuestionProgress {
    bool right = false;
    int tries = 0;
    std::size_t hints = 0;           // how many were asked for
    std::vector<GivenAnswer> given;  // every answer in its order; the right one is the last
    std::optional<Said> said;        // once it is solved
    bool operator==(const QuestionProgress&) const = default;
};

struct LessonProgress {
    std::size_t page = 0;
    std::uint64_t round = 0;                                         // how often it was begun again
    std::map<std::string, QuestionProgress, std::less<>> questions;  // by id
    bool operator==(const LessonProgress&) const = default;

    [[nodiscard]] bool solved(const std::string& question) const;
    [[nodiscard]] std::size_t solved_of(const Lesson& lesson) const;
};

// How many more answers a question takes; nothing: any number. An action may be tried any number of times.
[[nodiscard]] std::optional<std::size_t> answers_left(const Lesson& lesson, const Question& question,
                                                      const LessonProgress& progress);
// Whether the learner is done with a question: solved, or out of answers.
[[nodiscard]] bool is_over(const Lesson& lesson, const Question& question, const LessonProgress& progress);

// A learner, and how far they are in each lesson.
struct Learner {
    std::string name;        // a name or a number, for a teacher; may be empty
    std::uint64_t seed = 0;  // of the order in which choices are shown; 0: not drawn yet
    bool operator==(const Learner&) const = default;
};

struct Progress {
    Learner learner;
    std::map<std::string, LessonProgress, std::less<>> lessons;   // by their names
    std::string last = {};                                        // the lesson that was opened last
    std::map<std::string, std::string, std::less<>> others = {};  // lessons of a newer program, as JSON: they are kept
    bool operator==(const Progress&) const = default;
};

[[nodiscard]] nlohmann::ordered_json json_of(const Answer& answer);
// Throws Error saying what was expected.
[[nodiscard]] Answer answer_of(const nlohmann::json& json);

// Beside the settings: lessons.json. Empty if there is no home.
[[nodiscard]] std::string progress_path();
// Nothing if there is no such file. Throws Error naming it if it can't be read.
[[nodiscard]] Progress read_progress(const std::string& path);
// Throws Error naming the file if it can't be written.
void save_progress(const std::string& path, const Progress& progress);

}  // namespace decoderscope::core::lessons

#pragma once

#include "app/core/lessons/judge.h"

#include <chrono>
#include <memory>
#include <string>

// What was answered, about which run, and what the lesson replied.
namespace decoderscope::core::lessons {

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
    bool operator==(const Said&) const = default;
};
// The reply, beginning with the computed number if the answer was only near it.
[[nodiscard]] Said said_of(const Asked& asked, const Answer& answer);

// What was answered, in words.
[[nodiscard]] std::string answer_text(const Asked& asked, const Answer& answer, const Verdict& verdict);

}  // namespace decoderscope::core::lessons

#pragma once

#include "app/core/lessons/judge.h"
#include "engine/base/json.h"

#include <map>
#include <optional>
#include <string>

// How far a learner is; kept in the settings' folder, nothing is sent anywhere.
namespace decoderscope::core::lessons {

struct QuestionProgress {
    bool right = false;
    int tries = 0;
    std::size_t hints = 0;         // how many were asked for
    std::optional<Answer> answer;  // the right one
    std::string run;               // the session that it was given for, as session_text writes it
    bool operator==(const QuestionProgress&) const = default;
};

struct LessonProgress {
    std::size_t page = 0;
    std::map<std::string, QuestionProgress, std::less<>> questions;  // by id
    bool operator==(const LessonProgress&) const = default;

    [[nodiscard]] bool solved(const std::string& question) const;
    [[nodiscard]] std::size_t solved_of(const Lesson& lesson) const;
};

// By the lessons' names.
using Progress = std::map<std::string, LessonProgress, std::less<>>;

[[nodiscard]] nlohmann::ordered_json json_of(const Answer& answer);
// Throws Error saying what was expected.
[[nodiscard]] Answer answer_of(const nlohmann::json& json);

// Beside the settings: lessons.json. Empty if there is no home.
[[nodiscard]] std::string progress_path();
// What can't be read is left out: progress never prevents a start.
[[nodiscard]] Progress load_progress(const std::string& path);
// Throws Error naming the file if it can't be written.
void save_progress(const std::string& path, const Progress& progress);

}  // namespace decoderscope::core::lessons

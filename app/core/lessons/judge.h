#pragma once

#include "app/core/lessons/lesson.h"
#include "app/core/session/command.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

// From a place in a lesson to what the window shows.
namespace decoderscope::core::lessons {

struct LessonProgress;

// The scenario that a place with a model opens; a path of a model is relative to the lesson's file. Throws Error.
// The learner's own formulas are those of `progress`; without it, the solutions.
[[nodiscard]] Scenario scenario_of(const Place& place, const Lesson& lesson, const LessonProgress* progress = nullptr);

// The last place with a model before this question; nullptr if there is none.
[[nodiscard]] const Place* place_before(const Lesson& lesson, const std::string& question);

// A step and a cell of it, by its indices.
struct Spot {
    std::string step;
    std::optional<Cell> cell;
};
// Throws Error if the run has no such step or no such cell.
[[nodiscard]] Spot spot_of(const CellAnswer& answer, const Scope& scope);

// The commands that go where the place says, once its run is there. Throws Error if something isn't there.
[[nodiscard]] std::vector<Command> going_commands(const Place& place, const Scope& scope);

// Whether an answer is right, decided by the run.

struct ChosenAnswer {
    std::size_t choice = 0;
    std::string says = {};  // words_of the choice, so that it is known in another edition of the lesson
    bool operator==(const ChosenAnswer&) const = default;
};
struct NumberAnswer {
    double number = 0.0;     // as it was read, which was said before it counted
    std::string typed = {};  // where it had to be interpreted: what was typed, "4,096"
    bool operator==(const NumberAnswer&) const = default;
};
struct PointedAnswer {
    std::string step;
    std::optional<Cell> cell;
    bool operator==(const PointedAnswer&) const = default;
};
// The run as it is.
struct RunAnswer {
    bool operator==(const RunAnswer&) const = default;
};
struct BugAnswer {
    std::string step;  // the first wrong one; empty: none is
    std::size_t choice = 0;
    std::string says = {};  // as above
    bool operator==(const BugAnswer&) const = default;
};
struct FormulaAnswer {
    std::string formula;
    bool operator==(const FormulaAnswer&) const = default;
};
using Answer = std::variant<ChosenAnswer, NumberAnswer, PointedAnswer, RunAnswer, BugAnswer, FormulaAnswer>;

struct Verdict {
    bool right = false;
    std::vector<Shown> replies;             // a paragraph each
    std::optional<std::size_t> wrong = {};  // which of the wrong answers that the lesson knows it is
    bool counts = true;                     // a formula that can't be read is no answer
    std::optional<Spot> at = {};            // of a formula: the first cell of the open run that is wrong
    std::string mistake = {};               // of a formula: what the gallery calls it (engine/mutations/)
};

// A question with what it is about: the run that is open, and what the lesson's place opened.
struct Asked {
    const Lesson& lesson;
    const Question& question;
    Runs& runs;
    const Scenario* opened = nullptr;  // of a bug: holds the mutation

    [[nodiscard]] Scope scope() const { return {runs, nullptr, &lesson.lets, &question.lets}; }
};

// Throws Error if the run that is open doesn't have what the question asks about: another model, a text too short.
[[nodiscard]] Verdict judge(const Asked& asked, const Answer& answer);

// Which of the choices are right for the run. Exactly one, in a well-made lesson.
[[nodiscard]] std::vector<std::size_t> right_choices(const Asked& asked);

// For a bug: the first step that the mutation computes differently; empty if there is none.
[[nodiscard]] std::string first_wrong_step(const Scenario& mutant);

// How a choice of a question is shown: its own text, or the mutation's sentence.
[[nodiscard]] Shown shown_choice(const Choice& choice, const Scope& scope);

}  // namespace decoderscope::core::lessons

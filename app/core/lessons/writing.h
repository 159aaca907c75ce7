#pragma once

#include "app/core/lessons/judge.h"
#include "app/core/lessons/lesson.h"
#include "app/core/lessons/runs.h"

#include <string>
#include <utility>
#include <vector>

// Formulas that a learner writes for a step: judged cell by cell, on the text that is open and on others.
namespace decoderscope::core::lessons {

// Right if every cell of every step is, on the text that is open and on the question's other ones. Otherwise the
// replies are the first cell that isn't, beside the right one; what the gallery calls the mistake; and what the lesson
// says about it, which it knows by its numbers, however it is spelled. A formula that can't be read, reads what the
// question forbids, or would take too long is no answer, and its reply says why.
[[nodiscard]] Verdict judge_formula(const Asked& asked, const ByFormula& by, const std::string& formula);

// Whether it is right, without saying why not.
[[nodiscard]] bool formula_fits(const Asked& asked, const ByFormula& by, const std::string& formula);

// As judge_formula, for numbers that were computed elsewhere: of each text, those of `by.step`.
[[nodiscard]] Verdict judge_numbers(const Asked& asked, const ByFormula& by, const std::vector<Tensor>& numbers);

// What a formula is written from: what the solution reads, by its name there; and the axes of what it makes.
struct WritingTask {
    std::vector<std::pair<std::string, Tensor>> operands;
    std::vector<std::pair<std::string, double>> numbers;  // that it may name besides the sizes of axes
    Axes axes;
};
// One for each text, the open one first. Throws Error if the run has no such step.
[[nodiscard]] std::vector<WritingTask> writing_tasks(const Asked& asked, const ByFormula& by);

// "z[batch 1, head 4, query 6, d_head 16]", then the same of each operand, on the run that is open.
[[nodiscard]] std::vector<std::string> shapes_to_write(const Ran& open, const ByFormula& by);

// The edits that put formulas of this lesson into a model: those with which the learner has solved its questions or,
// without `progress`, the solutions. Rows are no part of a model.
[[nodiscard]] std::vector<Edit> own_formulas(const Lesson& lesson, const LessonProgress* progress);

}  // namespace decoderscope::core::lessons

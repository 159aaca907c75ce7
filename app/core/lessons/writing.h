#pragma once

#include "app/core/lessons/judge.h"
#include "app/core/lessons/lesson.h"
#include "app/core/lessons/runs.h"
#include "engine/base/message.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

// Formulas that a learner writes for a step: judged cell by cell, on the text that is open and on others.
namespace decoderscope::core::lessons {

// What a formula computes, and where it first computes something else than it should.
struct WrittenNumbers {
    // A cell that has another number, in the order of the texts, the steps and the cells.
    struct WrongCell {
        std::size_t text = 0;  // 0: the one that is open; otherwise so far into the question's `on`
        Spot at;
        double theirs = 0.0, right = 0.0;
    };
    std::vector<Tensor> numbers;  // of each text, each step
    std::optional<WrongCell> wrong;
};

// Throws formulas::FormulaError at the place of what can't be read, and Error if the formula doesn't fit a step, takes
// too long, or reads what the question forbids.
[[nodiscard]] WrittenNumbers written_numbers(const Asked& asked, const ByFormula& by, const std::string& formula);

// The mistake of the gallery whose decoder has just these numbers: its name; empty if there is none.
[[nodiscard]] std::string known_mistake(const Asked& asked, const ByFormula& by, const WrittenNumbers& written);

// Right if every cell is. Otherwise the replies are the first cell that isn't, beside the right one; what the gallery
// calls the mistake; and what the lesson says about it, which it knows by its numbers, however it is spelled.
[[nodiscard]] Verdict judge_formula(const Asked& asked, const ByFormula& by, const std::string& formula);

// A step's name with its axes, as formulas have them: "z[batch 1, head 4, query 6, d_head 16]".
[[nodiscard]] std::string named_axes(const std::string& name, const Step& step);

// What a formula may read, as the step's own formula calls it, with its axes: "x [batch 1, head 4, query 6, key 6]".
// The step is left out: empty for a row.
[[nodiscard]] std::vector<std::string> operands_to_read(const Run& run, const std::string& step);

// The edits that put formulas of this lesson into a model: those with which the learner has solved its questions or,
// without `progress`, the solutions. Rows are no part of a model.
[[nodiscard]] std::vector<Edit> own_formulas(const Lesson& lesson, const LessonProgress* progress);

}  // namespace decoderscope::core::lessons

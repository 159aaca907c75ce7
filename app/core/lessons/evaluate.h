#pragma once

#include "app/core/lessons/expression.h"
#include "app/core/lessons/runs.h"

#include <map>
#include <string>

namespace decoderscope::core::lessons {

// What the names in an expression mean, from the innermost: variables, the question's names, the lesson's names, and
// the tensors of the run.
struct Scope {
    Runs& runs;
    const Ran* ran = nullptr;  // nullptr: the run that is open
    const Lets* lesson = nullptr;
    const Lets* question = nullptr;
    std::map<std::string, Value, std::less<>> variables = {};
    int depth = 0;  // of names that stand for names
};

// Computes an expression. Throws Error that names the function, tensor or index that doesn't fit.
[[nodiscard]] Value evaluate(const Expression& expression, const Scope& scope);

}  // namespace decoderscope::core::lessons

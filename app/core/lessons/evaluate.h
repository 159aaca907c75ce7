#pragma once

#include "app/core/lessons/expression.h"
#include "app/core/lessons/runs.h"
#include "app/core/run/scenario.h"

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace decoderscope::core::lessons {

// Whether an expression may call it.
[[nodiscard]] bool is_function(std::string_view name);

// Applies an operation to two values number by number; a single number is combined with each. Throws Error if the
// shapes don't match.
[[nodiscard]] Numbers combined(const Numbers& a, const Numbers& b,
                               const std::function<double(double, double)>& operation);

// The id of the token with this text. Throws Error if the vocabulary has none.
[[nodiscard]] Index id_of(const tokenizer::Tokenizer& tokenizer, std::string_view text);

// What the names in an expression mean, from the innermost: variables, the question's names, the lesson's names, and
// the tensors of the run.
struct Scope {
    Runs& runs;
    const Ran* ran = nullptr;  // nullptr: the run that is open
    const Lets* lesson = nullptr;
    const Lets* question = nullptr;
    std::map<std::string, Value, std::less<>> variables = {};
    int depth = 0;                 // of names that stand for names
    std::size_t* spent = nullptr;  // what the whole expression has computed; nullptr: this is the whole
};

// Computes an expression. Throws Error that names the function, tensor or index that doesn't fit.
[[nodiscard]] Value evaluate(const Expression& expression, const Scope& scope);

}  // namespace decoderscope::core::lessons

#pragma once

#include "app/core/lessons/expression.h"
#include "app/core/run/scenario.h"

#include <span>
#include <string_view>

// The functions of expressions that need nothing but their arguments.
namespace decoderscope::core::lessons {

using PureFunction = Value (*)(std::span<const Value> arguments);
struct NamedFunction {
    std::string_view name;
    std::size_t arguments;
    PureFunction call;
};

// nullptr if there is none of that name.
[[nodiscard]] const NamedFunction* find_function(std::string_view name);

// Applies an operation to two values number by number; a single number is combined with each. Throws Error if the
// shapes don't match.
[[nodiscard]] Numbers combined(const Numbers& a, const Numbers& b, double (*operation)(double, double));

// The functions of expressions that ask about the text, the vocabulary and the configuration.

struct TextFunction {
    std::string_view name;
    std::size_t least, most;  // how many arguments
    Value (*call)(const Scenario& scenario, std::span<const Value> arguments);
};

// nullptr if there is none of that name.
[[nodiscard]] const TextFunction* find_text_function(std::string_view name);

// The id of the token with this text. Throws Error if the vocabulary has none.
[[nodiscard]] Index id_of(const tokenizer::Tokenizer& tokenizer, std::string_view text);

}  // namespace decoderscope::core::lessons

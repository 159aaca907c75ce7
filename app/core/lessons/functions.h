#pragma once

#include "app/core/lessons/value.h"

#include <span>
#include <string_view>

// The functions of expressions that need nothing but their arguments.
namespace decoderscope::lessons {

using PureFunction = Value (*)(std::span<const Value> arguments);
struct NamedFunction {
    std::string_view name;
    std::size_t arguments;
    PureFunction call;
};

// nullptr if there is none of that name.
[[nodiscard]] const NamedFunction* find_function(std::string_view name);

// Applies an operation to two values number by number; a single number goes with all. Throws Error where the shapes
// don't match.
[[nodiscard]] Numbers combined(const Numbers& a, const Numbers& b, double (*operation)(double, double));

}  // namespace decoderscope::lessons

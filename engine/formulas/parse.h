#pragma once

#include "engine/formulas/formula.h"

#include <map>
#include <string_view>

// Reads formulas:
//
//     formula    = name ["[" index {"," index} "]"] "=" expression ["from" expression] ["where" formula {";" formula}]
//     index      = "…" | name [":" axis]
//     expression = condition ["?" expression ":" expression]   condition = sums, compared, joined by "not", "and", "or"
//     sum        = ["−"] product {("+" | "−") product}         product   = unary {("·" | "/" | "div" | "mod") unary}
//     unary      = "−" unary | power                           power     = primary {"²" | "³" | "⁴"} ["^" unary]
//     primary    = number | name | name "[" expression, … "]" ["?"] | "(" expression ")" | "[" condition "]" | "√"
//     primary
//                | function ["_" index] "(" expression, … ")"
//                | ("Σ" | "mean" | "max" | "min" | "argmax" | "count") "_" (index | "{" index, … "}") product
//
// in Unicode or ASCII ("sum_k", "sqrt(x)", "*", "!=", "inf"). An index below a word is one letter.
namespace decoderscope::formulas {

using Functions = std::map<std::string, Formula, std::less<>>;

// Throws FormulaError at the place of the mistake.
[[nodiscard]] Formula parse(std::string_view text, const Functions& functions = {});
// A definition of a function, "softmax_k(x) = …", which may call the functions before it.
[[nodiscard]] Formula parse_function(std::string_view text, const Functions& functions);

}  // namespace decoderscope::formulas

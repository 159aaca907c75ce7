#pragma once

#include "engine/formulas/formula.h"

#include <map>
#include <string_view>

// Reads formulas:
//
//     formula    = name ["[" index {"," index} "]"] "=" expression ["from" expression] ["where" formula {";" formula}]
//     index      = "…" | name [":" axis]
//     expression = condition ["?" expression ":" expression]   condition = sums, compared, joined by "not", "and", "or"
//                | condition ["if" condition "else" expression]
//     sum        = ["−"] product {("+" | "−") product}         product   = unary {["·" | "/" | "div" | "mod"] unary}
//                  (sums joined by "&" and "|" are what conditions compare)
//     unary      = "−" unary | power                           power     = primary {"²" | "³" | "⁴"} ["^" unary]
//     primary    = number | name | name "[" expression, … "]" ["?"] | "(" expression ")" | "[" condition "]" | "√"
//     primary
//                | function ["_" index] "(" expression, … ")" | "|" expression "|" | "⌊" expression "⌋" | "⌈" … "⌉"
//                | function ["²"] power
//                | ("Σ" | "Π" | "mean" | "max" | "min" | "argmax" | "count") "_" (index | "{" index, … "}") product
//                | function "_" (index | "{" index, … "}") (power | "(" expression, … ")")
//
// where an index below a sum may have a condition, Σ_{j < i}, and a word with its bracket beside it, mean_k(…), takes
// no more than that, in Unicode or ASCII ("sum_k", "sqrt(x)", "*", "!=", "inf"). An index below a word is one letter.
namespace decoderscope::formulas {

using Functions = std::map<std::string, Formula, std::less<>>;

// What functions are that aren't among the others: along these indices, if there are any, of these operands, at this
// place in the text; throws if there is no such one.
struct OtherFunctions {
    std::function<bool(const std::string& name, bool along)> has;
    std::function<Expr(const std::string& name, const std::vector<LeftIndex>& along, const std::vector<Expr>& in,
                       std::size_t at)>
        call;
};

// Throws FormulaError at the place of the mistake.
[[nodiscard]] Formula parse(std::string_view text, const Functions& functions = {}, const OtherFunctions& others = {});
// A definition of a function, "softmax_k(x) = …", which may call the functions before it.
[[nodiscard]] Formula parse_function(std::string_view text, const Functions& functions);

// An expression that is asked instead of defining a tensor: a lesson's, or the rule of a language's plurals. It has
// functions of any name, texts in quotes (the constant that begins with "'"), ":" for a whole axis (the constant of
// that name) and parts of whatever stands before brackets (the function "[]"), and neither indices nor reductions of
// its own. Throws FormulaError at the place of the mistake.
[[nodiscard]] Expr parse_asked(std::string_view text);

}  // namespace decoderscope::formulas

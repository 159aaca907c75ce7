#pragma once

#include "engine/base/message.h"
#include "engine/formulas/parse.h"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Formulas made from others: by putting an expression in another's place, or one formula behind another.
namespace decoderscope::formulas {

// The formula with `now` wherever `old` stands; both are written with the formula's own letters. A formula in which it
// stands nowhere stays as it is. Throws FormulaError if one of them can't be read.
[[nodiscard]] Formula edited(const Formula& formula, std::string_view old, std::string_view now,
                             const Functions& functions);

// `second` of what `first` computes, which stands for `operand` of second. Second's axes must be written out, without
// "…".
[[nodiscard]] Formula composed(const Formula& first, Formula second, std::string_view operand);

// A formula one node away from another, and what a program that computes it does: "It divides by √d_model, not by
// √d_head."
struct Edit {
    Formula formula;
    Sentence sentence;
};

// All formulas one node away from an elaborated one: a summand, a factor, a root or a function left out; a sign or a
// comparison turned; a sum for a mean; a function, an index or a number that could be taken for another. `numbers` are
// the values of its constants, and of `mistaken`: those that any of them may be taken for.
[[nodiscard]] std::vector<Edit> edits(const Formula& elaborated,
                                      const std::map<std::string, double, std::less<>>& numbers,
                                      std::span<const std::string> mistaken);

// All formulas in which one call of a function is another: of what it is called on, along another index, or of another
// function that takes as much. The formula is one as it is written, before functions are put in place. Some of them
// can't be elaborated.
[[nodiscard]] std::vector<Edit> call_edits(const Formula& written, const Functions& functions);

}  // namespace decoderscope::formulas

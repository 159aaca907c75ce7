#pragma once

#include "engine/formulas/formula.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

// The words of the language: one table of operations for parser and printer.
namespace decoderscope::formulas {

// How an operation is written: as a function, or between or before its operands with so much binding strength.
struct Spelling {
    Op op;
    std::string_view unicode, ascii;
    int level;  // the higher, the tighter; kFunction for what is called by name
};
constexpr int kFunction = 100;
// The binding strengths that the grammar names.
namespace level {
constexpr int choice = 0, either = 1, both = 2, negation = 3, comparison = 4, sum = 5, product = 6, power = 8,
              primary = 9;
}

[[nodiscard]] std::span<const Spelling> spellings();
[[nodiscard]] const Spelling& spelling_of(Op op);
// Whether it compares, or joins or turns round what does.
[[nodiscard]] bool compares(const Expr& e);
// The function of this name, "exp".
[[nodiscard]] std::optional<Op> function_named(std::string_view name);
// The reduction of this word, "mean"; "count" is none of them.
[[nodiscard]] std::optional<Fold> fold_named(std::string_view word);
[[nodiscard]] std::string_view word_of(Fold fold);
// What is made of reductions over the same index, and stands like one of them: norm_d, var_d, std_d, argmin_d.
[[nodiscard]] bool is_measure(std::string_view word);

// The sentence, and which of the known names is meant, if one is near.
[[nodiscard]] Sentence with_nearest(Sentence sentence, std::string_view name, std::span<const std::string> known);

}  // namespace decoderscope::formulas

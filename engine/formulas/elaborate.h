#pragma once

#include "engine/formulas/parse.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::formulas {

// What numbers may be, each kind one of the next, too: conditions are 1 or 0, places are whole and not below 0.
enum class NumberKind : std::uint8_t { condition, place, whole, real };

// What a formula is about: the operands' axes, and the numbers that it may name.
struct Known {
    std::map<std::string, Shape, std::less<>> operands;
    std::map<std::string, double, std::less<>> constants;  // sizes of the operands' axes needn't be among them
    // Axes of one size go together whatever their names: for a formula that was checked before.
    bool fits_by_size = false;
    // For a formula of the program's own: fits by size, and the cost isn't bounded, because only single cells are
    // computed.
    bool trusted = false;
    std::map<std::string, NumberKind, std::less<>> kinds = {};  // of the operands that aren't any real numbers
};

// From what is written to what is meant: "…" as axes, operands that are missing left out, functions put in place, and
// for each index the axis that it runs over, as the operands say. Throws FormulaError, with the place in the text and
// both shapes, if a name isn't known, axes don't fit, nothing says what an index runs over, a sub-result is defined by
// itself, or computing it would take more steps than docs/limits.md says.
[[nodiscard]] Formula elaborate(const Formula& formula, const Known& known, const Functions& functions = {});

// What computing all of it takes: cells times what each adds up.
[[nodiscard]] double steps_of(const Formula& elaborated);
// Throws FormulaError if computing it would take more steps than docs/limits.md says.
void check_cost(const Formula& elaborated);
// The constants, and the sizes of the axes by their names.
[[nodiscard]] std::map<std::string, double, std::less<>> numbers_of(const Known& known);
// The number that an expression is without any tensor; nothing if it reads one, or an index.
[[nodiscard]] std::optional<double> known_number(const Expr& e,
                                                 const std::map<std::string, double, std::less<>>& numbers);
// What an expression's numbers may be; `of_cell` is asked for tensors and numbers by their names.
[[nodiscard]] NumberKind kind_of(const Expr& e, const std::function<NumberKind(const std::string&)>& of_cell);
// "scores[batch 2, head 4, query 6, key 6]".
[[nodiscard]] std::string shape_text(std::string_view name, const Shape& shape);
// Whether an axis of this name goes with any other of its size: "in", "out", or one that is named by its size alone.
[[nodiscard]] bool goes_with_any(std::string_view axis);
// How a recurrence reads itself: along which of its indices, and whether what comes later.
struct Direction {
    std::size_t axis = 0;
    bool backwards = false;
    bool operator==(const Direction&) const = default;
};
// Throws FormulaError if it would wait for itself.
[[nodiscard]] Direction direction_of(const Formula& formula, const Definition& recurrence);
// Which definitions each one reads, directly or through others; itself if it is a recurrence.
[[nodiscard]] std::map<std::string, std::set<std::string>> dependencies(const Formula& formula);
// The formula without this sub-result: its body stands wherever it was read.
[[nodiscard]] Formula inlined(Formula formula, const std::string& where);

}  // namespace decoderscope::formulas

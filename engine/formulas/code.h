#pragma once

#include "engine/formulas/elaborate.h"
#include "engine/formulas/vectors.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

// A formula with its names looked up, to be computed many times.
namespace decoderscope::formulas {

// A node. An index is a place in the scope: the definition's own indices come first, then those of the reductions
// around the node, the outermost first.
struct Code {
    enum class Kind : std::uint8_t { number, index, operand, result, apply, reduce } kind = Kind::number;
    Op op{};
    Fold fold{};
    double value = 0.0;
    std::size_t which = 0;   // the place of an index, also of a reduction's own; an operand; a definition
    Index size = 0;          // that the reduction runs over
    std::uint64_t uses = 0;  // a bit for each place that it depends on
    std::size_t hash = 0;
    std::vector<Code> in;
    bool operator==(const Code&) const = default;

    [[nodiscard]] bool is(Op of) const { return kind == Kind::apply && op == of; }
    [[nodiscard]] bool is_of_matrix() const { return kind == Kind::apply && formulas::is_of_matrix(op); }
};
// No axis, kMostPlaces, has no bit.
[[nodiscard]] constexpr std::uint64_t bit(std::size_t place) {
    return place < kMostPlaces ? std::uint64_t{1} << place : 0;
}
// An index expression's value as an index; outside of everything if it can't be one: between two places is none.
[[nodiscard]] inline Index index_of(double value) {
    return std::abs(value) < 1e15 && value == std::floor(value) ? static_cast<Index>(value) : -1;
}

[[nodiscard]] std::vector<Index> sizes_of(const Shape& shape, std::size_t from = 0);
// How far apart two numbers are that lie beside each other along an axis.
[[nodiscard]] std::vector<Index> strides_of(const std::vector<Index>& sizes);

// A definition; one that is computed as a whole, a recurrence or what is made of a matrix, has what it is worth outside
// itself.
struct CodedDefinition {
    Code code;
    Shape shape;
    std::optional<Code> start;
};

// Looks up the names of an elaborated formula among its operands, in this order.
class Coder {
public:
    Coder(const Formula& elaborated, std::vector<std::string> operands, const Known& known);

    // The definitions, the formula's own last.
    [[nodiscard]] std::vector<CodedDefinition> parts();
    // Of a part of a definition's body, with so many places in scope.
    [[nodiscard]] Code code_of(const Expr& e, const Definition& d, std::size_t places);
    [[nodiscard]] std::optional<std::size_t> operand_named(const std::string& name) const;
    [[nodiscard]] std::optional<std::size_t> definition_named(const std::string& name) const;

private:
    Formula formula_;
    std::vector<std::string> operands_;
    std::map<std::string, double, std::less<>> numbers_;
};

}  // namespace decoderscope::formulas

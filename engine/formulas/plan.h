#pragma once

#include "engine/formulas/code.h"
#include "engine/formulas/evaluate.h"

#include <array>
#include <unordered_map>
#include <utility>

// How all cells of a formula are computed: what is done, each thing once, and along which rows.
namespace decoderscope::formulas {

// So many numbers of a row are computed together: what a formula has at once then fits into a near cache, and a row of
// most models needs no second block, for which its gain would be read anew.
inline constexpr Index kBlock = 1024;
// The axis of what has no row.
inline constexpr std::size_t kNoAxis = kMostPlaces;

// One number, or a row of them along an axis: that of the definition's last index or, inside a reduction whose body is
// the same along it, the reduction's.
struct Step {
    const Code* code;
    Op op;
    std::size_t axis;  // none of a number
    bool row;
    std::uint64_t uses;  // the places that it depends on
    bool whole = false;  // whether the row is all of what is read, whatever the place of the axis
    std::vector<std::size_t> in{};
    std::vector<std::size_t> along{};     // the indices of a read that are not the same in all of the row
    std::vector<std::size_t> switches{};  // conditions that make a product 0, whatever its other factors are
};

// What is done for a number of a definition, or for a row of them.
class Program {
public:
    // The rows run along this axis of the definition's shape. Of `inlined` definitions, by their positions, what is
    // read is computed as a part of it. The code must outlive it.
    Program(const Code& code, const Shape& shape, std::size_t axis, const std::vector<const Code*>& inlined);

    // The definition's own last.
    [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
    [[nodiscard]] std::size_t axis() const { return axis_; }

private:
    std::size_t add(Step step) {
        steps_.push_back(std::move(step));
        return steps_.size() - 1;
    }
    std::size_t step_of(const Code& code, std::size_t axis, bool in_product);
    std::size_t made_of(const Code& code, std::size_t axis, bool in_product);
    // What is read along the axis, whatever the axis' place, if all of it is in one block: two reductions, or a
    // reduction and the definition, share the row.
    [[nodiscard]] std::optional<Code> whole_row(const Code& code, std::size_t axis) const;
    void add_switches(const Code& code, std::size_t axis, std::vector<std::size_t>& switches);

    std::size_t axis_;
    std::vector<const Code*> inlined_;
    std::array<Index, kMostPlaces + 1> sizes_ = {};         // of the axes of rows
    std::vector<std::pair<Code, std::size_t>> whole_rows_;  // and the steps that read them
    std::vector<Step> steps_;
    std::unordered_map<std::size_t, std::vector<std::size_t>> found_;  // steps by their hashes
};

// How a definition is computed: its rows, and beside each the definitions of which the row reads only what has the
// row's own first indices.
struct Stage {
    std::size_t part;
    std::size_t lead;  // so many indices choose a row; all of them if it is a number each
    std::size_t axis;  // of the row
    std::vector<std::size_t> beside;
    std::vector<const Code*> inlined;  // definitions that are computed as parts of those that read them
    Program program;
    std::vector<Program> programs;
    double cost;  // of a number of its rows, in multiply-adds
};

// The last definition and those that it reads, each after what it reads. Moves the places of reductions in definitions
// that become parts of others.
[[nodiscard]] std::vector<Stage> planned(std::vector<CodedDefinition>& parts);

// Makes definitions of one row, which needn't end where an axis does, of those that read only numbers of their own
// shape at their own indices.
void flatten_elementwise(std::vector<CodedDefinition>& parts, std::vector<Shape>& operands);

// Whether float32 gives the same as double that is rounded afterwards: each number is rounded once, at the end. A sum,
// a product, a quotient and a root of two numbers of p bits that are computed with 2 p + 2 bits first are rounded as if
// they were not (Figueroa, "When is double rounding innocuous?", 1995), and 53 is more than 2 · 24 + 2.
[[nodiscard]] bool is_rounded_once(const Code& code, const Operands& operands);

}  // namespace decoderscope::formulas

#pragma once

#include "engine/formulas/elaborate.h"
#include "engine/graph/explanation.h"
#include "engine/tensor/arithmetic.h"

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <variant>

namespace decoderscope::formulas {

// An operand's numbers, row by row. They must outlive whoever reads them.
struct Operand {
    std::string name;
    Shape shape;
    std::variant<std::span<const float>, std::span<const double>, std::span<const std::int64_t>, const Tensor*> numbers;
};
using Operands = std::vector<Operand>;

// The axes of these operands, and the constants.
[[nodiscard]] Known known_of(const Operands& operands, std::map<std::string, double, std::less<>> constants);

// How another program may come to the same numbers: what it rounds on the way, and how it adds up a matrix product.
// Indices and conditions are never rounded.
struct Manner {
    // A rounding after the whole sum; after each half; after each product and each addition, as PyTorch's own kernels
    // have it for want of a library's.
    enum class Sums { whole, in_halves, one_by_one };
    Arithmetic type = Arithmetic::float32;
    bool each = false;       // every operation's result is rounded, as code does that is written without a kernel
    bool constants = false;  // and its constants, as PyTorch does on a CPU
    Sums sums = Sums::whole;
    bool operator==(const Manner&) const = default;
};

// What an elaborated formula is worth, in double: slow, and exact as far as double is. Sums are compensated (Neumaier,
// 1974). A factor [false] makes its product 0 whatever the rest is; NaN passes through min, max and a reduction as in
// PyTorch; a cell outside its operand is NaN.
class Evaluator {
public:
    // With a manner, the cells are what a program would come to that computes in that manner.
    Evaluator(const Formula& elaborated, const Operands& operands, const Known& known,
              std::optional<Manner> manner = std::nullopt);
    ~Evaluator();
    Evaluator(Evaluator&&) noexcept;
    Evaluator& operator=(Evaluator&&) noexcept;

    // One cell; sub-results that it needs are computed once.
    [[nodiscard]] double cell(std::span<const Index> cell);
    // All cells, row by row, with vector instructions on all cores. Throws Error if it is stopped.
    [[nodiscard]] std::vector<double> all(const std::stop_token& stop = {});
    void all(std::span<float> to, const std::stop_token& stop = {});
    // A part of a definition's body, where its indices, then those of the sums around the part, have these values.
    [[nodiscard]] double value(const Expr& part, const Definition& of, std::vector<Index>& indices);

    [[nodiscard]] const Formula& formula() const;
    // The operand's position; nothing if this is no operand.
    [[nodiscard]] std::optional<std::size_t> operand_named(const std::string& name) const;

private:
    class Machine;
    std::unique_ptr<Machine> machine_;
};

// What the screen calls a sub-result or a constant; its own name if it isn't among these.
using ShownNames = std::map<std::string, std::string, std::less<>>;

// How a cell is computed: a line for each sum that has a name or is inside something else, a term per summand, a factor
// per operand. The last line is the cell's. OperandCell::operand is the position among the operands.
[[nodiscard]] Explanation explain(Evaluator& evaluator, std::span<const Index> cell, const ShownNames& shown = {});

}  // namespace decoderscope::formulas

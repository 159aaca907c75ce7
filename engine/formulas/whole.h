#pragma once

#include "engine/formulas/code.h"
#include "engine/formulas/evaluate.h"

#include <memory>

// All cells of a formula: row by row, with vector instructions, on all cores.
namespace decoderscope::formulas {

// An elaborated formula, ready to be computed any number of times, by any number of threads. A recurrence is not
// computed here.
class Computation {
public:
    // Of operands with these shapes, in the order of their names.
    Computation(std::vector<CodedDefinition> parts, std::vector<Shape> operands);
    ~Computation();
    Computation(Computation&&) noexcept;
    Computation& operator=(Computation&&) noexcept;

    // All cells, row by row. `recurrences` are their numbers and what they are worth outside, by the parts' positions;
    // none of these is needed if no part is one. Throws Error if it is stopped.
    struct Recurrence {
        std::span<const double> numbers;
        double outside = kNaN;
    };
    using Numbers = std::variant<std::span<float>, std::span<double>>;
    void run(const Operands& operands, Numbers to, const std::stop_token& stop = {},
             std::span<const Recurrence> recurrences = {}) const;

private:
    struct Plan;
    std::unique_ptr<const Plan> plan_;
};

[[nodiscard]] std::size_t count_of(const Shape& shape);
// Throws Error if it was.
void stop_if_asked(const std::stop_token& stop);

}  // namespace decoderscope::formulas

#pragma once

#include "engine/formulas/formula.h"

#include <limits>
#include <span>

// What the language's operations do to numbers: to one, and to rows of them.
namespace decoderscope::formulas {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Exact as far as double is. `choose` has no value here: it reads one of two.
[[nodiscard]] double value_of(Op op, double a, double b);
// out[i] = a[i] op b[i], with the vector instructions of the current CPU; to 1 part in 10^13.
void apply(Op op, const double* a, const double* b, std::span<double> out);

// A reduction, as far as it is done.
struct Folded {
    explicit Folded(Fold of);
    // Takes the numbers with the indices from `first` on.
    void take(Fold of, std::span<const double> row, Index first);
    [[nodiscard]] double result(Fold of, Index size) const;

    double value;
    Index where = 0;
};
// Whether x replaces what was the best so far: NaN does, and the first of equals stays.
[[nodiscard]] bool better(Fold fold, double x, double best);

}  // namespace decoderscope::formulas

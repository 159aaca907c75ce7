#pragma once

#include "engine/formulas/formula.h"

#include <limits>
#include <span>

// What the language's operations do to numbers: to one, and to rows of them.
namespace decoderscope::formulas {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Whether its result is one of the numbers that it is given, with another sign perhaps, or a condition's 0 or 1.
[[nodiscard]] bool only_chooses(Op op);
// Whether a processor rounds its result once, in float32 and in double.
[[nodiscard]] bool rounds_once(Op op);

// Exact as far as double is. `choose` has no value here: it reads one of two.
[[nodiscard]] double value_of(Op op, double a, double b);

// The following use the vector instructions of the current CPU.

// out[i] = a[i] op b[i], or a[i] op b, to 1 part in 10^13; in float32, only if it chooses or rounds once
void apply(Op op, const double* a, const double* b, std::span<double> out);
void apply(Op op, const double* a, double b, std::span<double> out);
void apply(Op op, const float* a, const float* b, std::span<float> out);
void apply(Op op, const float* a, float b, std::span<float> out);
// out[i] = condition[i] ? a[i] : b[i]
void choose(const double* condition, const double* a, const double* b, std::span<double> out);
void choose(const float* condition, const float* a, const float* b, std::span<float> out);
void convert(const float* from, std::span<double> to);
void convert(const double* from, std::span<float> to);

// A reduction, as far as it is done.
struct Folded {
    explicit Folded(Fold of);
    // Takes the numbers with the indices from `first` on.
    void take(Fold of, std::span<const double> row, Index first);
    // Of a sum, the products of two rows.
    void take_products(std::span<const double> a, const double* b);
    [[nodiscard]] double result(Fold of, Index size) const;

    double value;
    Index where = 0;
};
[[nodiscard]] constexpr bool is_sum(Fold fold) { return fold == Fold::sum || fold == Fold::mean; }
// Whether x replaces what was the best so far: NaN does, and the first of equals stays.
[[nodiscard]] bool better(Fold fold, double x, double best);

}  // namespace decoderscope::formulas

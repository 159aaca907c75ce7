#include "engine/formulas/vectors.h"

#include "engine/base/on_this_cpu.h"
#include "engine/tensor/vector_functions.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace decoderscope::formulas {
namespace {

// The C library's functions, and those that a loop can have many of at a time.
struct Exact {
    static double exp(double x) { return std::exp(x); }
    static double log(double x) { return std::log(x); }
    static double sin(double x) { return std::sin(x); }
    static double cos(double x) { return std::cos(x); }
    static double tanh(double x) { return std::tanh(x); }
    static double erf(double x) { return std::erf(x); }
    // As Python's // and %, which no rounding of a / b can make too large: 1 // 0.1 is 9.
    static double remainder(double a, double b) {
        const double rest = std::fmod(a, b);
        return rest != 0.0 && (b < 0.0) != (rest < 0.0) ? rest + b : rest;
    }
    static double quotient(double a, double b) {
        const double rest = std::fmod(a, b), whole = std::nearbyint((a - rest) / b);
        return b == 0.0 ? a / b : rest != 0.0 && (b < 0.0) != (rest < 0.0) ? whole - 1.0 : whole;
    }
};
// Whether these are so, and the quotient has no more digits than both have.
bool are_whole(double a, double b) {
    return a == std::floor(a) && b == std::floor(b) && std::abs(a) < 0x1p53 && std::abs(b) < 0x1p53 && b != 0.0;
}
struct Many {
    static double exp(double x) { return vectors::exponential<true>(x); }
    static double log(double x) { return vectors::logarithm(x); }
    static double sin(double x) { return vectors::turn(x).sine; }
    static double cos(double x) { return vectors::turn(x).cosine; }
    static double tanh(double x) { return vectors::hyperbolic_tangent(x); }
    static double erf(double x) { return vectors::error_function(x); }
    static double quotient(double a, double b) { return std::floor(a / b); }  // of whole numbers
    static double remainder(double a, double b) { return a - std::floor(a / b) * b; }
};

template <class Number>
[[gnu::always_inline]] inline Number one(Number /*of_its_type*/, bool condition) {
    return condition ? Number{1} : Number{0};
}

// Calls `run` with the operation as a function of two numbers, of which it may read one, in double or in float32, each
// result of which is exact or rounded once; false if it is none of these.
template <class Run>
[[gnu::always_inline]] inline bool with_exact(Op op, const Run& run) {
    switch (op) {
        case Op::add:
            return run([](auto a, auto b) { return a + b; }), true;
        case Op::subtract:
            return run([](auto a, auto b) { return a - b; }), true;
        case Op::negate:
            return run([](auto a, auto) { return -a; }), true;
        case Op::multiply:
            return run([](auto a, auto b) { return a * b; }), true;
        case Op::divide:
            return run([](auto a, auto b) { return a / b; }), true;
        case Op::root:
            return run([](auto a, auto) { return std::sqrt(a); }), true;
        case Op::bracket:
            return run([](auto a, auto) { return one(a, a != 0); }), true;
        case Op::equal:
            return run([](auto a, auto b) { return one(a, a == b); }), true;
        case Op::not_equal:
            return run([](auto a, auto b) { return one(a, a != b); }), true;
        case Op::less:
            return run([](auto a, auto b) { return one(a, a < b); }), true;
        case Op::less_equal:
            return run([](auto a, auto b) { return one(a, a <= b); }), true;
        case Op::greater:
            return run([](auto a, auto b) { return one(a, a > b); }), true;
        case Op::greater_equal:
            return run([](auto a, auto b) { return one(a, a >= b); }), true;
        case Op::both:
            return run([](auto a, auto b) { return one(a, a != 0) * one(b, b != 0); }), true;
        case Op::either:
            return run([](auto a, auto b) { return std::max(one(a, a != 0), one(b, b != 0)); }), true;
        case Op::negation:
            return run([](auto a, auto) { return one(a, a == 0); }), true;
        case Op::abs:
            return run([](auto a, auto) { return std::abs(a); }), true;
        case Op::min:
            return run([](auto a, auto b) { return a <= b ? a : b < a ? b : static_cast<decltype(a)>(kNaN); }), true;
        case Op::max:
            return run([](auto a, auto b) { return a >= b ? a : b > a ? b : static_cast<decltype(a)>(kNaN); }), true;
        case Op::stop:
        case Op::stored:
            return run([](auto a, auto) { return a; }), true;
        default:
            return false;
    }
}

// As above, of all operations, in double.
template <class Functions, class Run>
[[gnu::always_inline]] inline void with(Op op, const Run& run) {
    using F = Functions;
    if (with_exact(op, run)) return;
    switch (op) {
        case Op::power:
            return run([](double a, double b) { return std::pow(a, b); });
        case Op::quotient:
            return run([](double a, double b) { return F::quotient(a, b); });
        case Op::remainder:
            return run([](double a, double b) { return F::remainder(a, b); });
        case Op::exp:
            return run([](double a, double) { return F::exp(a); });
        case Op::log:
            return run([](double a, double) { return F::log(a); });
        case Op::sin:
            return run([](double a, double) { return F::sin(a); });
        case Op::cos:
            return run([](double a, double) { return F::cos(a); });
        case Op::atan:
            return run([](double a, double) { return std::atan(a); });
        case Op::tanh:
            return run([](double a, double) { return F::tanh(a); });
        case Op::erf:
            return run([](double a, double) { return F::erf(a); });
        case Op::sigmoid:
            return run([](double a, double) { return 1.0 / (1.0 + F::exp(-a)); });
        case Op::floor:
            return run([](double a, double) { return std::floor(a); });
        case Op::round:
            return run([](double a, double) { return std::nearbyint(a); });
        default:
            return run([](double, double) { return kNaN; });
    }
}

// In float32, only of exact ones.
template <class Number, class Run>
[[gnu::always_inline]] inline void with_many(Op op, const Run& run) {
    if constexpr (std::is_same_v<Number, float>)
        with_exact(op, run);
    else
        with<Many>(op, run);
}

template <class Number>
void apply_to_row(Op op, const Number* a, const Number* b, std::span<Number> out) {
    with_many<Number>(
        op, [&](const auto& of) __attribute__((always_inline)) {
            for (std::size_t i = 0; i < out.size(); ++i) out[i] = of(a[i], b[i]);
        });
}

template <class Number>
void apply_number_to_row(Op op, const Number* a, Number b, std::span<Number> out) {
    with_many<Number>(
        op, [&](const auto& of) __attribute__((always_inline)) {
            for (std::size_t i = 0; i < out.size(); ++i) out[i] = of(a[i], b);
        });
}

template <class Number>
void choose_in_row(const Number* condition, const Number* a, const Number* b, std::span<Number> out) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = condition[i] != 0 ? a[i] : b[i];
}

template <class From, class To>
void convert_row(const From* from, std::span<To> to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<To>(from[i]);
}

// The highest number, or the lowest with the other sign; NaN if there is one.
double highest_of(std::span<const double> row, double sign) {
    vectors::Lanes best;
    best.fill(-std::numeric_limits<double>::infinity());
    // Forgets a NaN that a number follows, so that vectors are compared in one instruction: NaN is counted apart.
    const auto take = [&](std::size_t lane, double x) __attribute__((always_inline)) {
        best[lane] = x < best[lane] ? best[lane] : x;
    };
    std::size_t i = 0;
    for (; i + vectors::kLanes <= row.size(); i += vectors::kLanes)
        for (std::size_t lane = 0; lane < vectors::kLanes; ++lane) take(lane, sign * row[i + lane]);
    for (std::size_t lane = 0; i < row.size(); ++i, ++lane) take(lane, sign * row[i]);
    std::size_t not_numbers = 0;
    for (std::size_t k = 0; k < row.size(); ++k) not_numbers += row[k] != row[k] ? 1 : 0;
    for (std::size_t lane = 1; lane < vectors::kLanes; ++lane) take(0, best[lane]);
    return not_numbers > 0 ? kNaN : sign * best[0];
}

double sum_of(std::span<const double> row) {
    return vectors::added_up(
        row.size(), [&](std::size_t i) __attribute__((always_inline)) { return row[i]; });
}

double sum_of_products(std::span<const double> a, const double* b) {
    return vectors::added_up(
        a.size(), [&](std::size_t i) __attribute__((always_inline)) { return a[i] * b[i]; });
}

}  // namespace

bool only_chooses(Op op) {
    constexpr std::array kChoices = {Op::negate,     Op::abs,      Op::min,           Op::max,
                                     Op::stop,       Op::choose,   Op::bracket,       Op::less,
                                     Op::less_equal, Op::greater,  Op::greater_equal, Op::equal,
                                     Op::not_equal,  Op::negation, Op::both,          Op::either};
    return std::ranges::find(kChoices, op) != kChoices.end();
}

bool rounds_once(Op op) {
    constexpr std::array kOnce = {Op::add, Op::subtract, Op::multiply, Op::divide, Op::root};
    return std::ranges::find(kOnce, op) != kOnce.end();
}

double value_of(Op op, double a, double b) {
    double value = kNaN;
    with<Exact>(op, [&](const auto& of) { value = of(a, b); });
    return value;
}

void apply(Op op, const double* a, double b, std::span<double> out) {
    // A division takes as long as many products, and only by a power of 2 is one as exact: 49 · (1 / 49) is below 1.
    int exponent = 0;
    const double reciprocal = 1.0 / b;
    const bool product = op == Op::divide && std::abs(std::frexp(b, &exponent)) == 0.5 && std::isfinite(reciprocal);
    on_this_cpu<apply_number_to_row<double>>(product ? Op::multiply : op, a, product ? reciprocal : b, out);
    if (op != Op::quotient && op != Op::remainder) return;
    for (std::size_t i = 0; i < out.size(); ++i)
        if (!are_whole(a[i], b)) out[i] = value_of(op, a[i], b);
}
void apply(Op op, const double* a, const double* b, std::span<double> out) {
    on_this_cpu<apply_to_row<double>>(op, a, b, out);
    const bool turns = op == Op::sin || op == Op::cos;
    if (!turns && op != Op::quotient && op != Op::remainder) return;
    for (std::size_t i = 0; i < out.size(); ++i)
        if (turns ? std::abs(a[i]) > vectors::kFarthestAngle : !are_whole(a[i], b[i]))
            out[i] = value_of(op, a[i], b[i]);
}

void apply(Op op, const float* a, const float* b, std::span<float> out) {
    on_this_cpu<apply_to_row<float>>(op, a, b, out);
}
void apply(Op op, const float* a, float b, std::span<float> out) {
    on_this_cpu<apply_number_to_row<float>>(op, a, b, out);
}

void choose(const double* condition, const double* a, const double* b, std::span<double> out) {
    on_this_cpu<choose_in_row<double>>(condition, a, b, out);
}
void choose(const float* condition, const float* a, const float* b, std::span<float> out) {
    on_this_cpu<choose_in_row<float>>(condition, a, b, out);
}
void convert(const float* from, std::span<double> to) { on_this_cpu<convert_row<float, double>>(from, to); }
void convert(const double* from, std::span<float> to) { on_this_cpu<convert_row<double, float>>(from, to); }

bool better(Fold fold, double x, double best) {
    if (std::isnan(best)) return false;
    return std::isnan(x) || (fold == Fold::min ? x < best : x > best);
}

Folded::Folded(Fold of)
    : value(is_sum(of)            ? 0.0
            : of == Fold::product ? 1.0
            : of == Fold::min     ? std::numeric_limits<double>::infinity()
                                  : -std::numeric_limits<double>::infinity()) {}

void Folded::take(Fold of, std::span<const double> row, Index first) {
    if (is_sum(of)) {
        value += on_this_cpu<sum_of>(row);
        return;
    }
    if (of == Fold::product) {
        for (const double x : row) value *= x;
        return;
    }
    if (of != Fold::argmax) {  // whose place is wanted, too
        const double best = on_this_cpu<highest_of>(row, of == Fold::min ? -1.0 : 1.0);
        if (better(of, best, value)) value = best;
        return;
    }
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (!better(of, row[i], value)) continue;
        value = row[i];
        where = first + static_cast<Index>(i);
    }
}

void Folded::take_products(std::span<const double> a, const double* b) { value += on_this_cpu<sum_of_products>(a, b); }

double Folded::result(Fold of, Index size) const {
    if (of == Fold::mean) return value / static_cast<double>(size);
    return of == Fold::argmax ? static_cast<double>(where) : value;
}

}  // namespace decoderscope::formulas

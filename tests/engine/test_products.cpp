// Matrix products: right for any shape and any kernel, and the same bits from any number of threads.
#include "engine/base/parallel.h"
#include "engine/base/random.h"
#include "engine/products/heads.h"
#include "engine/products/linalg.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::products;

namespace {

std::vector<float> numbers(Index count, std::string_view name) {
    const RandomStream random(7, name);
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(random.normal(i));
    return values;
}

struct Shape {
    Index m, k, n;
};

// Small and large, odd and even, one row and many, wider than one slice of a packed weight, longer than one piece of
// rows.
const std::vector<Shape> kShapes = {{1, 1, 1},     {3, 5, 7},      {14, 8, 14},    {39, 32, 29},    {900, 32, 48},
                                    {1, 64, 64},   {17, 64, 256},  {16, 50, 41},   {1, 100, 900},   {5, 129, 1000},
                                    {70, 33, 770}, {128, 64, 128}, {40, 256, 385}, {300, 130, 200}, {600, 330, 200}};

// The largest error of out = scale · a · bᵀ + bias, relative to Σ |a| |b|, with which rounding errors grow.
double largest_error(const Shape& s, const std::vector<float>& a, const std::vector<float>& b,
                     const std::vector<float>& out, double scale, const float* bias) {
    double worst = 0.0;
    for (Index i = 0; i < s.m; ++i) {
        for (Index j = 0; j < s.n; ++j) {
            double sum = bias != nullptr ? static_cast<double>(bias[j]) : 0.0, size = 1e-30;
            for (Index c = 0; c < s.k; ++c) {
                const double product = scale * static_cast<double>(a[static_cast<std::size_t>(i * s.k + c)]) *
                                       static_cast<double>(b[static_cast<std::size_t>(j * s.k + c)]);
                sum += product;
                size += std::abs(product);
            }
            worst = std::max(worst, std::abs(static_cast<double>(out[static_cast<std::size_t>(i * s.n + j)]) - sum) /
                                        (size + std::abs(sum)));
        }
    }
    return worst;
}

// {columns, rows} of a matrix.
std::vector<float> turned(const std::vector<float>& matrix, Index rows, Index columns) {
    std::vector<float> by_column(matrix.size());
    for (Index r = 0; r < rows; ++r)
        for (Index c = 0; c < columns; ++c)
            by_column[static_cast<std::size_t>(c * rows + r)] = matrix[static_cast<std::size_t>(r * columns + c)];
    return by_column;
}

std::vector<float> by_weight(const Shape& s, const std::vector<float>& x, const Tensor& weight, const float* bias) {
    std::vector<float> out(static_cast<std::size_t>(s.m * s.n));
    multiply_weight({x.data(), s.m, s.k, s.k}, weight, bias, {out.data(), s.m, s.n, s.n});
    return out;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("every product equals the sum that defines it") {
    for (const Shape& s : kShapes) {
        INFO(s.m << " x " << s.k << " x " << s.n << " by " << products_by());
        const std::vector<float> a = numbers(s.m * s.k, "a"), b = numbers(s.n * s.k, "b"), bias = numbers(s.n, "bias");
        const Tensor weight({{axis::out, s.n}, {axis::in, s.k}}, b);
        const double rounding = 1e-7 * std::sqrt(static_cast<double>(s.k) + 4.0);
        CHECK(largest_error(s, a, b, by_weight(s, a, weight, nullptr), 1.0, nullptr) < rounding);
        CHECK(largest_error(s, a, b, by_weight(s, a, weight, bias.data()), 1.0, bias.data()) < rounding);

        std::vector<float> out(static_cast<std::size_t>(s.m * s.n));
        multiply_transposed({a.data(), s.m, s.k, s.k}, {b.data(), s.n, s.k, s.k}, {out.data(), s.m, s.n, s.n}, 0.3F);
        CHECK(largest_error(s, a, b, out, static_cast<double>(0.3F), nullptr) < 2 * rounding);

        const std::vector<float> b_turned = turned(b, s.n, s.k);  // b as [k, n]
        multiply({a.data(), s.m, s.k, s.k}, {b_turned.data(), s.k, s.n, s.n}, {out.data(), s.m, s.n, s.n});
        CHECK(largest_error(s, a, b, out, 1.0, nullptr) < rounding);

        std::ranges::fill(out, 0.0F);
        multiply_in_parallel({a.data(), s.m, s.k, s.k}, {b_turned.data(), s.k, s.n, s.n}, {out.data(), s.m, s.n, s.n});
        CHECK(largest_error(s, a, b, out, 1.0, nullptr) < rounding);
        if (rows_stand_alone(s.k, s.n)) {
            std::vector<float> by_one(out.size());
            const ThreadLimit one(1);
            multiply_in_parallel({a.data(), s.m, s.k, s.k}, {b_turned.data(), s.k, s.n, s.n},
                                 {by_one.data(), s.m, s.n, s.n});
            CHECK(same_bits(out, by_one));
        }

        std::ranges::fill(out, 0.0F);
        const std::vector<float> by_column = turned(a, s.m, s.k);  // a as [k, m]
        multiply_turned({by_column.data(), s.k, s.m, s.m}, {b_turned.data(), s.k, s.n, s.n},
                        {out.data(), s.m, s.n, s.n});
        CHECK(largest_error(s, a, b, out, 1.0, nullptr) < rounding);
    }
}

TEST_CASE("a product by a weight has the same bits from one thread as from all") {
    for (const Shape& s : kShapes) {
        INFO(s.m << " x " << s.k << " x " << s.n << " by " << products_by());
        const std::vector<float> x = numbers(s.m * s.k, "x"), bias = numbers(s.n, "bias");
        const Tensor weight({{axis::out, s.n}, {axis::in, s.k}}, numbers(s.n * s.k, "weight"));
        const std::vector<float> all = by_weight(s, x, weight, bias.data());
        const ThreadLimit one(1);
        // Where rows aren't independent, their split among the threads shows in the last bits.
        if (weight_rows_stand_alone(s.k, s.n)) CHECK(same_bits(all, by_weight(s, x, weight, bias.data())));
    }
}

TEST_CASE("where rows stand alone, some of them are the same bits as all of them") {
    for (const Shape& s : kShapes) {
        INFO(s.m << " x " << s.k << " x " << s.n << " by " << products_by());
        const std::vector<float> x = numbers(s.m * s.k, "x"), b = numbers(s.n * s.k, "weight");
        const Tensor weight({{axis::out, s.n}, {axis::in, s.k}}, b);
        const std::vector<float> b_turned = turned(b, s.n, s.k);  // [k, n]
        const auto by_matrix = [&](Index rows, const std::vector<float>& a) {
            std::vector<float> out(static_cast<std::size_t>(2 * rows * s.n));
            float* const second = out.data() + rows * s.n;
            multiply_transposed({a.data(), rows, s.k, s.k}, {b.data(), s.n, s.k, s.k}, {out.data(), rows, s.n, s.n},
                                0.3F);
            multiply({a.data(), rows, s.k, s.k}, {b_turned.data(), s.k, s.n, s.n}, {second, rows, s.n, s.n});
            return out;
        };
        // Of both products, the rows from one on.
        const auto rows_of_both = [&](const std::vector<float>& both, Index from) {
            std::vector<float> rows;
            for (const Index product : {Index{0}, s.m})
                rows.insert(rows.end(), both.begin() + (product + from) * s.n, both.begin() + (product + s.m) * s.n);
            return rows;
        };
        const std::vector<float> weighted = by_weight(s, x, weight, nullptr), products = by_matrix(s.m, x);
        for (const Index from : {s.m - 1, s.m - std::min<Index>(s.m, 6), s.m / 2, s.m / 3}) {
            const std::vector<float> rows(x.begin() + from * s.k, x.end());
            if (weight_rows_stand_alone(s.k, s.n))
                CHECK(same_bits(by_weight({s.m - from, s.k, s.n}, rows, weight, nullptr),
                                {weighted.begin() + from * s.n, weighted.end()}));
            if (rows_stand_alone(s.k, s.n)) CHECK(same_bits(by_matrix(s.m - from, rows), rows_of_both(products, from)));
        }
    }
}

TEST_CASE("a product into heads and out of them is the product, and its numbers moved") {
    // One row of a batch, long ones, short ones, and heads of an odd size.
    for (const Heads& h : {Heads{1, 3, 17, 64}, Heads{2, 2, 150, 128}, Heads{2, 2, 5, 64}, Heads{1, 2, 40, 50}}) {
        INFO(h.batch << " x " << h.heads << " x " << h.positions << " x " << h.d_head);
        const Index rows = h.batch * h.positions, width = h.heads * h.d_head, other = 100;
        const std::vector<float> bias = numbers(std::max(width, other), "bias");

        const std::vector<float> x = numbers(rows * other, "x");
        const Tensor in({{axis::out, width}, {axis::in, other}}, numbers(width * other, "in"));
        std::vector<float> parted(static_cast<std::size_t>(rows * width)), straight = parted;
        part_heads(h, by_weight({rows, other, width}, x, in, bias.data()).data(), parted.data());
        project_to_heads(x.data(), in, bias.data(), h, straight.data());
        CHECK(same_bits(straight, parted));

        const Tensor back({{axis::out, other}, {axis::in, width}}, numbers(other * width, "back"));
        std::vector<float> beside(parted.size()), out(static_cast<std::size_t>(rows * other));
        join_heads(h, parted.data(), beside.data());
        project_from_heads(h, parted.data(), back, bias.data(), out.data());
        CHECK(same_bits(out, by_weight({rows, width, other}, beside, back, bias.data())));
    }
}

TEST_CASE("a changed weight is packed again") {
    for (const Shape& s : {Shape{4, 8, 24}, Shape{4, 64, 64}}) {  // by our own kernel, and by oneDNN
        const std::vector<float> x = numbers(s.m * s.k, "x");
        Tensor weight({{axis::out, s.n}, {axis::in, s.k}}, numbers(s.n * s.k, "weight"));
        const std::vector<float> before = by_weight(s, x, weight, nullptr);
        for (float& value : weight.writable()) value = -value;
        const std::vector<float> after = by_weight(s, x, weight, nullptr);
        for (std::size_t i = 0; i < after.size(); ++i) CHECK(after[i] == -before[i]);
    }
}

TEST_CASE("a weight of which only the packed form is kept is the weight, bit for bit") {
    for (const Shape& s : kShapes) {
        const Tensor weight({{axis::out, s.n}, {axis::in, s.k}}, numbers(s.n * s.k, "weight"));
        const std::vector<float> x = numbers(s.m * s.k, "x"), bias = numbers(s.n, "bias");
        const Tensor packed = packed_for_products(weight);
        CHECK(same_bits(by_weight(s, x, packed, bias.data()), by_weight(s, x, weight, bias.data())));
        CHECK(packed.axes() == weight.axes());
        std::vector<float> some(static_cast<std::size_t>(std::min<Index>(s.n * s.k - 1, s.k + 3)));
        packed.copy(1, some);  // from the packed form
        CHECK(std::ranges::equal(some, weight.values().subspan(1, some.size())));
        CHECK(std::ranges::equal(packed.values(), weight.values()));
        Tensor changed = packed;
        changed.writable()[0] += 1.0F;
        CHECK(packed.values()[0] == weight.values()[0]);
    }
}

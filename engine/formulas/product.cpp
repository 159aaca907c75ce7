#include "engine/formulas/product.h"

#include "engine/base/parallel.h"
#include "engine/products/linalg.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::formulas {
namespace {

// Fewer multiply-adds than these aren't worth a product's preparation.
constexpr Index kWorthIt = 4096;

bool is_index(const Code& code, std::size_t place) { return code.kind == Code::Kind::index && code.which == place; }

// An operand as its product reads it: which of its axes is summed over, and which one has an index of the output.
struct Factor {
    const Code* read = nullptr;
    const float* numbers = nullptr;
    const Tensor* tensor = nullptr;
    const Shape* shape = nullptr;
    std::vector<Index> strides{};
    std::size_t summed = 0;
    std::optional<std::size_t> own{};

    [[nodiscard]] bool is_last(std::optional<std::size_t> axis) const { return axis && *axis + 1 == shape->size(); }
    // Gives the axis that this place alone chooses; nothing if another index depends on it, too.
    [[nodiscard]] std::optional<std::size_t> axis_of(std::size_t place) const {
        std::optional<std::size_t> found;
        for (std::size_t i = 0; i < read->in.size(); ++i) {
            if ((read->in[i].uses & bit(place)) == 0) continue;
            if (found || !is_index(read->in[i], place)) return std::nullopt;
            found = i;
        }
        return found;
    }
};

// The value of an index expression that reads no tensor.
double value_at(const Code& code, std::span<const Index> scope) {
    if (code.kind == Code::Kind::number) return code.value;
    if (code.kind == Code::Kind::index) return static_cast<double>(scope[code.which]);
    const double a = value_at(code.in[0], scope);
    return value_of(code.op, a, code.in.size() > 1 ? value_at(code.in[1], scope) : 0.0);
}
bool reads_nothing(const Code& code) {
    return code.kind == Code::Kind::number || code.kind == Code::Kind::index ||
           (code.kind == Code::Kind::apply && code.op != Op::choose && std::ranges::all_of(code.in, reads_nothing));
}

// The factor of a sum's body that depends on its index, if it is the only one of a product, of a quotient's numerator,
// or of a number's opposite; nothing otherwise.
std::optional<std::size_t> only_summed(const Code& body, std::uint64_t summed) {
    if (!body.is(Op::multiply) && !body.is(Op::divide) && !body.is(Op::negate)) return std::nullopt;
    const std::size_t inner = (body.in[0].uses & summed) != 0 ? 0 : 1;
    if (inner == 1 && !body.is(Op::multiply)) return std::nullopt;
    if (body.in.size() > 1 && (body.in[1 - inner].uses & summed) != 0) return std::nullopt;
    return inner;
}
bool is_product(const Code& body, std::uint64_t summed) {
    return body.is(Op::multiply) && (body.in[0].uses & body.in[1].uses & summed) != 0;
}
// Whether it is the product of two operands, with what doesn't depend on the index around it.
bool has_product(const Code& body, std::uint64_t summed) {
    if (is_product(body, summed))
        return body.in[0].kind == Code::Kind::operand && body.in[1].kind == Code::Kind::operand;
    const auto inner = only_summed(body, summed);
    return inner && has_product(body.in[*inner], summed);
}

class Finder {
public:
    Finder(const Shape& shape, const Operands& operands, std::size_t first, std::vector<Product>& products)
        : sizes_(sizes_of(shape)), operands_(operands), first_(first), products_(products) {}

    Code rewritten(Code code) {
        if (code.kind == Code::Kind::reduce && code.fold == Fold::sum) {
            reduction_ = &code;
            if (auto found = outside(code.in[0])) return std::move(*found);
        }
        // The index of a reduction around a product chooses among many of them.
        if (code.kind == Code::Kind::reduce) sizes_.push_back(code.size);
        for (Code& child : code.in) child = rewritten(std::move(child));
        if (code.kind == Code::Kind::reduce) sizes_.pop_back();
        return code;
    }

private:
    // The body of the sum without the sum: what doesn't depend on its index around the product of what does.
    std::optional<Code> outside(const Code& body) {
        const std::uint64_t summed = bit(reduction_->which);
        if (is_product(body, summed)) return product(body.in[0], body.in[1]);
        const auto inner = only_summed(body, summed);
        auto made = inner ? outside(body.in[*inner]) : std::nullopt;
        if (!made) return std::nullopt;
        Code around = body;
        around.in[*inner] = std::move(*made);
        around.uses &= ~summed;
        return around;
    }

    std::optional<Factor> factor(const Code& read) const {
        if (read.kind != Code::Kind::operand || !std::ranges::all_of(read.in, reads_nothing)) return std::nullopt;
        const Operand& operand = operands_[read.which];
        Factor f{.read = &read, .shape = &operand.shape, .strides = strides_of(sizes_of(operand.shape))};
        if (const auto* tensor = std::get_if<const Tensor*>(&operand.numbers)) {
            f.numbers = (*tensor)->data();
            f.tensor = *tensor;
        } else if (const auto* floats = std::get_if<std::span<const float>>(&operand.numbers)) {
            f.numbers = floats->data();
        }
        const auto summed = f.axis_of(reduction_->which);
        if (f.numbers == nullptr || !summed || operand.shape[*summed].size != reduction_->size) return std::nullopt;
        f.summed = *summed;
        return f;
    }

    // The last of the output's places that `a` alone has, as an index by itself.
    [[nodiscard]] std::optional<std::size_t> place_of(const Factor& a, const Factor& b) const {
        for (std::size_t place = sizes_.size(); place-- > 0;)
            if (const auto axis = a.axis_of(place);
                axis && (b.read->uses & bit(place)) == 0 && (*a.shape)[*axis].size == sizes_[place])
                return place;
        return std::nullopt;
    }

    std::optional<Code> product(const Code& left, const Code& right) {
        auto a = factor(left), b = factor(right);
        if (!a || !b) return std::nullopt;
        auto columns = place_of(*b, *a), rows = place_of(*a, *b);
        if (!columns || (rows && *rows > *columns)) {
            std::swap(a, b);
            std::swap(columns, rows);
        }
        if (!columns) return std::nullopt;
        if (rows) a->own = a->axis_of(*rows);
        b->own = b->axis_of(*columns);
        const bool turned = !a->is_last(a->summed);
        if ((turned && !a->is_last(a->own)) || (!b->is_last(b->summed) && !b->is_last(b->own)) ||
            (turned && b->is_last(b->summed)))
            return std::nullopt;
        return computed(*a, *b, rows, *columns);
    }

    std::optional<Code> computed(const Factor& a, const Factor& b, std::optional<std::size_t> rows,
                                 std::size_t columns) {
        Product made;
        Code read{.kind = Code::Kind::result, .which = first_ + products_.size()};
        Index pairs = 1;
        std::vector<std::size_t> places;
        for (std::size_t place = 0; place < sizes_.size(); ++place)
            if (((a.read->uses | b.read->uses) & bit(place)) != 0 && place != columns && place != rows)
                places.push_back(place);
        const std::size_t each = places.size();
        if (rows) places.push_back(*rows);
        places.push_back(columns);
        for (const std::size_t place : places) {
            if (made.sizes.size() < each) pairs *= sizes_[place];
            made.sizes.push_back(sizes_[place]);
            read.in.push_back({.kind = Code::Kind::index, .which = place, .uses = bit(place), .hash = place + 1});
            read.uses |= bit(place);
        }
        read.hash = mixed(read.which, 0x70726f64);
        const Index m = rows ? sizes_[*rows] : 1, n = sizes_[columns], k = reduction_->size;
        if (pairs * m * n * k < kWorthIt) return std::nullopt;
        made.numbers = floats(pairs * m * n);
        each_in_parallel(pairs, m * n * k, [&](Index pair) {
            std::vector<Index> scope(sizes_.size(), 0);
            Index rest = pair;
            for (std::size_t i = each; i-- > 0; rest /= made.sizes[i]) scope[places[i]] = rest % made.sizes[i];
            multiply(a, b, scope, {made.numbers.get() + pair * m * n, m, n, n});
        });
        products_.push_back(std::move(made));
        return read;
    }

    void multiply(const Factor& a, const Factor& b, std::span<const Index> scope, products::Matrix out) const {
        const Index k = reduction_->size;
        const float *left = begin(a, scope), *right = begin(b, scope);
        if (left == nullptr || right == nullptr) {
            std::fill_n(out.data, out.rows * out.columns, static_cast<float>(kNaN));
            return;
        }
        const Index a_stride = a.own ? a.strides[*a.own] : k;
        if (!a.is_last(a.summed))
            products::multiply_turned({left, k, out.rows, a.strides[a.summed]},
                                      {right, k, out.columns, b.strides[b.summed]}, out);
        else if (!b.is_last(b.summed))
            products::multiply({left, out.rows, k, a_stride}, {right, k, out.columns, b.strides[b.summed]}, out);
        else if (b.tensor != nullptr && b.tensor->rank() == 2)
            products::multiply_weight({left, out.rows, k, a_stride}, *b.tensor, nullptr, out);
        else
            products::multiply_transposed({left, out.rows, k, a_stride}, {right, out.columns, k, b.strides[*b.own]},
                                          out);
    }

    // Where the matrix begins; null if that is outside.
    static const float* begin(const Factor& f, std::span<const Index> scope) {
        Index at = 0;
        for (std::size_t i = 0; i < f.read->in.size(); ++i) {
            if (i == f.summed || i == f.own) continue;
            const Index index = index_of(value_at(f.read->in[i], scope));
            if (index < 0 || index >= (*f.shape)[i].size) return nullptr;
            at += index * f.strides[i];
        }
        return f.numbers + at;
    }

    std::vector<Index> sizes_;  // of the places in scope
    const Operands& operands_;
    std::size_t first_;
    std::vector<Product>& products_;
    const Code* reduction_ = nullptr;
};

}  // namespace

bool may_have_products(const Code& code) {
    const bool sum = code.kind == Code::Kind::reduce && code.fold == Fold::sum;
    return (sum && has_product(code.in[0], bit(code.which))) || std::ranges::any_of(code.in, may_have_products);
}

Code with_products(const Code& code, const Shape& shape, const Operands& operands, std::size_t first,
                   std::vector<Product>& products) {
    return Finder(shape, operands, first, products).rewritten(code);
}

}  // namespace decoderscope::formulas

#include "engine/formulas/evaluate.h"

#include "engine/formulas/matrices.h"
#include "engine/formulas/whole.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

namespace decoderscope::formulas {
namespace {

// The values of the indices in scope: those on the left first, then the reductions', the innermost last.
using Scope = std::vector<Index>;

// A sum whose rounding errors are added up beside it.
class Sum {
public:
    void add(double x) {
        const double t = sum_ + x;
        if (std::isfinite(t)) rest_ += std::abs(sum_) >= std::abs(x) ? (sum_ - t) + x : (x - t) + sum_;
        sum_ = t;
    }
    [[nodiscard]] double value() const { return std::isfinite(sum_) ? sum_ + rest_ : sum_; }

private:
    double sum_ = 0.0, rest_ = 0.0;
};

// Nothing if the cell is outside.
std::optional<std::size_t> offset_in(const Shape& shape, std::span<const Index> cell) {
    std::size_t offset = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (cell[i] < 0 || cell[i] >= shape[i].size) return std::nullopt;
        offset = offset * static_cast<std::size_t>(shape[i].size) + static_cast<std::size_t>(cell[i]);
    }
    return offset;
}

// The next cell, row by row; false after the last one.
bool advance(Scope& cell, const Shape& shape) {
    for (std::size_t i = shape.size(); i-- > 0;) {
        if (++cell[i] < shape[i].size) return true;
        cell[i] = 0;
    }
    return false;
}

}  // namespace

class Evaluator::Machine {
public:
    Machine(const Formula& formula, const Operands& operands, const Known& known, std::optional<Manner> manner)
        : formula_(formula), operands_(operands), coder_(formula_, names_of(operands), known), manner_(manner) {
        std::size_t i = 0;
        std::vector<CodedDefinition> parts = coder_.parts();
        for (const Definition* d : definitions(formula_)) results_.push_back({d, std::move(parts[i++])});
    }
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    [[nodiscard]] const Formula& formula() const { return formula_; }

    [[nodiscard]] double main_cell(std::span<const Index> cell) { return read(results_.size() - 1, cell); }

    void all(Computation::Numbers to, const std::stop_token& stop) {
        std::vector<CodedDefinition> parts;
        std::vector<Computation::Recurrence> recurrences;
        for (Result& r : results_) {
            if (r.part.start && r.whole.empty()) fill(r, stop);
            parts.push_back(r.part);
            recurrences.push_back({r.whole, outside(r)});
        }
        const Result& main = results_.back();
        if (main.part.start) {
            const auto copy = [&](auto out) {
                for (std::size_t i = 0; i < out.size(); ++i)
                    out[i] = static_cast<typename decltype(out)::value_type>(main.whole[i]);
            };
            std::visit(copy, to);
            return;
        }
        std::vector<Shape> shapes;
        for (const Operand& operand : operands_) shapes.push_back(operand.shape);
        Computation(std::move(parts), std::move(shapes)).run(operands_, to, stop, recurrences);
    }

    [[nodiscard]] double value_of_part(const Expr& part, const Definition& of, Scope& scope) {
        Code& code = parts_[{part.get(), &of}];
        if (code.in.empty()) code = coder_.code_of(part, of, scope.size());
        return value(code, scope);
    }

    [[nodiscard]] double read_operand(std::size_t operand, std::span<const Index> cell) const {
        const Operand& o = operands_[operand];
        const auto offset = offset_in(o.shape, cell);
        if (!offset) return kNaN;
        const auto number_in = [&](const auto& numbers) {
            if constexpr (requires { numbers->rank(); }) {
                Cell at(cell.begin(), cell.end());
                at.resize(numbers->rank());  // its last axes may have length 1
                return static_cast<double>(numbers->at(at));
            } else {
                return static_cast<double>(numbers[*offset]);
            }
        };
        return std::visit(number_in, o.numbers);
    }

    [[nodiscard]] double read(std::size_t result, std::span<const Index> cell) {
        Result& r = results_[result];
        const auto offset = offset_in(r.part.shape, cell);
        if (!offset) return outside(r);
        if (r.part.start) {
            if (r.whole.empty()) fill(r, {});
            return r.whole[*offset];
        }
        if (const auto found = r.known.find(*offset); found != r.known.end()) return found->second;
        Scope scope(cell.begin(), cell.end());
        const bool outside = std::exchange(in_product_, false);
        const double v = value(r.part.code, scope);
        in_product_ = outside;
        results_[result].known.emplace(*offset, v);
        return v;
    }

    [[nodiscard]] std::optional<std::size_t> operand_named(const std::string& name) const {
        return coder_.operand_named(name);
    }

private:
    struct Result {
        const Definition* definition;
        CodedDefinition part;
        std::unordered_map<std::size_t, double> known{};
        std::vector<double> whole{};  // of a recurrence
    };

    static std::vector<std::string> names_of(const Operands& operands) {
        std::vector<std::string> names;
        for (const Operand& operand : operands) names.push_back(operand.name);
        return names;
    }

    // What a cell outside of it is worth.
    [[nodiscard]] double outside(const Result& r) {
        Scope none;
        return r.part.start ? value(*r.part.start, none) : kNaN;
    }

    [[nodiscard]] double value(const Code& c, Scope& scope) {
        switch (c.kind) {
            case Code::Kind::number:
                return c.value;
            case Code::Kind::index:
                return static_cast<double>(scope[c.which]);
            case Code::Kind::operand:
                return read_operand(c.which, cell_of(c, scope));
            case Code::Kind::result:
                return read(c.which, cell_of(c, scope));
            case Code::Kind::reduce:
                return kept(c, scope);
            case Code::Kind::apply:
                break;
        }
        if (c.op == Op::choose) return value(c.in[value(c.in[0], scope) != 0.0 ? 1 : 2], scope);
        if ((c.op == Op::multiply || c.op == Op::divide) && is_switched_off(c, scope)) return 0.0;
        const double a = argument(c, 0, scope);
        return stored(value_of(c.op, a, c.in.size() > 1 ? argument(c, 1, scope) : 0.0), c);
    }

    // ---- In another manner

    [[nodiscard]] double rounded_once(double x) const {
        return static_cast<double>(rounded(static_cast<float>(x), manner_->type));
    }
    [[nodiscard]] bool rounds_each() const { return manner_ && manner_->each && !in_product_; }
    // An operation's result, as it is stored before the next reads it.
    [[nodiscard]] double stored(double x, const Code& c) {
        return rounds_each() && reads_operand(c) ? rounded_once(x) : x;
    }
    // A table that is computed in float32 (RoPE's cosines) is stored in the type; a constant may be part of the
    // operation.
    [[nodiscard]] double argument(const Code& c, std::size_t which, Scope& scope) {
        const Code& in = c.in[which];
        const double x = value(in, scope);
        const bool is_given = rounds_each() && reads_operand(c) && !reads_operand(in);
        return is_given && (in.uses != 0 || manner_->constants) ? rounded_once(x) : x;
    }
    [[nodiscard]] bool reads_operand(const Code& c) {
        if (c.kind == Code::Kind::operand) return true;
        if (c.kind == Code::Kind::number || c.kind == Code::Kind::index) return false;
        if (const auto known = reads_.find(&c); known != reads_.end()) return known->second;
        const bool by_definition = c.kind == Code::Kind::result && reads_operand(results_[c.which].part.code);
        return reads_[&c] =
                   by_definition || (c.kind != Code::Kind::result &&
                                     std::ranges::any_of(c.in, [this](const Code& in) { return reads_operand(in); }));
    }
    [[nodiscard]] bool is_constant(const Code& c) { return c.uses == 0 && !reads_operand(c); }
    [[nodiscard]] bool is_product(const Code& c) {
        if (c.kind != Code::Kind::apply) return c.kind != Code::Kind::reduce;
        return is_constant(c) || ((c.op == Op::multiply || c.op == Op::divide || c.op == Op::bracket) &&
                                  std::ranges::all_of(c.in, [this](const Code& in) { return is_product(in); }));
    }
    // A matrix product: a sum of products of two numbers or more.
    [[nodiscard]] bool is_matrix_product(const Code& c) {
        return manner_ && c.fold == Fold::sum && c.in[0].kind == Code::Kind::apply && is_product(c.in[0]);
    }
    [[nodiscard]] double product(const Code& c, Scope& scope) {
        const Code& body = c.in[0];
        const bool has_constant = body.in.size() == 2 && is_constant(body.in[1]);
        const double sum = sum_of_products(c, has_constant ? body.in[0] : body, scope);
        if (!has_constant) return sum;
        // It is multiplied by a constant afterwards.
        const double constant = value(body.in[1], scope);
        return stored(value_of(body.op, sum, rounds_each() && manner_->constants ? rounded_once(constant) : constant),
                      c);
    }
    [[nodiscard]] double sum_of_products(const Code& c, const Code& body, Scope& scope) {
        const bool outside = std::exchange(in_product_, true);
        Sum part;
        double before = 0.0;
        scope.push_back(0);
        for (Index i = 0; i < c.size; ++i) {
            scope.back() = i;
            part.add(value(body, scope));
            const bool ends = manner_->sums == Manner::Sums::one_by_one ||
                              (manner_->sums == Manner::Sums::in_halves && i + 1 == c.size / 2);
            if (!ends) continue;
            before = rounded_once(before + rounded_once(part.value()));
            part = Sum();
        }
        scope.pop_back();
        in_product_ = outside;
        if (manner_->sums == Manner::Sums::whole) return stored(part.value(), c);
        return rounded_once(before + rounded_once(part.value()));
    }

    // Whether a factor of the product, also above a quotient's bar, is a condition that doesn't hold.
    [[nodiscard]] bool is_switched_off(const Code& c, Scope& scope) {
        if (c.is(Op::bracket)) return value(c.in[0], scope) == 0.0;
        if (c.kind != Code::Kind::apply || (c.op != Op::multiply && c.op != Op::divide)) return false;
        return is_switched_off(c.in[0], scope) || (c.op == Op::multiply && is_switched_off(c.in[1], scope));
    }

    [[nodiscard]] std::vector<Index> cell_of(const Code& c, Scope& scope) {
        std::vector<Index> cell;
        for (const Code& i : c.in) cell.push_back(index_of(value(i, scope)));
        return cell;
    }

    // A reduction that doesn't depend on the index that moves is computed once, not for each of its values.
    [[nodiscard]] double kept(const Code& c, Scope& scope) {
        if (scope.empty() || (c.uses & bit(scope.size() - 1)) != 0) return reduced(c, scope);
        Scope at;
        for (std::size_t place = 0; place < scope.size(); ++place)
            if ((c.uses & bit(place)) != 0) at.push_back(scope[place]);
        if (const auto found = kept_.find(&c);
            found != kept_.end() && found->second.in_product == in_product_ && found->second.at == at)
            return found->second.value;
        const double made = reduced(c, scope);
        kept_[&c] = {std::move(at), in_product_, made};
        return made;
    }

    [[nodiscard]] double reduced(const Code& c, Scope& scope) {
        if (is_matrix_product(c)) return product(c, scope);
        Sum sum;
        double best =
            c.fold == Fold::min ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
        double product = 1.0;
        Index where = 0;
        scope.push_back(0);
        for (Index i = 0; i < c.size; ++i) {
            scope.back() = i;
            const double x = value(c.in[0], scope);
            sum.add(x);
            product *= x;
            if (i == 0 || better(c.fold, x, best)) {
                best = x;
                where = i;
            }
        }
        scope.pop_back();
        if (c.fold == Fold::sum) return stored(sum.value(), c);
        if (c.fold == Fold::product) return stored(product, c);
        if (c.fold == Fold::mean) return stored(sum.value() / static_cast<double>(c.size), c);
        return c.fold == Fold::argmax ? static_cast<double>(where) : best;
    }

    // All steps of a recurrence in their order: forwards, or backwards if it reads what comes later.
    void fill(Result& r, const std::stop_token& stop) {
        r.whole.assign(count_of(r.part.shape), kNaN);
        if (r.whole.empty()) return;
        if (r.part.code.is_of_matrix()) return fill_matrices(r, stop);
        const auto [axis, backwards] = direction_of(formula_, *r.definition);
        Shape slab = r.part.shape;
        slab[axis].size = 1;
        for (Index step = 0; step < r.part.shape[axis].size; ++step) {
            Scope cell(r.part.shape.size(), 0);
            do {
                stop_if_asked(stop);
                Scope scope = cell;
                scope[axis] = backwards ? r.part.shape[axis].size - 1 - step : step;
                const std::size_t offset = *offset_in(r.part.shape, scope);
                r.whole[offset] = value(r.part.code, scope);
            } while (advance(cell, slab));
        }
    }

    // The matrices of the last two axes, then what is made of each.
    void fill_matrices(Result& r, const std::stop_token& stop) {
        Scope cell(r.part.shape.size(), 0);
        std::vector<double> numbers(r.whole.size());
        std::size_t at = 0;
        do {
            stop_if_asked(stop);
            Scope scope = cell;
            numbers[at++] = value(r.part.code.in[0], scope);
        } while (advance(cell, r.part.shape));
        const Index rows = (r.part.shape.end() - 2)->size, columns = r.part.shape.back().size;
        const auto size = static_cast<std::size_t>(rows * columns);
        for (std::size_t first = 0; first < numbers.size(); first += size) {
            stop_if_asked(stop);
            compute(r.part.code.op, std::span(numbers).subspan(first, size), rows);
        }
        r.whole = std::move(numbers);
    }

    Formula formula_;
    const Operands& operands_;
    Coder coder_;
    std::vector<Result> results_;
    std::optional<Manner> manner_;
    bool in_product_ = false;                        // what is computed now is a matrix product's summand
    std::unordered_map<const Code*, bool> reads_{};  // an operand
    struct Kept {
        Scope at;  // of the indices that it depends on
        bool in_product;
        double value;
    };
    std::unordered_map<const Code*, Kept> kept_{};                     // what reductions were last
    std::map<std::pair<const Node*, const Definition*>, Code> parts_;  // that explanations ask for
};

Known known_of(const Operands& operands, std::map<std::string, double, std::less<>> constants) {
    Known known{.constants = std::move(constants)};
    for (const Operand& o : operands) known.operands[o.name] = o.shape;
    return known;
}

Evaluator::Evaluator(const Formula& elaborated, const Operands& operands, const Known& known,
                     std::optional<Manner> manner)
    : machine_(std::make_unique<Machine>(elaborated, operands, known, manner)) {}
Evaluator::~Evaluator() = default;
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;

const Formula& Evaluator::formula() const { return machine_->formula(); }
double Evaluator::value(const Expr& part, const Definition& of, std::vector<Index>& indices) {
    return machine_->value_of_part(part, of, indices);
}
std::optional<std::size_t> Evaluator::operand_named(const std::string& name) const {
    return machine_->operand_named(name);
}
double Evaluator::cell(std::span<const Index> cell) { return machine_->main_cell(cell); }
void Evaluator::all(std::span<float> to, const std::stop_token& stop) { machine_->all(to, stop); }
std::vector<double> Evaluator::all(const std::stop_token& stop) {
    std::vector<double> values(count_of(shape_of(formula().main)));
    machine_->all(std::span(values), stop);
    return values;
}

}  // namespace decoderscope::formulas

#include "engine/formulas/evaluate.h"

#include "engine/formulas/whole.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <unordered_map>

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

std::size_t offset_in(const Shape& shape, std::span<const Index> cell) {
    std::size_t offset = 0;
    for (std::size_t i = 0; i < shape.size(); ++i)
        offset = offset * static_cast<std::size_t>(shape[i].size) + static_cast<std::size_t>(cell[i]);
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
    Machine(const Formula& formula, const Operands& operands, const Known& known)
        : formula_(formula), operands_(operands), numbers_(numbers_of(known)) {
        numbers_.try_emplace("pi", std::numbers::pi);
        for (const Definition* d : definitions(formula_)) {
            for (const LeftIndex& i : d->indices) numbers_.try_emplace(i.dim->axis, static_cast<double>(i.dim->size));
            results_.push_back({.definition = d, .shape = shape_of(*d)});
        }
        for (Result& r : results_) {
            r.code = compiled(r.definition->body, *r.definition, r.shape.size());
            if (r.definition->start) r.start = compiled(r.definition->start, *r.definition, r.shape.size());
        }
    }
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    [[nodiscard]] const Formula& formula() const { return formula_; }

    [[nodiscard]] double main_cell(std::span<const Index> cell) { return read(results_.size() - 1, cell); }

    void all(Numbers to, const std::stop_token& stop) {
        Result& main = results_.back();
        if (places_ > kMostPlaces) return one_by_one(to, stop);
        std::vector<Part> parts;
        for (Result& r : results_) {
            Scope none;
            if (r.start && r.whole.empty()) fill(r, stop);
            parts.push_back({r.code, r.shape, r.whole, r.start ? value(*r.start, none) : kNaN});
        }
        if (!main.start) return compute(parts, operands_, to, stop);
        std::visit(
            [&](auto out) { std::ranges::transform(main.whole, out.begin(), as<typename decltype(out)::value_type>); },
            to);
    }

    [[nodiscard]] double value_of_part(const Expr& part, const Definition& of, Scope& scope) {
        Code& code = parts_[{part.get(), &of}];
        if (code.in.empty()) code = compiled(part, of, scope.size());
        return value(code, scope);
    }

    [[nodiscard]] double read_operand(std::size_t operand, std::span<const Index> cell) const {
        const Operand& o = operands_[operand];
        for (std::size_t i = 0; i < cell.size(); ++i)
            if (cell[i] < 0 || cell[i] >= o.shape[i].size) return kNaN;
        const auto number_in = [&](const auto& numbers) {
            if constexpr (requires { numbers->rank(); }) {
                Cell at(cell.begin(), cell.end());
                at.resize(numbers->rank());  // its last axes may have length 1
                return static_cast<double>(numbers->at(at));
            } else {
                return static_cast<double>(numbers[offset_in(o.shape, cell)]);
            }
        };
        return std::visit(number_in, o.numbers);
    }

    [[nodiscard]] double read(std::size_t result, std::span<const Index> cell) {
        Result& r = results_[result];
        for (std::size_t i = 0; i < cell.size(); ++i)
            if (cell[i] < 0 || cell[i] >= r.shape[i].size) {
                Scope none;
                return r.start ? value(*r.start, none) : kNaN;
            }
        const std::size_t offset = offset_in(r.shape, cell);
        if (r.start) {
            if (r.whole.empty()) fill(r, {});
            return r.whole[offset];
        }
        if (const auto found = r.known.find(offset); found != r.known.end()) return found->second;
        Scope scope(cell.begin(), cell.end());
        const double v = value(r.code, scope);
        results_[result].known.emplace(offset, v);
        return v;
    }

    // Where a name is read: an operand, or one of the definitions.
    [[nodiscard]] std::optional<std::size_t> operand_named(const std::string& name) const {
        const auto found = std::ranges::find(operands_, name, &Operand::name);
        if (found == operands_.end()) return std::nullopt;
        return static_cast<std::size_t>(found - operands_.begin());
    }
    [[nodiscard]] std::optional<std::size_t> result_named(const std::string& name) const {
        const auto found = std::ranges::find_if(results_, [&](const Result& r) { return r.definition->name == name; });
        if (found == results_.end()) return std::nullopt;
        return static_cast<std::size_t>(found - results_.begin());
    }

private:
    struct Result {
        const Definition* definition;
        Shape shape;
        Code code{};
        std::optional<Code> start{};
        std::unordered_map<std::size_t, double> known{};
        std::vector<double> whole{};  // of a recurrence
    };

    static void check(const std::stop_token& stop) {
        if (stop.stop_requested()) throw Error("the formula was cancelled");
    }

    template <class Number>
    static Number as(double value) {
        return static_cast<Number>(value);
    }

    // For reductions that are nested too deeply to be computed by rows.
    void one_by_one(Numbers to, const std::stop_token& stop) {
        const Shape& shape = results_.back().shape;
        if (count_of(shape) == 0) return;
        Scope cell(shape.size(), 0);
        std::size_t at = 0;
        do {
            check(stop);
            const double value = main_cell(cell);
            std::visit([&](auto out) { out[at] = as<typename decltype(out)::value_type>(value); }, to);
            ++at;
        } while (advance(cell, shape));
    }

    // `places` are in scope.
    [[nodiscard]] Code compiled(const Expr& e, const Definition& d, std::size_t places) {
        Code code{.kind = Code::Kind::number};
        places_ = std::max(places_, places);
        const auto* reduce = e->as<Reduce>();
        for (const Expr& child : e->children) {
            code.in.push_back(compiled(child, d, places + (reduce != nullptr ? 1 : 0)));
            code.uses |= code.in.back().uses;
            code.hash = mixed(code.hash, code.in.back().hash);
        }
        if (const auto* n = e->as<Literal>()) {
            code.value = n->value;
        } else if (const auto* c = e->as<Constant>()) {
            code.value = numbers_.at(c->name);
        } else if (const auto* i = e->as<FreeIndex>()) {
            code.kind = Code::Kind::index;
            code.which =
                static_cast<std::size_t>(std::ranges::find(d.indices, i->name, &LeftIndex::name) - d.indices.begin());
        } else if (const auto* b = e->as<BoundIndex>()) {
            code.kind = Code::Kind::index;
            code.which = places - 1 - b->level;
        } else if (const auto* cell = e->as<CellOf>()) {
            const auto result = result_named(cell->name);
            code.kind = result ? Code::Kind::result : Code::Kind::operand;
            code.which = result ? *result : *operand_named(cell->name);
        } else if (const auto* apply = e->as<Apply>()) {
            code.kind = Code::Kind::apply;
            code.op = apply->op;
        } else if (reduce != nullptr) {
            code.kind = Code::Kind::reduce;
            code.fold = reduce->fold;
            code.size = reduce->dim->size;
            code.which = places;
        }
        const std::uint64_t own = code.which < kMostPlaces ? std::uint64_t{1} << code.which : 0;
        if (code.kind == Code::Kind::index) code.uses = own;
        if (code.kind == Code::Kind::reduce) code.uses &= ~own;
        code.hash =
            mixed(mixed(code.hash, std::hash<double>()(code.value)),
                  code.which * 64 + static_cast<std::size_t>(code.op) * 8 + static_cast<std::size_t>(code.kind));
        return code;
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
                return reduced(c, scope);
            case Code::Kind::apply:
                break;
        }
        if (c.op == Op::choose) return value(c.in[value(c.in[0], scope) != 0.0 ? 1 : 2], scope);
        if ((c.op == Op::multiply || c.op == Op::divide) && is_switched_off(c, scope)) return 0.0;
        const double a = value(c.in[0], scope);
        return value_of(c.op, a, c.in.size() > 1 ? value(c.in[1], scope) : 0.0);
    }

    // Whether a factor of the product, also above a quotient's bar, is a condition that doesn't hold.
    [[nodiscard]] bool is_switched_off(const Code& c, Scope& scope) {
        if (c.is(Op::bracket)) return value(c.in[0], scope) == 0.0;
        if (c.kind != Code::Kind::apply || (c.op != Op::multiply && c.op != Op::divide)) return false;
        return is_switched_off(c.in[0], scope) || (c.op == Op::multiply && is_switched_off(c.in[1], scope));
    }

    [[nodiscard]] std::vector<Index> cell_of(const Code& c, Scope& scope) {
        std::vector<Index> cell;
        for (const Code& i : c.in) {
            const double at = value(i, scope);
            cell.push_back(std::abs(at) < 1e15 ? static_cast<Index>(std::floor(at)) : -1);
        }
        return cell;
    }

    [[nodiscard]] double reduced(const Code& c, Scope& scope) {
        Sum sum;
        double best =
            c.fold == Fold::min ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
        Index where = 0;
        scope.push_back(0);
        for (Index i = 0; i < c.size; ++i) {
            scope.back() = i;
            const double x = value(c.in[0], scope);
            sum.add(x);
            if (i == 0 || better(c.fold, x, best)) {
                best = x;
                where = i;
            }
        }
        scope.pop_back();
        if (c.fold == Fold::sum) return sum.value();
        if (c.fold == Fold::mean) return sum.value() / static_cast<double>(c.size);
        return c.fold == Fold::argmax ? static_cast<double>(where) : best;
    }

    // All steps of a recurrence in their order: forwards, or backwards if it reads what comes later.
    void fill(Result& r, const std::stop_token& stop) {
        const auto [axis, backwards] = direction(r.definition->name);
        r.whole.assign(count_of(r.shape), kNaN);
        Shape slab = r.shape;
        slab[axis].size = 1;
        for (Index step = 0; step < r.shape[axis].size; ++step) {
            Scope cell(r.shape.size(), 0);
            do {
                check(stop);
                Scope scope = cell;
                scope[axis] = backwards ? r.shape[axis].size - 1 - step : step;
                const std::size_t offset = offset_in(r.shape, scope);
                r.whole[offset] = value(r.code, scope);
            } while (advance(cell, slab));
        }
    }

    // The axis along which a recurrence reads itself at another place, and whether that place is a later one.
    [[nodiscard]] std::pair<std::size_t, bool> direction(const std::string& name) const {
        std::pair<std::size_t, bool> found{0, false};
        const auto look = [&](const Expr& e) {
            const auto* cell = e->as<CellOf>();
            if (cell == nullptr || cell->name != name) return;
            for (std::size_t i = 0; i < e->children.size(); ++i)
                if ((*e)[i]->is(Op::subtract) || (*e)[i]->is(Op::add)) found = {i, (*e)[i]->is(Op::add)};
        };
        for (const Definition* d : definitions(formula_)) for_each(d->body, look);
        return found;
    }

    Formula formula_;
    const Operands& operands_;
    std::size_t places_ = 0;  // of the largest scope
    std::map<std::string, double, std::less<>> numbers_;
    std::vector<Result> results_;
    std::map<std::pair<const Node*, const Definition*>, Code> parts_;  // that explanations ask for
};

Known known_of(const Operands& operands, std::map<std::string, double, std::less<>> constants) {
    Known known{.constants = std::move(constants)};
    for (const Operand& o : operands) known.operands[o.name] = o.shape;
    return known;
}

Evaluator::Evaluator(const Formula& elaborated, const Operands& operands, const Known& known)
    : machine_(std::make_unique<Machine>(elaborated, operands, known)) {}
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

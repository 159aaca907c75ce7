#include "engine/formulas/derive.h"

#include "engine/formulas/simplify.h"
#include "engine/formulas/words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace decoderscope::formulas {
namespace {

// A place where something wanted is read, and the gradient that arrives there. The indices in scope are summed over.
struct Arrival {
    Expr cell;
    Expr gradient;
    std::vector<LeftIndex> scope;
};

Expr bracket(Expr condition) { return apply(Op::bracket, {std::move(condition)}); }

// The slopes of an operation with the operands a, b and c and the value y, with respect to each operand; an operand
// that is left out passes nothing, nor do operations that aren't here.
struct Slopes {
    Op op;
    std::array<std::string_view, 3> of;
};
constexpr std::array kSlopes{Slopes{Op::add, {"1", "1"}},
                             Slopes{Op::subtract, {"1", "−1"}},
                             Slopes{Op::negate, {"−1"}},
                             Slopes{Op::multiply, {"b", "a"}},
                             Slopes{Op::divide, {"1 / b", "−(y / b)"}},
                             Slopes{Op::power, {"b · a^(b − 1)", "y · log(a)"}},
                             Slopes{Op::root, {"1 / (2 · y)"}},
                             Slopes{Op::choose, {"", "[a]", "[not a]"}},
                             Slopes{Op::max, {"[a ≥ b]", "[a < b]"}},
                             Slopes{Op::min, {"[a ≤ b]", "[a > b]"}},
                             Slopes{Op::exp, {"y"}},
                             Slopes{Op::log, {"1 / a"}},
                             Slopes{Op::sin, {"cos(a)"}},
                             Slopes{Op::cos, {"−sin(a)"}},
                             Slopes{Op::atan, {"1 / (1 + a²)"}},
                             Slopes{Op::tanh, {"1 − y²"}},
                             Slopes{Op::sigmoid, {"y · (1 − y)"}},
                             Slopes{Op::erf, {"2 / √pi · exp(−a²)"}},
                             Slopes{Op::abs, {"[a > 0] − [a < 0]"}},
                             Slopes{Op::stored, {"1"}}};

// The slopes as expressions of indices a, b, c and y; null for none.
using SlopesOf = std::map<Op, std::array<Expr, 3>>;
const SlopesOf& slopes() {
    static const SlopesOf all = [] {
        SlopesOf read;
        for (const Slopes& slopes : kSlopes)
            for (std::size_t i = 0; i < slopes.of.size(); ++i)
                if (!slopes.of[i].empty())
                    read[slopes.op][i] = parse("slope[a, b, c, y] = " + std::string(slopes.of[i])).main.body;
        return read;
    }();
    return all;
}

class Reverse {
public:
    explicit Reverse(std::set<std::string> wanted) : wanted_(std::move(wanted)) {}

    // Follows the gradient from `e` down to what is wanted; `y` is a name of e's value.
    void pull(const Expr& e, const Expr& gradient, const std::vector<LeftIndex>& scope, const Expr& y) {
        if (!any_node(e, [&](const Expr& x) { return is_wanted(x); })) return;
        if (is_wanted(e)) return arrivals.push_back({e, gradient, scope});
        if (e->as<Reduce>() != nullptr) return reduction(e, gradient, scope);
        const auto found = e->as<Apply>() != nullptr ? slopes().find(e->as<Apply>()->op) : slopes().end();
        if (found == slopes().end()) return;
        Replacements operands{{"y", y}};
        for (std::size_t i = 0; i < e->children.size(); ++i) operands.emplace_back(std::string(1, "abc"[i]), (*e)[i]);
        for (std::size_t i = 0; i < e->children.size(); ++i)
            if (const Expr& slope = found->second[i])
                pull((*e)[i], same(slope, one_) ? gradient : gradient * substitute(slope, operands), scope, (*e)[i]);
    }

    std::vector<Arrival> arrivals;

private:
    [[nodiscard]] bool is_wanted(const Expr& e) const {
        return e->as<CellOf>() != nullptr && wanted_.contains(e->as<CellOf>()->name);
    }

    void reduction(const Expr& e, Expr gradient, std::vector<LeftIndex> scope) {
        const Reduce& reduce = *e->as<Reduce>();
        std::set<std::string> taken = gradient->indices;
        for (const LeftIndex& i : scope) taken.insert(i.name);
        const std::string name = inner_name(e, taken);
        const Expr body = body_at(e, index(name));
        if (reduce.fold == Fold::argmax) return;
        if (reduce.fold == Fold::mean) gradient = gradient / number(static_cast<double>(reduce.dim->size));
        if (reduce.fold == Fold::max || reduce.fold == Fold::min) {  // the first of the largest gets it all
            Reduce first = reduce;
            first.fold = Fold::argmax;
            const Expr where = reduction_of(first, name, reduce.fold == Fold::max ? body : -body);
            gradient = gradient * bracket(apply(Op::equal, {index(name), where}));
        }
        if (reduce.fold == Fold::product) {  // times all the others
            taken.insert(name);
            const std::string other = inner_name(e, taken);
            const Expr is_this = apply(Op::equal, {index(other), index(name)});
            gradient =
                gradient * reduction_of(reduce, other, apply(Op::choose, {is_this, one_, body_at(e, index(other))}));
        }
        scope.push_back({name, reduce.axis, reduce.dim});
        pull(body, gradient, scope, body);
    }

    std::set<std::string> wanted_;
    const Expr one_ = number(1.0);
};

// Σ over the arrival's scope of its gradient · [the cell's indices = parameters]; an index that the condition fixes is
// put in place of its sum.
class Arrived {
public:
    Arrived(const Arrival& arrival, const std::vector<LeftIndex>& parameters,
            const std::map<std::string, double, std::less<>>& numbers)
        : arrival_(arrival), parameters_(parameters), numbers_(numbers) {}

    [[nodiscard]] Expr gradient() {
        const Node& cell = *arrival_.cell;
        std::vector<bool> done(parameters_.size(), false);
        for (std::size_t p = 0; p < parameters_.size(); ++p) done[p] = plain(cell[p], p);
        for (std::size_t p = 0; p < parameters_.size(); ++p)
            if (!done[p] && !head_and_column(cell[p], p) && !shifted(cell[p], p))
                conditions_.push_back(apply(Op::equal, {parameter(p), cell[p]}));
        Expr out = arrival_.gradient;
        for (const Expr& condition : conditions_) out = bracket(condition) * out;
        out = substitute(out, solved_);
        for (auto i = arrival_.scope.rbegin(); i != arrival_.scope.rend(); ++i)
            if (waits(i->name)) out = reduction_of(Reduce{Fold::sum, i->name, i->axis, i->dim}, i->name, out);
        Replacements names;
        for (const LeftIndex& p : parameters_) names.emplace_back("@" + p.name, index(p.name));
        return substitute(out, names);
    }

private:
    // The parameter, apart from the names in scope until the end.
    [[nodiscard]] Expr parameter(std::size_t p) const { return index("@" + parameters_[p].name); }
    [[nodiscard]] const LeftIndex* in_scope(const std::string& name) const {
        const auto found = std::ranges::find(arrival_.scope, name, &LeftIndex::name);
        return found == arrival_.scope.end() ? nullptr : &*found;
    }
    [[nodiscard]] bool waits(const std::string& name) const {
        return in_scope(name) != nullptr &&
               std::ranges::find(solved_, name, &Replacements::value_type::first) == solved_.end();
    }
    [[nodiscard]] const LeftIndex* waiting(const Expr& e) const {
        const auto* i = e->as<FreeIndex>();
        return i != nullptr && waits(i->name) ? in_scope(i->name) : nullptr;
    }
    [[nodiscard]] Expr size(const LeftIndex& i) const { return number(static_cast<double>(i.dim->size)); }

    // x[…, i, …]: i is the parameter.
    bool plain(const Expr& e, std::size_t p) {
        const LeftIndex* i = waiting(e);
        if (i == nullptr) return false;
        if (i->dim->size < parameters_[p].dim->size) conditions_.push_back(apply(Op::less, {parameter(p), size(*i)}));
        solved_.emplace_back(i->name, parameter(p));
        return true;
    }

    // h · n + d with n columns d: the parameter's quotient and remainder by n.
    bool head_and_column(const Expr& e, std::size_t p) {
        if (!e->is(Op::add)) return false;
        Expr a = (*e)[0], b = (*e)[1];
        if (waiting(b) == nullptr) std::swap(a, b);
        const LeftIndex* column = waiting(b);
        if (column == nullptr || !a->is(Op::multiply)) return false;
        const LeftIndex* head = waiting((*a)[0]);
        const auto* count = (*a)[1]->as<Constant>();
        if (head == nullptr || count == nullptr || !numbers_.contains(count->name) ||
            numbers_.find(count->name)->second != static_cast<double>(column->dim->size))
            return false;
        const std::string column_name = column->name;
        solved_.emplace_back(head->name, apply(Op::quotient, {parameter(p), (*a)[1]}));
        solved_.emplace_back(column_name, apply(Op::remainder, {parameter(p), (*a)[1]}));
        return true;
    }

    // first + d, t − 1: the parameter shifted back, if that is inside.
    bool shifted(const Expr& e, std::size_t p) {
        if (!e->is(Op::add) && !e->is(Op::subtract)) return false;
        Expr i = (*e)[0], by = (*e)[1];
        if (e->is(Op::add) && waiting(i) == nullptr) std::swap(i, by);
        const LeftIndex* free = waiting(i);
        const bool fixed =
            std::ranges::none_of(by->indices, [&](const std::string& name) { return in_scope(name) != nullptr; });
        if (free == nullptr || !fixed) return false;
        const Expr found = e->is(Op::add) ? parameter(p) - by : parameter(p) + by;
        conditions_.push_back(apply(Op::less, {found, size(*free)}));
        if (e->is(Op::add) || by->as<Literal>() == nullptr)
            conditions_.push_back(apply(Op::greater_equal, {found, number(0.0)}));
        solved_.emplace_back(free->name, found);
        return true;
    }

    const Arrival& arrival_;
    const std::vector<LeftIndex>& parameters_;
    const std::map<std::string, double, std::less<>>& numbers_;
    Replacements solved_;
    std::vector<Expr> conditions_;
};

// Names for the operand's indices: those that the formula reads it by, if they are plain.
std::vector<LeftIndex> parameters_of(const Formula& f, const std::string& operand, const Shape& shape) {
    std::vector<LeftIndex> parameters;
    std::set<std::string> taken, outer;
    std::vector<Expr> cells;
    std::map<std::string, std::set<std::string>> axes;  // of each index on the left
    for (const Definition* d : definitions(f)) {
        for (const LeftIndex& i : d->indices) {
            outer.insert(i.name);
            axes[i.name].insert(i.dim->axis);
        }
        for_each(d->body, [&](const Expr& e) {
            if (is_cell_of(e, operand)) cells.push_back(e);
        });
    }
    if (cells.empty())
        throw FormulaError(message("the formula doesn't read “{operand}”", {{"operand", operand}}), kNowhere);
    for (std::size_t p = 0; p < shape.size(); ++p) {
        std::string name;
        for (const Expr& cell : cells)
            if (const auto* i = (*cell)[p]->as<FreeIndex>(); name.empty() && i != nullptr && !taken.contains(i->name))
                name = i->name;
        if (name.empty()) {
            std::set<std::string> all = taken;
            all.insert(outer.begin(), outer.end());
            name = fresh(shape[p].axis.substr(0, 1), all);
        }
        taken.insert(name);
        const bool said = axes.contains(name) && axes[name] == std::set{shape[p].axis};
        parameters.push_back({name, said ? "" : shape[p].axis, shape[p]});
    }
    return parameters;
}

std::string new_name(std::string name, const std::set<std::string>& taken) {
    while (taken.contains(name)) name += "_";
    return name;
}

Expr total(const std::vector<Expr>& parts) {
    if (parts.empty()) return number(0.0);
    Expr sum = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i) sum = sum + parts[i];
    return sum;
}

// A recurrence reads itself and what doesn't read it: sub-results between are put in place.
Formula without_loops(Formula f) {
    for (;;) {
        const auto reads_of = dependencies(f);
        const auto between = std::ranges::find_if(f.wheres, [&](const Definition& d) {
            return std::ranges::any_of(definitions(f), [&](const Definition* loop) {
                return loop->start && loop->name != d.name && reads_of.at(loop->name).contains(d.name) &&
                       reads_of.at(d.name).contains(loop->name);
            });
        });
        if (between == f.wheres.end()) return f;
        f = inlined(std::move(f), between->name);
    }
}

bool has_sum(const Expr& e) {
    return any_node(e, [](const Expr& x) { return x->as<Reduce>() != nullptr; });
}

// Whether a sub-result of the derivative says more in place than by its name: it is read once, not as a sum inside a
// sum, or it is a leaf.
bool better_in_place(const Formula& f, const Definition& d) {
    std::size_t count = 0;
    bool in_sum = false;
    for (const Definition* reader : definitions(f))
        for_each(reader->body, [&](const Expr& e) {
            if (is_cell_of(e, d.name)) ++count;
            if (e->as<Reduce>() != nullptr && reads((*e)[0], d.name)) in_sum = true;
        });
    const bool sum = has_sum(d.body);
    return !d.start && (count == 0 || (count == 1 && !(in_sum && sum)) || (!sum && d.body->children.empty()));
}

// Simplified, without sub-results that are better in place, and with those of the forward formula that are read.
Formula tidy(Formula out, const Formula& f, const std::map<std::string, double, std::less<>>& numbers) {
    std::vector<Definition> named{f.main};
    named.insert(named.end(), f.wheres.begin(), f.wheres.end());
    for (int round = 0; round < 3; ++round) {
        const Simplifier simplify(named, numbers);
        out = with_bodies(std::move(out), simplify);
        for (const Definition& d : std::vector<Definition>(out.wheres))
            if (const auto now = std::ranges::find(out.wheres, d.name, &Definition::name); better_in_place(out, *now))
                out = inlined(std::move(out), d.name);
    }
    for (bool grown = true; grown;) {
        grown = false;
        for (const Definition& where : f.wheres) {
            const auto all = definitions(out);
            const bool there = std::ranges::any_of(all, [&](const Definition* d) { return d->name == where.name; });
            const bool read = std::ranges::any_of(all, [&](const Definition* d) { return reads(d->body, where.name); });
            if (!there && read) {
                out.wheres.push_back(where);
                grown = true;
            }
        }
    }
    return out;
}

// With the axis beside each index that reads only a part of some axis: without it the longer one would be meant.
Formula with_axes_of_parts(Formula f, const Known& known) {
    auto shapes = known.operands;
    for (const Definition* d : definitions(f)) shapes[d->name] = shape_of(*d);
    const auto write = [&](Definition& d) {
        for_each(d.body, [&](const Expr& e) {
            const auto* cell = e->as<CellOf>();
            for (std::size_t i = 0; cell != nullptr && i < e->children.size(); ++i) {
                const auto* index = (*e)[i]->as<FreeIndex>();
                if (index == nullptr) continue;
                const auto own = std::ranges::find(d.indices, index->name, &LeftIndex::name);
                if (own != d.indices.end() && own->dim->size != shapes[cell->name][i].size) own->axis = own->dim->axis;
            }
        });
    };
    write(f.main);
    std::ranges::for_each(f.wheres, write);
    return f;
}

}  // namespace

Known known_to_derivative(const Formula& elaborated, Known known) {
    known.operands[std::string(kGradient)] = shape_of(elaborated.main);
    known.operands[elaborated.main.name] = shape_of(elaborated.main);
    known.fits_by_size = true;  // the formula's own axes were checked
    return known;
}

Formula derivative(const Formula& elaborated, const std::string& operand, const Known& known) {
    const Formula f = without_loops(elaborated);
    for (const Definition* d : definitions(f))
        if (d->body->is_of_matrix())
            throw FormulaError(message("what is computed of a whole matrix has no gradient here: “{function}”",
                                       {{"function", spelling_of(d->body->as<Apply>()->op).ascii}}),
                               kNowhere);
    auto numbers = numbers_of(known);
    const auto reads_of = dependencies(f);
    std::set<std::string> direct, wanted{operand}, taken;
    for (const Definition* d : definitions(f)) {
        if (reads(d->body, operand)) direct.insert(d->name);
        for (const LeftIndex& i : d->indices) numbers.try_emplace(i.dim->axis, static_cast<double>(i.dim->size));
        taken.insert(d->name);
    }
    for (const auto& [name, shape] : known.operands) taken.insert(name);
    for (const Definition& d : f.wheres)
        if (direct.contains(d.name) ||
            std::ranges::any_of(reads_of.at(d.name), [&](const std::string& n) { return direct.contains(n); }))
            wanted.insert(d.name);
    if (f.main.start) wanted.insert(f.main.name);

    const std::vector<LeftIndex> parameters = parameters_of(f, operand, known.operands.find(operand)->second);
    std::map<std::string, std::vector<Expr>> contributions;
    std::vector<const Definition*> order{&f.main};  // each after all that read it
    for (const Definition& d : f.wheres) order.push_back(&d);
    std::ranges::stable_sort(order.begin() + 1, order.end(), std::greater<>(),
                             [&](const Definition* d) { return reads_of.at(d->name).size(); });
    Formula out;
    std::uint64_t nodes = 0;
    for (const Definition* d : order) {
        const bool main = d == &f.main;
        const std::string name = new_name("d_" + d->name, taken);
        Expr gradient = cell_of(main && !d->start ? std::string(kGradient) : name, own_indices(*d));
        if (!main && !contributions.contains(d->name)) continue;
        if (!main && !d->start) out.wheres.push_back({name, d->indices, total(contributions[d->name]), nullptr});
        Reverse reverse(wanted);
        reverse.pull(d->body, gradient, d->indices, cell_of(d->name, own_indices(*d)));
        for (const Arrival& arrival : reverse.arrivals) nodes += arrival.gradient->nodes;
        check_size(nodes);
        for (const Arrival& arrival : reverse.arrivals) {
            const std::string& reached = arrival.cell->as<CellOf>()->name;
            const auto* target = &parameters;
            for (const Definition* other : definitions(f))
                if (other->name == reached && reached != operand) target = &other->indices;
            contributions[reached].push_back(Arrived(arrival, *target, numbers).gradient());
        }
        if (d->start) {  // a recurrence runs backwards
            std::vector<Expr> parts;
            if (main) parts.push_back(cell_of(std::string(kGradient), own_indices(*d)));
            parts.insert(parts.end(), contributions[d->name].begin(), contributions[d->name].end());
            out.wheres.push_back({name, d->indices, total(parts), number(0.0)});
        }
    }
    out.main = {new_name("d_" + operand, taken), parameters, total(contributions[operand]), nullptr};
    Known read = known_to_derivative(f, known);
    for (const Definition& where : f.wheres) read.operands[where.name] = shape_of(where);
    out = with_axes_of_parts(tidy(std::move(out), f, numbers), read);
    if (!f.main.start) return out;
    // The recorded value has no cell before the first step.
    return with_bodies(std::move(out), [&](const Expr& body) {
        return rewrite(body, [&](const Expr& e) {
            if (!is_cell_of(e, f.main.name)) return e;
            for (const Expr& i : e->children)
                if (i->as<Apply>() != nullptr)
                    return apply(Op::choose, {apply(Op::greater_equal, {i, number(0.0)}), e, f.main.start});
            return e;
        });
    });
}

}  // namespace decoderscope::formulas

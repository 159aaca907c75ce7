#include "engine/formulas/simplify.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

namespace decoderscope::formulas {
namespace {

std::optional<Op> opposite(Op op) {
    constexpr std::array kOpposites{std::pair{Op::equal, Op::not_equal}, std::pair{Op::less, Op::greater_equal},
                                    std::pair{Op::greater, Op::less_equal}};
    for (const auto& [one, other] : kOpposites)
        if (op == one || op == other) return op == one ? other : one;
    return std::nullopt;
}

using Binding = std::map<std::string, Expr>;

// Whether `e` is the pattern with indices for its variables, which are added to what is bound already.
bool unify(const Expr& pattern, const Expr& e, const std::set<std::string>& variables, Binding& bound) {
    if (const auto* i = pattern->as<FreeIndex>(); i != nullptr && variables.contains(i->name)) {
        if (const auto known = bound.find(i->name); known != bound.end()) return same(known->second, e);
        if (e->as<FreeIndex>() == nullptr) return false;
        bound[i->name] = e;
        return true;
    }
    if (!(pattern->what == e->what) || pattern->children.size() != e->children.size()) return false;
    for (std::size_t i = 0; i < e->children.size(); ++i)
        if (!unify((*pattern)[i], (*e)[i], variables, bound)) return false;
    return true;
}

// Conditions first, then the gradient that comes in, then the rest, and sums last.
int rank(const Expr& base) {
    if (base->is(Op::bracket)) return 0;
    if (base->as<CellOf>() != nullptr && base->as<CellOf>()->name == "g") return 1;
    return base->as<Reduce>() != nullptr ? 3 : 2;
}

Expr to_the(const Expr& base, double exponent) {
    if (exponent == 1.0) return base;
    if (exponent == 0.5) return apply(Op::root, {base});
    if (exponent == 1.5) return base * apply(Op::root, {base});
    return apply(Op::power, {base, number(exponent)});
}

Expr multiplied(const std::vector<Expr>& factors) {
    Expr product = factors.front();
    for (std::size_t i = 1; i < factors.size(); ++i) product = product * factors[i];
    return product;
}

}  // namespace

const Simplifier::Part* Simplifier::Product::find(const Expr& base) const {
    const auto found = std::ranges::find_if(parts, [&](const Part& p) { return same(p.base, base); });
    return found == parts.end() ? nullptr : &*found;
}

Simplifier::Product Simplifier::Product::without(const Expr& base) const {
    Product rest = *this;
    std::erase_if(rest.parts, [&](const Part& p) { return same(p.base, base); });
    return rest;
}

Simplifier::Simplifier(const std::vector<Definition>& named, std::map<std::string, double, std::less<>> numbers)
    : numbers_(std::move(numbers)) {
    std::vector<Named> all;
    for (const Definition& d : named)
        if (Product product = product_of(d.body); product.parts.size() >= 2 && !d.start)
            all.push_back({d, std::move(product)});
    named_ = std::move(all);  // only now: a definition isn't its own name
}

Expr Simplifier::operator()(const Expr& e) const { return written({product_of(e)}); }

Simplifier::Product Simplifier::times(Product a, const Product& b) {
    a.coefficient *= b.coefficient;
    for (const Part& part : b.parts) {
        const auto at = std::ranges::find_if(a.parts, [&](const Part& p) { return same(p.base, part.base); });
        double exponent = part.exponent + (at != a.parts.end() ? at->exponent : 0.0);
        if (exponent != 0.0 && part.base->is(Op::bracket)) exponent = 1.0;  // a condition twice is that condition
        const auto* n = part.base->as<Literal>();
        if (n != nullptr && exponent == std::floor(exponent)) {
            a.coefficient *= std::pow(n->value, exponent);
            exponent = 0.0;
        }
        if (at == a.parts.end() && exponent != 0.0)
            a.parts.push_back({part.base, exponent});
        else if (at != a.parts.end() && exponent == 0.0)
            a.parts.erase(at);
        else if (at != a.parts.end())
            at->exponent = exponent;
    }
    return a;
}

Simplifier::Product Simplifier::to_power(const Product& a, double exponent) {
    Product out{std::pow(a.coefficient, exponent)};
    for (const Part& part : a.parts) out = times(std::move(out), base(part.base, part.exponent * exponent));
    return out;
}

// Equal products added up.
Simplifier::Sum Simplifier::collected(const Sum& sum) {
    const auto alike = [](const Product& a, const Product& b) {
        return a.parts.size() == b.parts.size() && std::ranges::all_of(a.parts, [&](const Part& p) {
                   const Part* other = b.find(p.base);
                   return other != nullptr && other->exponent == p.exponent;
               });
    };
    Sum out;
    std::unordered_map<std::size_t, std::vector<std::size_t>> found;  // products by their hashes
    for (const Product& m : sum) {
        std::size_t hash = 0;
        for (const Part& part : m.parts) hash += mixed(part.base->hash, std::hash<double>()(part.exponent));
        std::vector<std::size_t>& near = found[hash];
        const auto same_one = std::ranges::find_if(near, [&](std::size_t o) { return alike(m, out[o]); });
        if (same_one != near.end()) {
            out[*same_one].coefficient += m.coefficient;
        } else {
            near.push_back(out.size());
            out.push_back(m);
        }
    }
    std::erase_if(out, [](const Product& m) { return m.coefficient == 0.0; });
    return out;
}

Simplifier::Sum Simplifier::sum_of(const Expr& e) const {
    if (const auto* n = e->as<Literal>()) return {{n->value}};
    if (e->as<Reduce>() != nullptr) return reduced(e);
    if (const auto* apply = e->as<Apply>()) return applied(e, apply->op);
    if (e->children.empty()) return {base(e)};
    std::vector<Expr> children;
    for (const Expr& child : e->children) children.push_back((*this)(child));
    return {base(with_children(e, std::move(children)))};
}

void Simplifier::add_terms(Sum& to, const Expr& e, double sign) const {
    if (e->is(Op::add) || e->is(Op::subtract)) {
        add_terms(to, (*e)[0], sign);
        return add_terms(to, (*e)[1], e->is(Op::add) ? sign : -sign);
    }
    if (e->is(Op::negate)) return add_terms(to, (*e)[0], -sign);
    for (Product& m : sum_of(e)) {
        m.coefficient *= sign;
        to.push_back(std::move(m));
    }
}

Simplifier::Sum Simplifier::applied(const Expr& e, Op op) const {
    const auto nonzero = [](Product m) { return m.coefficient == 0.0 ? Sum{} : Sum{std::move(m)}; };
    switch (op) {
        case Op::add:
        case Op::subtract:
        case Op::negate: {
            Sum all;
            add_terms(all, e, 1.0);
            return collected(all);
        }
        case Op::multiply:
            return nonzero(times(product_of((*e)[0]), product_of((*e)[1])));
        case Op::divide:
            return nonzero(times(product_of((*e)[0]), to_power(product_of((*e)[1]), -1.0)));
        case Op::root:
            return power_of((*e)[0], 0.5);
        case Op::power:
            if (const Expr n = (*this)((*e)[1]); n->as<Literal>() != nullptr)
                return power_of((*e)[0], n->as<Literal>()->value);
            else
                return {base(apply(op, {(*this)((*e)[0]), n}))};
        default:
            break;
    }
    std::vector<Expr> operands;
    for (const Expr& child : e->children) operands.push_back((*this)(child));
    if (op == Op::choose && same(operands[1], operands[2])) return sum_of(operands[1]);
    if (op == Op::negation) {
        if (const auto* inner = operands[0]->as<Apply>(); inner != nullptr && inner->op == Op::negation)
            return {base((*operands[0])[0])};
        if (const auto* inner = operands[0]->as<Apply>(); inner != nullptr && opposite(inner->op))
            return {base(apply(*opposite(inner->op), operands[0]->children))};
    }
    return {base(apply(op, std::move(operands)))};
}

Simplifier::Sum Simplifier::power_of(const Expr& of, double exponent) const {
    const Product m = product_of(of);
    if (exponent == std::floor(exponent)) return {to_power(m, exponent)};
    if (m.parts.empty() && m.coefficient == 1.0) return {m};
    if (m.parts.empty() && m.coefficient > 0.0) return {base(number(m.coefficient), exponent)};
    // (a²)^½ is |a|, so that only plain factors keep their own power.
    if (m.coefficient == 1.0 && m.parts.size() == 1 && m.parts.front().exponent == 1.0) return {to_power(m, exponent)};
    return {base(written({m}), exponent)};
}

Simplifier::Sum Simplifier::reduced(const Expr& e) const {
    const Reduce& reduce = *e->as<Reduce>();
    const std::string name = inner_name(e);
    const Expr body = body_at(e, index(name));
    if (reduce.fold != Fold::sum && reduce.fold != Fold::mean) return {base(reduction_of(reduce, name, (*this)(body)))};
    const Product m = product_of(body);
    if (m.coefficient == 0.0) return {};
    Product outer{m.coefficient}, inner;
    for (const Part& part : m.parts) (part.base->indices.contains(name) ? inner : outer).parts.push_back(part);
    if (reduce.fold == Fold::sum)
        for (const Part& part : inner.parts) {  // Σ_j [j = i] · …: i in place of j
            if (!part.base->is(Op::bracket) || !(*part.base)[0]->is(Op::equal)) continue;
            const Node& equal = *(*part.base)[0];
            const Expr self = index(name);
            const Expr other = same(equal[0], self) ? equal[1] : same(equal[1], self) ? equal[0] : nullptr;
            if (other && other->as<FreeIndex>() != nullptr)
                return {times(outer, product_of(substitute(written({inner.without(part.base)}), {{name, other}})))};
        }
    if (reduce.fold == Fold::sum)
        if (const auto other = conditions_outside(reduce, name, inner)) return {times(outer, product_of(*other))};
    if (inner.parts.empty()) return {reduce.fold == Fold::sum ? times(outer, base(size_of(*reduce.dim))) : outer};
    return {as_mean(times(outer, base(reduction_of(reduce, name, written({inner})))))};
}

// Σ_o a[o] · Σ_c [c = 0] · b[o, c] as Σ_c [c = 0] · Σ_o a[o] · b[o, c]: a condition is looked at before what is added
// up, and this is a product of matrices more often than the other.
std::optional<Expr> Simplifier::conditions_outside(const Reduce& reduce, const std::string& name,
                                                   const Product& inner) const {
    const auto is_condition = [](const Part& part) { return part.base->is(Op::bracket); };
    if (std::ranges::any_of(inner.parts, is_condition)) return std::nullopt;
    std::set<std::string> taken;
    for (const Part& part : inner.parts) taken.insert(part.base->indices.begin(), part.base->indices.end());
    for (const Part& part : inner.parts) {
        if (!part.base->is(Fold::sum) || part.exponent != 1.0) continue;
        const std::string other = inner_name(part.base, taken);
        const Product body = product_of(body_at(part.base, index(other)));
        Product conditions, rest{body.coefficient};
        for (const Part& of : body.parts)
            (is_condition(of) && !of.base->indices.contains(name) ? conditions : rest).parts.push_back(of);
        if (conditions.parts.empty()) continue;
        const Expr sum = reduction_of(reduce, name, written({times(rest, inner.without(part.base))}));
        return reduction_of(*part.base->as<Reduce>(), other, written({conditions}) * sum);
    }
    return std::nullopt;
}

// Σ_j … / n is a mean.
Simplifier::Product Simplifier::as_mean(Product m) const {
    for (const Part& part : m.parts) {
        if (!part.base->is(Fold::sum) || part.exponent != 1.0) continue;
        const Expr size = size_of(*part.base->as<Reduce>()->dim);
        const Part* divided = m.find(size);
        if (divided == nullptr || divided->exponent != -1.0) continue;
        Reduce mean = *part.base->as<Reduce>();
        mean.fold = Fold::mean;
        return as_mean(times(m.without(part.base).without(size), base(node(mean, part.base->children))));
    }
    return m;
}

Simplifier::Product Simplifier::product_of(const Sum& sum) const {
    if (sum.empty()) return {0.0};
    if (sum.size() == 1) return sum.front();
    Product common;
    for (const Part& part : sum.front().parts) {
        double nearest = part.exponent;
        const bool in_all = std::ranges::all_of(sum, [&](const Product& m) {
            const Part* other = m.find(part.base);
            if (other == nullptr || (other->exponent > 0.0) != (part.exponent > 0.0)) return false;
            if (std::abs(other->exponent) < std::abs(nearest)) nearest = other->exponent;
            return true;
        });
        if (in_all) common.parts.push_back({part.base, nearest});
    }
    const double first = sum.front().coefficient;
    if (std::ranges::all_of(sum, [&](const Product& m) { return m.coefficient == first; }))
        common.coefficient = first;
    else if (std::ranges::all_of(sum, [](const Product& m) { return m.coefficient < 0.0; }))
        common.coefficient = -1.0;
    const Product inverse = to_power(common, -1.0);
    Sum rest;
    for (const Product& m : sum) rest.push_back(times(m, inverse));
    return times(common, base(written(std::move(rest))));
}

Simplifier::Product Simplifier::folded(Product m) const {
    m = as_mean(std::move(m));
    for (const Named& named : named_)
        if (const auto shorter = folded_into(named, m)) return folded(*shorter);
    return m;
}

// The product with the definition's name in place of the factors that it stands for.
std::optional<Simplifier::Product> Simplifier::folded_into(const Named& named, const Product& m) const {
    const std::vector<LeftIndex>& indices = named.definition.indices;
    std::set<std::string> variables;
    for (const LeftIndex& i : indices) variables.insert(i.name);
    for (const Part& candidate : m.parts) {
        Binding bound;
        if (!unify(named.product.parts.front().base, candidate.base, variables, bound)) continue;
        for (std::size_t i = 1; i < named.product.parts.size() && bound.size() < indices.size(); ++i)
            for (const Part& other : m.parts)  // the other factors say the rest
                if (Binding more = bound; unify(named.product.parts[i].base, other.base, variables, more)) bound = more;
        if (bound.size() < indices.size()) continue;
        const Replacements values(bound.begin(), bound.end());
        Product rest = m;
        rest.coefficient /= named.product.coefficient;
        // A condition is its own square: it stays, for what remains may be outside its tensor without it.
        const bool only_conditions =
            std::ranges::all_of(named.product.parts, [](const Part& part) { return part.base->is(Op::bracket); });
        const bool all = std::ranges::all_of(named.product.parts, [&](const Part& part) {
            const Expr wanted = substitute(part.base, values);
            const Part* there = m.find(wanted);
            if (there == nullptr || there->exponent * part.exponent <= 0.0 ||
                std::abs(there->exponent) < std::abs(part.exponent))
                return false;
            if (only_conditions || !wanted->is(Op::bracket))
                rest = times(std::move(rest), base(wanted, -part.exponent));
            return true;
        });
        if (!all) continue;
        std::vector<Expr> cell;
        for (const LeftIndex& i : indices) cell.push_back(bound.at(i.name));
        return times(base(cell_of(named.definition.name, std::move(cell))), rest);
    }
    return std::nullopt;
}

Expr Simplifier::size_of(const Dim& dim) const {
    const auto known = numbers_.find(dim.axis);
    const bool named = known != numbers_.end() && known->second == static_cast<double>(dim.size) && dim.size != 1;
    return named ? constant(dim.axis) : number(static_cast<double>(dim.size));
}

Expr Simplifier::written(Sum sum) const {
    std::erase_if(sum, [](const Product& m) { return m.coefficient == 0.0; });
    if (sum.empty()) return number(0.0);
    std::ranges::stable_sort(sum, {}, [](const Product& m) { return m.coefficient < 0.0; });
    const auto product = [](Product m) {
        std::ranges::stable_sort(m.parts, {}, [](const Part& p) { return rank(p.base); });
        std::vector<Expr> above, below;
        for (const Part& part : m.parts)
            (part.exponent > 0.0 ? above : below).push_back(to_the(part.base, std::abs(part.exponent)));
        const double size = std::abs(m.coefficient), inverse = 1.0 / size;
        if (size < 1.0 && std::abs(inverse - std::round(inverse)) < 1e-12)
            below.insert(below.begin(), number(std::round(inverse)));
        else if (size != 1.0)
            above.insert(above.begin(), number(size));
        if (above.empty()) above.push_back(number(1.0));
        return below.empty() ? multiplied(above) : multiplied(above) / multiplied(below);
    };
    Expr out;
    for (const Product& m : sum) {
        const Product shorter = folded(m);
        const Expr p = product(shorter);
        if (!out)
            out = shorter.coefficient < 0.0 ? -p : p;
        else
            out = shorter.coefficient < 0.0 ? out - p : out + p;
    }
    return out;
}

}  // namespace decoderscope::formulas

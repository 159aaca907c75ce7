#include "engine/formulas/edits.h"

#include "engine/formulas/print.h"
#include "engine/formulas/words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>

namespace decoderscope::formulas {

namespace {

// The letters that a formula's indices have, those of its sums included.
std::set<std::string> letters_of(const Formula& formula) {
    std::set<std::string> letters;
    for (const Definition* d : definitions(formula)) {
        for (const LeftIndex& i : d->indices) letters.insert(i.name);
        for_each(d->body, [&](const Expr& e) {
            if (const auto* reduce = e->as<Reduce>()) letters.insert(reduce->letter);
        });
    }
    letters.erase("…");
    return letters;
}

// An expression as a formula of these letters reads it.
Expr expression(std::string_view text, const Formula& formula, const Functions& functions) {
    std::string left;
    for (const std::string& letter : letters_of(formula)) left += (left.empty() ? "" : ", ") + letter;
    // A sub-result may sum over a letter of the formula anew.
    const std::string whole = "m[" + left + "] = 0 where o = " + std::string(text);  // not a message: a formula
    const Expr e = parse(whole, functions).wheres[0].body;
    return rewrite(e, [&](const Expr& leaf) {
        const auto* plain = leaf->as<Constant>();
        const bool is_result = plain != nullptr && std::ranges::any_of(formula.wheres, [&](const Definition& where) {
                                   return where.indices.empty() && where.name == plain->name;
                               });
        return is_result ? node(CellOf{plain->name}, {}, leaf->at) : leaf;
    });
}

}  // namespace

Formula edited(const Formula& formula, std::string_view old, std::string_view now, const Functions& functions) {
    const Expr from = expression(old, formula, functions), to = expression(now, formula, functions);
    Formula changed = with_bodies(formula, [&](const Expr& body) {
        return rewrite(body, [&](const Expr& e) { return same(e, from) ? to : e; });
    });
    return changed;
}

Formula composed(const Formula& first, Formula second, std::string_view operand) {
    Definition made = first.main;
    made.name = "made";
    second = with_bodies(std::move(second), [&](const Expr& body) {
        return rewrite(body,
                       [&](const Expr& e) { return is_cell_of(e, operand) ? cell_of(made.name, e->children) : e; });
    });
    std::vector<Definition> wheres = first.wheres;
    wheres.push_back(std::move(made));
    wheres.insert(wheres.end(), second.wheres.begin(), second.wheres.end());
    second.wheres = std::move(wheres);
    return second;
}

namespace {

// An expression that could stand in another's place. As long as it is told by both, `meant` and `computed` are the
// smallest expressions around the change that can be read by themselves.
struct Alternative {
    Expr now;
    Sentence sentence;
    Expr meant, computed;
};

// What surrounds an expression.
struct Around {
    const Definition& definition;
    const std::map<std::string, double, std::less<>>& numbers;
    std::span<const std::string> mistaken;
    std::map<std::string, Dim> indices;    // in scope, by their names
    const Functions* functions = nullptr;  // not null: only calls of these are changed, and sizes aren't known yet
};

using Alternatives = std::vector<Alternative>;

// As a person reads it: without what concerns only gradients and other arithmetic.
std::string said(const Expr& e) {
    return text_of(rewrite(e, [](const Expr& x) { return x->is(Op::stop) || x->is(Op::stored) ? (*x)[0] : x; }));
}

void tell(Alternatives& to, Expr now, Phrase phrase, const Expr& what) {
    to.push_back({std::move(now), Sentence(phrase, {{"what", said(what)}}), nullptr, nullptr});
}
// To be told by what stands there, and what should.
void instead(Alternatives& to, const Expr& meant, const Expr& now) { to.push_back({now, {}, meant, now}); }

constexpr auto kFunctions = std::to_array({Op::tanh, Op::sigmoid, Op::erf, Op::sin, Op::cos, Op::exp, Op::abs});
constexpr auto kComparisons = std::to_array({Op::less, Op::less_equal, Op::greater, Op::greater_equal});

template <std::size_t N>
void others_of(Alternatives& to, const Expr& e, const std::array<Op, N>& family) {
    if (std::ranges::none_of(family, [&](Op op) { return e->is(op); })) return;
    for (const Op op : family)
        if (!e->is(op)) instead(to, e, apply(op, e->children));
}

// ---- the changes of one node

void change_arithmetic(Alternatives& to, const Expr& e) {
    const Expr &a = (*e)[0], &b = (*e)[1];
    if (e->is(Op::add)) {
        tell(to, a, message("It does not add “{what}”."), b);
        tell(to, b, message("It does not add “{what}”."), a);
        tell(to, a - b, message("It subtracts “{what}” instead of adding it."), b);
    } else if (e->is(Op::subtract)) {
        tell(to, a, message("It does not subtract “{what}”."), b);
        tell(to, a + b, message("It adds “{what}” instead of subtracting it."), b);
        instead(to, e, b - a);
    } else if (e->is(Op::multiply)) {
        tell(to, a, message("It does not multiply by “{what}”."), b);
        tell(to, b, message("It does not multiply by “{what}”."), a);
        tell(to, a / b, message("It divides by “{what}” instead of multiplying by it."), b);
        instead(to, e, a + b);
    } else if (e->is(Op::divide)) {
        tell(to, a, message("It does not divide by “{what}”."), b);
        tell(to, a * b, message("It multiplies by “{what}” instead of dividing by it."), b);
    } else if (e->is(Op::quotient) || e->is(Op::remainder)) {
        instead(to, e, apply(e->is(Op::quotient) ? Op::remainder : Op::quotient, e->children));
        instead(to, e, a);
    } else if (e->is(Op::power)) {
        instead(to, e, a);
        if (b->as<Literal>() != nullptr && b->as<Literal>()->value == 2.0) instead(to, e, apply(Op::abs, {a}));
    }
}

void change_operation(Alternatives& to, const Expr& e) {
    others_of(to, e, kFunctions);
    others_of(to, e, kComparisons);
    if (e->children.size() == 2) change_arithmetic(to, e);
    if (e->is(Op::root)) tell(to, (*e)[0], message("It does not take the root of “{what}”."), (*e)[0]);
    if (e->is(Op::negate)) tell(to, (*e)[0], message("It turns the sign of “{what}”."), (*e)[0]);
    if (e->is(Op::min) || e->is(Op::max)) {
        instead(to, e, apply(e->is(Op::min) ? Op::max : Op::min, e->children));
        instead(to, e, (*e)[0]);
        instead(to, e, (*e)[1]);
    }
    if (e->is(Op::choose)) {
        instead(to, e, apply(Op::choose, {(*e)[0], (*e)[2], (*e)[1]}));
        instead(to, e, (*e)[1]);
        instead(to, e, (*e)[2]);
    }
    const auto* a = e->as<Apply>();
    if (std::ranges::find(kFunctions, a->op) != kFunctions.end() && !e->is(Op::exp)) instead(to, e, (*e)[0]);
}

// Numbers that one is mistaken for: half and twice of it, other powers of ten.
std::vector<double> mistaken_for(double value) {
    std::vector<double> others = {2.0 * value,   0.5 * value,  10.0 * value, 0.1 * value,
                                  100.0 * value, 0.01 * value, -value};
    if (value == std::floor(value) && std::abs(value) < 10.0) {
        others.push_back(value + 1.0);
        others.push_back(value - 1.0);
    }
    if (value > 0.0 && value < 0.1)  // an eps
        for (int exponent = -12; exponent < 0; ++exponent) others.push_back(std::pow(10.0, exponent));
    if (value >= 100.0)  // a base
        for (const double base : {5e3, 1e3, 1e4, 2e4, 1e5, 5e5, 1e6, 1e7}) others.push_back(base);
    return others;
}

void change_number(Alternatives& to, const Expr& e, const Around& around) {
    const auto* named = e->as<Constant>();
    const auto known = named == nullptr ? around.numbers.end() : around.numbers.find(named->name);
    if (named != nullptr && known == around.numbers.end()) return;
    const double value = named == nullptr ? e->as<Literal>()->value : known->second;
    if (!std::isfinite(value)) return;
    if (named != nullptr)
        for (const std::string& name : around.mistaken)
            if (const auto other = around.numbers.find(name); other != around.numbers.end() && other->second != value)
                instead(to, e, constant(name));
    for (const double other : mistaken_for(value))
        if (other != value) instead(to, e, number(other));
}

// ---- indices

void change_cell(Alternatives& to, const Expr& e, const Around& around) {
    for (const double factor : {0.5, 2.0}) instead(to, e, number(factor) * e);
    const auto with = [&](std::size_t at, const Expr& index) {
        std::vector<Expr> indices = e->children;
        indices[at] = index;
        return with_children(e, std::move(indices));
    };
    for (std::size_t i = 0; i < e->children.size(); ++i) {
        const auto* plain = (*e)[i]->as<FreeIndex>();
        if ((*e)[i]->as<Leading>() != nullptr) continue;
        if (plain == nullptr) {  // the row of a table
            instead(to, e, with(i, (*e)[i] + number(1.0)));
            instead(to, e, with(i, (*e)[i] - number(1.0)));
            continue;
        }
        const auto own = around.indices.find(plain->name);
        if (own == around.indices.end()) continue;
        for (const auto& [name, dim] : around.indices) {
            if (name == plain->name || dim.size != own->second.size) continue;
            instead(to, e, with(i, index(name)));
            for (std::size_t j = i + 1; j < e->children.size(); ++j)
                if (const auto* other = (*e)[j]->as<FreeIndex>(); other != nullptr && other->name == name) {
                    std::vector<Expr> turned = e->children;
                    std::swap(turned[i], turned[j]);
                    instead(to, e, with_children(e, std::move(turned)));
                }
        }
    }
}

// The reduction over another axis: the definition's own index of the axis that was reduced, and the one that is.
void change_axis(Alternatives& to, const Expr& e, const Around& around, const std::string& name, const Expr& body) {
    const auto* reduce = e->as<Reduce>();
    for (const LeftIndex& kept : around.definition.indices) {
        if (!kept.dim || !reduce->dim || kept.dim->size != reduce->dim->size) continue;
        for (const LeftIndex& other : around.definition.indices) {
            if (other.name == kept.name || !other.dim || !body->indices.contains(other.name)) continue;
            Reduce over = *reduce;
            over.dim = other.dim;
            const Expr turned = substitute(body, {{name, index(kept.name)}, {other.name, index(name)}});
            instead(to, e, reduction_of(over, name, turned));
        }
    }
}

// The reduction by another fold, and with it those right inside that fold in the same way: the mean over two axes is
// one mean.
Expr folded_by(Fold fold, const Expr& e, bool all) {
    Reduce other = *e->as<Reduce>();
    const bool goes_on = all && (*e)[0]->is(other.fold);
    other.fold = fold;
    return node(other, goes_on ? std::vector{folded_by(fold, (*e)[0], all)} : e->children);
}

void change_reduction(Alternatives& to, const Expr& e) {
    const Fold own = e->as<Reduce>()->fold;
    for (const Fold fold : {Fold::sum, Fold::mean, Fold::max, Fold::min}) {
        if (fold == own || own == Fold::argmax) continue;
        instead(to, e, folded_by(fold, e, false));
        if ((*e)[0]->is(own)) instead(to, e, folded_by(fold, e, true));
    }
}

// ---- functions

void change_call(Alternatives& to, const Expr& e, const Around& around) {
    const Call& call = *e->as<Call>();
    const std::size_t first = call.along ? 1 : 0;
    for (const auto& scoped : around.indices) {
        const std::string& name = scoped.first;
        const bool is_read =
            std::ranges::any_of(e->children.begin() + static_cast<std::ptrdiff_t>(first), e->children.end(),
                                [&](const Expr& operand) { return operand->indices.contains(name); });
        if (!call.along || !is_read || same((*e)[0], index(name))) continue;
        std::vector<Expr> along = e->children;
        along[0] = index(name);
        instead(to, e, with_children(e, std::move(along)));
    }
    for (const auto& [name, function] : *around.functions)
        if (name != call.function && function.along.empty() != call.along &&
            function.parameters.size() + first == e->children.size())
            instead(to, e, node(Call{name, call.along}, e->children));
    if (e->children.size() == first + 1) instead(to, e, (*e)[first]);
}

// ---- all changes in an expression

// A larger expression with a change inside it is easier to read, and says what is done with the number.
Alternative around_it(const Expr& e, std::size_t at, Alternative inner) {
    std::vector<Expr> children = e->children;
    children[at] = inner.now;
    const Expr now = with_children(e, std::move(children));
    if (!inner.meant) return {now, std::move(inner.sentence), nullptr, nullptr};
    const auto told = [&](Phrase phrase) {
        return Alternative{now, Sentence(phrase, {{"now", said(inner.computed)}, {"meant", said(inner.meant)}}),
                           nullptr, nullptr};
    };
    if (e->is(Op::power) && at == 0) return told(message("It takes a power of “{now}”, not of “{meant}”."));
    if (e->is(Op::divide) && at == 1) return told(message("It divides by “{now}”, not by “{meant}”."));
    if (e->is(Op::multiply)) return told(message("It multiplies by “{now}”, not by “{meant}”."));
    if (e->is(Op::add)) return told(message("It adds “{now}”, not “{meant}”."));
    if (e->is(Op::subtract) && at == 1) return told(message("It subtracts “{now}”, not “{meant}”."));
    const bool tight = e->as<CellOf>() != nullptr || e->is(Op::root) || e->is(Op::power) || e->is(Op::negate);
    if (tight || e->as<Apply>() != nullptr) return {now, {}, e, now};
    return {now, std::move(inner.sentence), inner.meant, inner.computed};
}

// One more and one less, as where a count begins at 1.
void change_index(Alternatives& to, const Expr& e) {
    instead(to, e, e + number(1.0));
    instead(to, e, e - number(1.0));
}

// The changes of the node itself.
void change_node(Alternatives& to, const Expr& e, const Around& around) {
    if (e->as<Apply>() != nullptr) change_operation(to, e);
    if (e->as<Literal>() != nullptr || e->as<Constant>() != nullptr) change_number(to, e, around);
    if (e->as<CellOf>() != nullptr) change_cell(to, e, around);
    if (e->as<FreeIndex>() != nullptr) change_index(to, e);
    if (e->as<Reduce>() != nullptr) change_reduction(to, e);
}

Alternatives alternatives(const Expr& e, const Around& around) {
    Alternatives found;
    const bool calls = around.functions != nullptr;
    if (calls && e->as<Call>() != nullptr) change_call(found, e, around);
    if (!calls) change_node(found, e, around);
    if (const auto* reduce = e->as<Reduce>()) {
        std::set<std::string> taken;
        for (const auto& [name, dim] : around.indices) taken.insert(name);
        const std::string name = inner_name(e, taken);
        const Expr body = body_at(e, index(name));
        if (!calls) change_axis(found, e, around, name, body);
        Around inside = around;
        if (reduce->dim || calls) inside.indices[name] = reduce->dim.value_or(Dim{});
        for (Alternative& inner : alternatives(body, inside)) {
            inner.now = reduction_of(*reduce, name, inner.now, e->at);
            found.push_back(std::move(inner));
        }
        return found;
    }
    if (e->is(Op::stop) || e->is(Op::stored)) found.clear();
    const bool runs_along = e->as<Call>() != nullptr && e->as<Call>()->along;  // what it runs along is no number
    for (std::size_t i = runs_along ? 1 : 0; i < e->children.size(); ++i)
        for (Alternative& inner : alternatives((*e)[i], around)) found.push_back(around_it(e, i, std::move(inner)));
    return found;
}

Sentence sentence_of(const Alternative& made) {
    if (!made.meant) return made.sentence;
    return message("It computes “{now}”, not “{meant}”.", {{"now", said(made.computed)}, {"meant", said(made.meant)}});
}

// The formula with each change of each of its definitions; `around` says what surrounds a definition's body.
std::vector<Edit> edits_of(const Formula& formula, const auto& around) {
    std::vector<Edit> all;
    const auto add = [&](const Definition& d, const auto& with_body) {
        Around here = around(d);
        for (const LeftIndex& i : d.indices)
            if (i.dim || here.functions != nullptr) here.indices[i.name] = i.dim.value_or(Dim{});
        for (const Alternative& made : alternatives(d.body, here))
            all.push_back({with_body(made.now), sentence_of(made)});
    };
    add(formula.main, [&](const Expr& body) {
        Formula changed = formula;
        changed.main.body = body;
        return changed;
    });
    for (std::size_t i = 0; i < formula.wheres.size(); ++i)
        add(formula.wheres[i], [&](const Expr& body) {
            Formula changed = formula;
            changed.wheres[i].body = body;
            return changed;
        });
    return all;
}

}  // namespace

std::vector<Edit> call_edits(const Formula& written, const Functions& functions) {
    const std::map<std::string, double, std::less<>> none;
    return edits_of(written, [&](const Definition& d) { return Around{d, none, {}, {}, &functions}; });
}

std::vector<Edit> edits(const Formula& elaborated, const std::map<std::string, double, std::less<>>& numbers,
                        std::span<const std::string> mistaken) {
    std::vector<Edit> all = edits_of(elaborated, [&](const Definition& d) { return Around{d, numbers, mistaken, {}}; });
    // What is computed is half or twice as large, or has the other sign.
    for (const double factor : {0.5, 2.0, -1.0}) {
        Formula changed = elaborated;
        changed.main.body = number(factor) * elaborated.main.body;
        all.push_back({std::move(changed),
                       message("It multiplies what is computed by {factor}.", {{"factor", written(factor)}})});
    }
    return all;
}

}  // namespace decoderscope::formulas

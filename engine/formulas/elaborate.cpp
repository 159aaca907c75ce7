#include "engine/formulas/elaborate.h"

#include "engine/base/limits.h"
#include "engine/formulas/code.h"
#include "engine/formulas/print.h"
#include "engine/formulas/vectors.h"
#include "engine/formulas/words.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <numbers>
#include <utility>

namespace decoderscope::formulas {
namespace {

using Constants = std::map<std::string, double, std::less<>>;

std::vector<std::string> names_of(const auto& map) {
    std::vector<std::string> names;
    for (const auto& [name, value] : map) names.push_back(name);
    return names;
}

// ---- "…"

bool begins_with_leading(const Expr& e) {
    return e->as<CellOf>() != nullptr && !e->children.empty() && (*e)[0]->as<Leading>() != nullptr;
}

// "…" stands for as many leading axes as the operand with the most of them has.
Formula without_leading(Formula f, const Known& known) {
    const Shape* longest = nullptr;
    std::size_t count = 0;
    std::set<std::string> taken;
    for (const Definition* d : definitions(f)) {
        for (const LeftIndex& i : d->indices) taken.insert(i.name);
        for_each(d->body, [&](const Expr& e) {
            if (e->as<Reduce>() != nullptr) taken.insert(e->as<Reduce>()->letter);
            if (!begins_with_leading(e)) return;
            if (std::ranges::find(d->indices, "…", &LeftIndex::name) == d->indices.end())
                throw FormulaError(
                    message("“…” is read here, but it isn't among the indices of {name}", {{"name", d->name}}), e->at);
            const auto operand = known.operands.find(e->as<CellOf>()->name);
            if (operand == known.operands.end() || operand->second.size() + 1 < e->children.size() + count) return;
            longest = &operand->second;
            count = longest->size() + 1 - e->children.size();
        });
    }
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) {
        names.push_back(fresh((*longest)[i].axis.substr(0, 1), taken));
        taken.insert(names.back());
    }
    const auto spelt_out = [&](Definition& d) {
        std::vector<LeftIndex> indices;
        for (const LeftIndex& i : d.indices) {
            if (i.name != "…") indices.push_back(i);
            if (i.name == "…")
                for (const std::string& name : names) indices.push_back({.name = name});
        }
        d.indices = std::move(indices);
    };
    spelt_out(f.main);
    for (Definition& where : f.wheres) spelt_out(where);
    return with_bodies(std::move(f), [&](const Expr& body) {
        return rewrite(body,
                       [&](const Expr& e) {
                           if (!begins_with_leading(e)) return e;
                           const auto operand = known.operands.find(e->as<CellOf>()->name);
                           std::size_t own = count;
                           if (operand != known.operands.end())
                               own = operand->second.size() + 1 < e->children.size()
                                         ? 0
                                         : operand->second.size() + 1 - e->children.size();
                           std::vector<Expr> children;
                           for (std::size_t i = count - std::min(own, count); i < count; ++i)
                               children.push_back(index(names[i]));
                           children.insert(children.end(), e->children.begin() + 1, e->children.end());
                           return with_children(e, std::move(children));
                       },
                       {names.begin(), names.end()});
    });
}

// ---- operands that may be missing

// Whether this is, or a condition on, an operand that isn't there.
bool is_missing(const Expr& e, const Known& known) {
    if (const auto* cell = e->as<CellOf>()) return cell->optional && !known.operands.contains(cell->name);
    const auto* a = e->as<Apply>();
    const bool condition = a != nullptr && (a->op == Op::bracket || spelling_of(a->op).level == level::comparison);
    return condition && std::ranges::any_of(e->children, [&](const Expr& child) { return is_missing(child, known); });
}

// A sum leaves a missing summand out, a product a factor; a condition on it holds.
Formula without_missing(Formula f, const Known& known) {
    const auto simpler = [&](const Expr& e) {
        if (const auto* cell = e->as<CellOf>();
            cell != nullptr && cell->optional && known.operands.contains(cell->name))
            return node(CellOf{cell->name}, e->children, e->at);
        const bool sum = e->is(Op::add), product = e->is(Op::multiply);
        if ((sum || product || e->is(Op::subtract) || e->is(Op::divide)) && is_missing((*e)[1], known)) return (*e)[0];
        if ((sum || product) && is_missing((*e)[0], known)) return (*e)[1];
        return e;
    };
    return with_bodies(std::move(f), [&](const Expr& body) { return rewrite(body, simpler); });
}

// ---- sub-results that read an index without naming it

// By sub-result, the indices that it reads, itself or by another one, and doesn't have.
std::map<std::string, std::set<std::string>> outer_indices(const std::vector<Definition>& wheres) {
    std::map<std::string, std::set<std::string>> extra, reads_of;
    for (const Definition& d : wheres) reads_of[d.name] = names_read(d.body);
    for (bool grown = true; grown;) {
        grown = false;
        for (const Definition& d : wheres) {
            std::set<std::string> all = d.body->indices;
            for (const std::string& name : reads_of[d.name])
                if (const auto more = extra.find(name); more != extra.end())
                    all.insert(more->second.begin(), more->second.end());
            for (const LeftIndex& i : d.indices) all.erase(i.name);
            std::set<std::string>& mine = extra[d.name];
            grown = grown || mine.size() != all.size();
            mine = std::move(all);
        }
    }
    return extra;
}

// Gives each of these sub-results the indices that it reads besides its own, and tells all readers; those of `first` in
// front. `readers` are the expressions that may read them.
void bind_outer(std::vector<Definition>& wheres, std::span<Expr* const> readers,
                const std::vector<std::string>& first) {
    const std::map<std::string, std::set<std::string>> extra = outer_indices(wheres);
    const auto ordered = [&](const std::set<std::string>& names) {
        std::vector<std::string> out;
        for (const std::string& name : first)
            if (names.contains(name)) out.push_back(name);
        for (const std::string& name : names)
            if (std::ranges::find(out, name) == out.end()) out.push_back(name);
        return out;
    };
    std::set<std::string> taken;
    for (const auto& [name, more] : extra) taken.insert(more.begin(), more.end());
    if (taken.empty()) return;
    const auto grow = [&](const Expr& body) {
        return rewrite(
            body,
            [&](const Expr& e) {
                const auto* cell = e->as<CellOf>();
                const auto more = cell == nullptr ? extra.end() : extra.find(cell->name);
                if (more == extra.end() || more->second.empty()) return e;
                std::vector<Expr> children;
                for (const std::string& name : ordered(more->second)) children.push_back(index(name));
                children.insert(children.end(), e->children.begin(), e->children.end());
                return with_children(e, std::move(children));
            },
            taken);
    };
    for (Expr* reader : readers) *reader = grow(*reader);
    for (Definition& d : wheres) {
        d.body = grow(d.body);
        std::vector<LeftIndex> indices;
        for (const std::string& name : ordered(extra.at(d.name))) indices.push_back({.name = name});
        indices.insert(indices.end(), d.indices.begin(), d.indices.end());
        d.indices = std::move(indices);
    }
}

std::vector<std::string> index_names(const Definition& d) {
    std::vector<std::string> names;
    for (const LeftIndex& i : d.indices) names.push_back(i.name);
    return names;
}

// Inside a sum over v, a sub-result that reads a v of its own accord would mean the one outside: rarely meant.
void check_meant(const Formula& f) {
    const std::map<std::string, std::set<std::string>> outer = outer_indices(f.wheres);
    for_each(f.main.body, [&](const Expr& e) {
        const auto* reduce = e->as<Reduce>();
        if (reduce == nullptr) return;
        for (const std::string& name : names_read(e))
            if (const auto found = outer.find(name); found != outer.end() && found->second.contains(reduce->letter))
                throw FormulaError(message("two indices are called {index}, and “{name}” reads the outer one: give the "
                                           "inner one another letter",
                                           {{"index", reduce->letter}, {"name", name}}),
                                   e->at);
    });
}

Formula closed(Formula f) {
    std::array readers{&f.main.body};
    bind_outer(f.wheres, readers, index_names(f.main));
    return f;
}

// ---- functions in place

class Expander {
public:
    Expander(const Functions& functions, const Formula& f, const Known& known) : functions_(functions) {
        for (const Definition* d : definitions(f)) {
            results_.insert(d->name);
            for (const LeftIndex& i : d->indices) indices_.insert(i.name);
        }
        for (const auto& [name, shape] : known.operands) results_.insert(name);
        order_ = index_names(f.main);
    }

    [[nodiscard]] Formula formula(Formula f) {
        for (Definition& where : f.wheres) where.body = expanded(where.body);
        f.main.body = expanded(f.main.body);
        f.wheres.insert(f.wheres.end(), made_.begin(), made_.end());
        return f;
    }

private:
    Expr expanded(const Expr& e) {
        if (!any_node(e, [](const Expr& x) { return x->as<Call>() != nullptr; })) return e;
        return rewrite(
            e, [&](const Expr& x) { return x->as<Call>() != nullptr ? in_place(x) : x; }, indices_);
    }

    Expr in_place(const Expr& call) {
        const Call& what = *call->as<Call>();
        const Formula& function = functions_.find(what.function)->second;
        const std::size_t first = what.along ? 1 : 0;
        if (what.along == function.along.empty() || call->children.size() != first + function.parameters.size())
            throw FormulaError(
                message_n(
                    "{function} takes {count} operand", "{function} takes {count} operands", function.parameters.size(),
                    {{"function", function.along.empty() ? what.function : what.function + "_" + function.along}}),
                call->at);
        const std::string along = what.along ? (*call)[0]->as<FreeIndex>()->name : "";
        std::map<std::string, Expr> arguments;
        std::set<std::string> taken = indices_;
        for (std::size_t i = 0; i < function.parameters.size(); ++i) {
            arguments[function.parameters[i]] = call->children[first + i];
            taken.insert(call->children[first + i]->indices.begin(), call->children[first + i]->indices.end());
        }
        taken.insert(along);
        std::map<std::string, std::string> renamed;
        for (const Definition& d : function.wheres) renamed[d.name] = new_result(d.name);

        const auto put = [&](const Expr& e) {
            if (const auto* c = e->as<Constant>())
                if (const auto found = arguments.find(c->name); found != arguments.end()) return found->second;
            // A function's own reductions stand nowhere in what was written.
            if (e->as<Reduce>() != nullptr) return node(e->what, e->children);
            const auto* cell = e->as<CellOf>();
            if (cell == nullptr) return e;
            if (const auto found = arguments.find(cell->name); found != arguments.end())
                return substitute(found->second, {{along, (*e)[0]}});
            if (const auto found = renamed.find(cell->name); found != renamed.end())
                return node(CellOf{found->second}, e->children, e->at);
            return e;
        };
        const auto body_of = [&](const Expr& body) {
            const Expr own = function.along.empty() ? body : substitute(body, {{function.along, index(along)}});
            return expanded(rewrite(own, put, taken));
        };
        std::vector<Definition> wheres;
        for (Definition d : function.wheres) {
            d.name = renamed[d.name];
            for (LeftIndex& i : d.indices) {
                const std::string name = i.name == function.along ? along : fresh(i.name, taken);
                if (i.name != function.along) d.body = substitute(d.body, {{i.name, index(name)}});
                i.name = name;
            }
            d.body = body_of(d.body);
            wheres.push_back(std::move(d));
        }
        Expr result = body_of(function.main.body);
        std::array readers{&result};
        bind_outer(wheres, readers, order_);
        made_.insert(made_.end(), wheres.begin(), wheres.end());
        for (const Definition& d : wheres) nodes_ += d.body->nodes;
        check_size(nodes_, made_.size(), call->at);
        return result;
    }

    std::string new_result(const std::string& name) {
        std::string free = name;
        for (int i = 2; !results_.insert(free).second; ++i) free = name + std::to_string(i);
        return free;
    }

    const Functions& functions_;
    std::set<std::string> results_, indices_;
    std::vector<std::string> order_;
    std::vector<Definition> made_;
    std::uint64_t nodes_ = 0;  // of these
};

// ---- axes

// The number as a size, if it can be one.
std::optional<Index> size_of(double number) {
    const bool is_size =
        number >= 0.0 && number <= static_cast<double>(limits::kNumbers) && number == std::floor(number);
    return is_size ? std::optional(static_cast<Index>(number)) : std::nullopt;
}

// The size that an axis is named by: "4".
std::optional<Index> size_written(std::string_view axis) {
    Index size = 0;
    const auto [end, error] = std::from_chars(axis.data(), axis.data() + axis.size(), size);
    return error == std::errc() && end == axis.data() + axis.size() ? size_of(static_cast<double>(size)) : std::nullopt;
}

// Whether two axes of one size are the same things: a query, a key and a position of the stream are one token.
bool goes_with(std::string_view a, std::string_view b) {
    constexpr std::array<std::string_view, 4> kPositions{"pos", "query", "key", "src"};
    return a == b || goes_with_any(b) ||
           (std::ranges::find(kPositions, a) != kPositions.end() &&
            std::ranges::find(kPositions, b) != kPositions.end());
}

// Which indices run over the same axis. An index is named by its definition, or by its number among the reductions.
class Sizes {
public:
    Sizes(const Known& known, const Constants& numbers) : known_(known), numbers_(numbers) {}

    // What is written beside an index holds, even if an operand that it reads is longer or shorter, or calls it
    // otherwise.
    void written(const std::string& v, const std::string& letter, const std::string& axis, std::size_t at) {
        letters_[v] = letter;
        if (axis.empty()) return;
        const auto named = numbers_.find(axis);
        const auto size = named != numbers_.end() ? size_of(named->second) : size_written(axis);
        if (!size)
            throw FormulaError(
                with_nearest(message("there is no axis “{axis}”", {{"axis", axis}}), axis, names_of(numbers_)), at);
        give(v, {axis, *size}, "", at);
        written_.insert(root(v));
    }

    void give(const std::string& v, const Dim& dim, const std::string& operand, std::size_t at) {
        const std::string r = root(v);
        const auto found = dims_.find(r);
        if (found == dims_.end() || (found->second.dim.size == dim.size && goes_with_any(found->second.dim.axis))) {
            dims_[r] = {dim, operand};
            return;
        }
        if (written_.contains(r)) return;
        const Dim& before = found->second.dim;
        if (before.size == dim.size && (known_.trusted || known_.fits_by_size || goes_with(before.axis, dim.axis)))
            return;
        throw FormulaError(message("index {index} can't run over both {axis} ({size}) of {operand} and {other_axis} "
                                   "({other_size}) of {other}",
                                   {{"index", letters_[v]},
                                    {"axis", before.axis},
                                    {"size", before.size},
                                    {"operand", shape_text_of(found->second.operand)},
                                    {"other_axis", dim.axis},
                                    {"other_size", dim.size},
                                    {"other", shape_text_of(operand)}}),
                           at);
    }

    void join(const std::string& a, const std::string& b, std::size_t at) {
        const std::string ra = root(a), rb = root(b);
        if (ra == rb || (written_.contains(ra) && written_.contains(rb))) return;  // each is as it is written
        if (const auto dim = dims_.find(rb); dim != dims_.end()) give(ra, dim->second.dim, dim->second.operand, at);
        if (written_.contains(rb)) written_.insert(ra);
        up_[rb] = ra;
    }

    [[nodiscard]] const Dim* dim(const std::string& v) {
        const auto found = dims_.find(root(v));
        return found == dims_.end() ? nullptr : &found->second.dim;
    }

private:
    struct Said {
        Dim dim;
        std::string operand;
    };
    [[nodiscard]] std::string root(const std::string& v) {
        const auto up = up_.find(v);
        return up == up_.end() ? v : up->second = root(up->second);  // the next way is shorter
    }
    [[nodiscard]] std::string shape_text_of(const std::string& operand) const {
        const auto found = known_.operands.find(operand);
        return found == known_.operands.end() ? operand : shape_text(operand, found->second);
    }

    const Known& known_;
    const Constants& numbers_;
    std::map<std::string, std::string> up_, letters_;
    std::map<std::string, Said> dims_;
    std::set<std::string> written_;
};

// Checks the names and gives each index its axis.
class Axes {
public:
    Axes(const Formula& f, const Known& known)
        : formula_(f), known_(known), numbers_(numbers_of(known)), sizes_(known_, numbers_) {
        for (const Definition* d : definitions(f)) results_[d->name] = d;
    }

    [[nodiscard]] Formula formula() {
        for (const Definition* d : definitions(formula_))
            for (const LeftIndex& i : d->indices) sizes_.written(d->name + "/" + i.name, i.name, i.axis, kNowhere);
        for (const Definition* d : definitions(formula_)) {
            visit(d->body, scope_of(*d));
            if (!d->start) continue;
            if (any_node(d->start, [](const Expr& e) { return e->as<CellOf>() || e->as<Call>() || e->as<Reduce>(); }))
                throw FormulaError(message("a recurrence begins from a number: “from 0”"), d->start->at);
            visit(d->start, {});
        }
        // An index that no operand has runs over what one has that it is compared with: Σ_{j ≤ k} x[j].
        for (std::size_t i = 0; i < compared_.size(); ++i)
            for (const auto& [one, other] : compared_)
                if ((sizes_.dim(one) == nullptr) != (sizes_.dim(other) == nullptr)) sizes_.join(one, other, kNowhere);
        for (const auto& [one, dim] : shifted_)  // y[b, p] = x[b, p − 1]; a sum's own bounds may be others
            if (sizes_.dim(one) == nullptr && one[0] != '#') sizes_.give(one, dim, "", kNowhere);
        reductions_ = 0;
        Formula f = formula_;
        for (Definition& where : f.wheres) attach(where);
        attach(f.main);
        return f;
    }

private:
    using Scope = std::map<std::string, std::string>;

    static Scope scope_of(const Definition& d) {
        Scope scope;
        for (const LeftIndex& i : d.indices) scope[i.name] = d.name + "/" + i.name;
        return scope;
    }

    // Visits in the order in which `with_dims` attaches: the reductions are counted.
    void visit(const Expr& e, const Scope& scope) {
        if (scope.size() > kMostPlaces)
            throw FormulaError(message("more than {count} levels inside each other", {{"count", kMostPlaces}}), e->at);
        if (const auto* reduce = e->as<Reduce>()) {
            const std::string v = "#" + std::to_string(reductions_++);
            sizes_.written(v, reduce->letter, reduce->axis, e->at);
            Scope inside = scope;
            inside[v] = v;
            return visit(body_at(e, index(v)), inside);
        }
        if (e->children.size() == 2 && e->as<Apply>() != nullptr &&
            spelling_of(e->as<Apply>()->op).level == level::comparison) {
            const auto *one = (*e)[0]->as<FreeIndex>(), *other = (*e)[1]->as<FreeIndex>();
            if (one != nullptr && other != nullptr)
                compared_.emplace_back(bound(one->name, scope, e->at), bound(other->name, scope, e->at));
        }
        if (const auto* c = e->as<Constant>()) check(*c, e->at);
        if (const auto* cell = e->as<CellOf>()) read(*cell, *e, scope);
        for (const Expr& child : e->children) visit(child, scope);
    }

    void check(const Constant& c, std::size_t at) const {
        if (numbers_.contains(c.name) || c.name == "pi") return;
        if (known_.operands.contains(c.name))
            throw FormulaError(
                message("“{name}” needs its indices: it is {shape}",
                        {{"name", c.name}, {"shape", shape_text(c.name, known_.operands.find(c.name)->second)}}),
                at);
        if (c.name.size() > 2 && c.name[c.name.size() - 2] == '_')
            throw FormulaError(
                message("there is no number “{name}”, and no function of that name along an index: write "
                        "a function of PyTorch's without indices, as in x.median(-1).values",
                        {{"name", c.name}}),
                at);
        std::vector<std::string> names = names_of(numbers_);
        for (const auto& [name, shape] : known_.operands) names.push_back(name);
        throw FormulaError(with_nearest(message("there is no number “{name}”", {{"name", c.name}}), c.name, names), at);
    }

    void read(const CellOf& cell, const Node& e, const Scope& scope) {
        const auto operand = known_.operands.find(cell.name);
        const auto result = results_.find(cell.name);
        if (result == results_.end() && operand == known_.operands.end()) {
            std::vector<std::string> known = names_of(known_.operands);
            for (const auto& [name, d] : results_) known.push_back(name);
            throw FormulaError(
                with_nearest(message("there is no operand “{name}”", {{"name", cell.name}}), cell.name, known), e.at);
        }
        const std::size_t rank = result != results_.end() ? result->second->indices.size() : operand->second.size();
        if (rank != e.children.size())
            throw FormulaError(message("“{name}” is read with {count} indices, but it is {shape}",
                                       {{"name", cell.name},
                                        {"count", e.children.size()},
                                        {"shape", result != results_.end() ? left_text(*result->second)
                                                                           : shape_text(cell.name, operand->second)}}),
                               e.at);
        for (std::size_t i = 0; i < rank; ++i) {
            const auto* plain = e[i]->as<FreeIndex>();
            if (plain == nullptr) {
                if (result == results_.end() && !known_.trusted) check_place(e[i], operand->second[i], cell.name, e.at);
                const auto* left = e[i]->is(Op::add) || e[i]->is(Op::subtract) ? (*e[i])[0]->as<FreeIndex>() : nullptr;
                if (result == results_.end() && left != nullptr)
                    shifted_.emplace_back(bound(left->name, scope, e.at), operand->second[i]);
                continue;
            }
            if (result != results_.end())
                sizes_.join(bound(plain->name, scope, e.at), cell.name + "/" + result->second->indices[i].name, e.at);
            else
                sizes_.give(bound(plain->name, scope, e.at), operand->second[i], cell.name, e.at);
        }
    }

    // What is written in an index's place must be one: neither a condition, nor a number between two places, nor one
    // beyond the axis.
    void check_place(const Expr& place, const Dim& dim, const std::string& operand, std::size_t at) const {
        const auto of_cell = [&](const std::string& name) {
            const auto kind = known_.kinds.find(name);
            const auto number = numbers_.find(name);
            if (kind != known_.kinds.end()) return kind->second;
            return number == numbers_.end() || number->second == std::floor(number->second) ? NumberKind::whole
                                                                                            : NumberKind::real;
        };
        const NumberKind kind = kind_of(place, of_cell);
        if (kind == NumberKind::condition)
            throw FormulaError(message("a comparison is no place of {operand}: if the places 0 and 1 are meant, write "
                                       "(… ? 1 : 0)",
                                       {{"operand", shape_text_of(operand)}}),
                               place->at == kNowhere ? at : place->at);
        if (kind == NumberKind::real) throw FormulaError(message("a whole number is needed here"), at);
        const auto number = known_number(place, numbers_);
        if (number && (*number < (place->as<Literal>() != nullptr ? -static_cast<double>(dim.size) : 0.0) ||
                       *number >= static_cast<double>(dim.size)))
            throw FormulaError(
                message("{axis} of {operand} has no place {place}; its last one is {axis} − 1",
                        {{"axis", dim.axis}, {"operand", shape_text_of(operand)}, {"place", written(*number)}}),
                at);
    }
    [[nodiscard]] std::string shape_text_of(const std::string& operand) const {
        return shape_text(operand, known_.operands.find(operand)->second);
    }

    // What an index is bound by.
    static const std::string& bound(const std::string& name, const Scope& scope, std::size_t at) {
        const auto found = scope.find(name);
        if (found != scope.end()) return found->second;
        throw FormulaError(message("there is no number “{name}”", {{"name", name}}), at);
    }

    static std::string left_text(const Definition& d) {
        std::string text;
        for (const LeftIndex& i : d.indices) text += (text.empty() ? "" : ", ") + i.name;
        return d.name + "[" + text + "]";
    }

    void attach(Definition& d) {
        for (LeftIndex& i : d.indices) i.dim = dim_of(d.name + "/" + i.name, i.name, i.dim, kNowhere);
        d.body = with_dims(d.body);
        if (d.start) d.start = with_dims(d.start);
    }

    Expr with_dims(const Expr& e) {
        if (const auto* reduce = e->as<Reduce>()) {
            const std::string v = "#" + std::to_string(reductions_++);
            Reduce sized = *reduce;
            sized.dim = dim_of(v, reduce->letter, reduce->dim, e->at);
            const bool has_none = sized.fold == Fold::max || sized.fold == Fold::min || sized.fold == Fold::argmax;
            if (sized.dim->size == 0 && has_none && e->at != kNowhere && !known_.trusted)
                throw FormulaError(message("there is no largest or smallest number along {axis}: it has no places",
                                           {{"axis", sized.dim->axis}}),
                                   e->at);
            return reduction_of(sized, v, with_dims(body_at(e, index(v))), e->at);
        }
        if (e->children.empty()) return e;
        const auto* cell = e->as<CellOf>();
        const auto operand =
            cell == nullptr || results_.contains(cell->name) ? known_.operands.end() : known_.operands.find(cell->name);
        std::vector<Expr> children;
        for (const Expr& child : e->children) {
            const auto* place = child->as<Literal>();
            children.push_back(place != nullptr && place->value < 0.0 && operand != known_.operands.end()
                                   ? number(place->value + static_cast<double>(operand->second[children.size()].size))
                                   : with_dims(child));
        }
        return with_children(e, std::move(children));
    }

    // The dims of a derived formula are known before.
    [[nodiscard]] Dim dim_of(const std::string& v, const std::string& letter, const std::optional<Dim>& before,
                             std::size_t at) {
        if (const Dim* dim = sizes_.dim(v)) return *dim;
        if (before) return *before;
        const std::string::size_type slash = v.find('/');
        const std::string example =
            slash == std::string::npos ? "Σ_{" + letter + ": key}" : v.substr(0, slash) + "[…, " + letter + ": key]";
        throw FormulaError(message("no operand says what {index} runs over: write its axis beside it, as in {example}",
                                   {{"index", letter}, {"example", example}}),
                           at);
    }

    const Formula& formula_;
    const Known& known_;
    Constants numbers_;
    Sizes sizes_;
    std::map<std::string, const Definition*, std::less<>> results_;
    std::vector<std::pair<std::string, std::string>> compared_;  // indices
    std::vector<std::pair<std::string, Dim>> shifted_;           // indices that something is added to in an axis' place
    std::size_t reductions_ = 0;
};

// ---- what it costs, and whether it ends

// Counts how often the nodes of a definition are computed: once for each combination of the indices in scope, but a
// reduction only when an index moves that it reads, since evaluators keep what it was. The sums of a softmax inside
// another sum are computed once, if they don't read its index.
class Steps {
public:
    explicit Steps(const Definition& definition) : definition_(definition), places_(definition.indices.size()) {}

    [[nodiscard]] double all() {
        Counts counts = {};
        count(definition_.body, counts);
        double times = 1.0, steps = counts[0];
        for (std::size_t i = 0; i < definition_.indices.size(); ++i) {
            // An empty axis counts as 1, so that no product of sizes overflows.
            times *= static_cast<double>(std::max(definition_.indices[i].dim->size, Index{1}));
            steps += counts[i + 1] * times;
        }
        if (definition_.body->is_of_matrix()) {
            const auto end = definition_.indices.end();
            const double of_each = 16.0 * static_cast<double>(std::min((end - 1)->dim->size, (end - 2)->dim->size));
            // A flow looks at each edge, at five of them in a step's time.
            steps += times * (definition_.body->is(Op::flow) ? times / 5.0 : of_each);
        }
        return steps;
    }

private:
    // How many are computed for each combination of so many of the places in scope, from the outermost on.
    using Counts = std::array<double, kMostPlaces + 1>;

    // The number of a set's innermost place, from 1; 0 if it is empty.
    static std::size_t innermost(std::uint64_t places) { return static_cast<std::size_t>(std::bit_width(places)); }

    // Returns the places of the indices that it reads.
    std::uint64_t count(const Expr& e, Counts& counts) {
        if (const auto* reduce = e->as<Reduce>()) return count_reduction(*e, *reduce, counts);
        std::uint64_t places = 0;
        if (const auto* free = e->as<FreeIndex>()) places = bit(place_of(free->name));
        if (const auto* bound = e->as<BoundIndex>()) places = bit(places_ - 1 - bound->level);
        for (const Expr& child : e->children) places |= count(child, counts);
        ++counts[places_];
        return places;
    }

    std::uint64_t count_reduction(const Node& e, const Reduce& reduce, Counts& counts) {
        Counts inside = {};
        const std::size_t place = places_++;
        std::uint64_t places = 0;
        for (const Expr& child : e.children) places |= count(child, inside);
        places_ = place;
        places &= ~bit(place);
        const double each = std::exchange(inside[place + 1], 0.0) + 1.0;
        counts[innermost(places)] += each * static_cast<double>(std::max(reduce.dim->size, Index{1}));
        for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += inside[i];
        return places;
    }

    [[nodiscard]] std::size_t place_of(const std::string& name) const {
        return static_cast<std::size_t>(std::ranges::find(definition_.indices, name, &LeftIndex::name) -
                                        definition_.indices.begin());
    }

    const Definition& definition_;
    std::size_t places_;  // the indices in scope: those on the left, then the reductions'
};

// The direction in which this cell of a recurrence is read; nothing if it isn't so many steps away.
std::optional<Direction> direction_of(const Node& read) {
    std::optional<Direction> found;
    for (std::size_t i = 0; i < read.children.size(); ++i) {
        const Expr& index = read[i];
        if (index->as<FreeIndex>() != nullptr || index->as<BoundIndex>() != nullptr) continue;
        const bool moved = index->is(Op::subtract) || index->is(Op::add);
        const auto* by = moved ? (*index)[1]->as<Literal>() : nullptr;
        if (found || by == nullptr || by->value < 1.0 || (*index)[0]->as<FreeIndex>() == nullptr) return std::nullopt;
        found = {i, index->is(Op::add)};
    }
    return found;
}

void check_ends(const Formula& f) {
    const auto reads_of = dependencies(f);
    for (const Definition* d : definitions(f))
        if (d->start) static_cast<void>(direction_of(f, *d));
    for (const Definition* d : definitions(f))
        for_each(d->body, [&](const Expr& e) {
            if (e->is_of_matrix() && (e != d->body || d->indices.size() < 2 || d->start))
                throw FormulaError(message("“{function}” stands alone, as in s[i, k] = {function}(x[i, k])",
                                           {{"function", spelling_of(e->as<Apply>()->op).ascii}}),
                                   e->at);
        });
    for (const Definition* d : definitions(f))
        if (!d->start && reads_of.at(d->name).contains(d->name) &&
            std::ranges::none_of(definitions(f), [&](const Definition* other) {
                return other->start && reads_of.at(other->name).contains(d->name) &&
                       reads_of.at(d->name).contains(other->name);
            }))
            throw FormulaError(message("“{name}” is defined by itself; a recurrence says what it begins from: “from 0”",
                                       {{"name", d->name}}),
                               kNowhere);
}

}  // namespace

Direction direction_of(const Formula& f, const Definition& recurrence) {
    const auto reads_of = dependencies(f);
    std::optional<Direction> all;
    const auto require = [&](bool holds, const Expr& at) {
        if (!holds)
            throw FormulaError(message("“{name}” may read itself only whole steps back along one index: “t − 1”",
                                       {{"name", recurrence.name}}),
                               at->at);
    };
    require(!recurrence.indices.empty(), recurrence.body);
    for (const Definition* d : definitions(f)) {
        if (!reads_of.at(recurrence.name).contains(d->name) || !reads_of.at(d->name).contains(recurrence.name))
            continue;
        require(!d->start || d->name == recurrence.name, d->body);  // two would wait for each other
        for_each(d->body, [&](const Expr& e) {
            if (!is_cell_of(e, recurrence.name)) return;
            const auto direction = direction_of(*e);
            require(direction && (!all || *all == *direction), e);
            all = direction;
        });
    }
    return all.value_or(Direction{});
}

double steps_of(const Formula& f) {
    double steps = 0.0;
    for (const Definition* d : definitions(f)) steps += Steps(*d).all();
    return steps;
}

void check_cost(const Formula& f) {
    if (const double steps = steps_of(f); steps > static_cast<double>(limits::kFormulaSteps))
        throw FormulaError(message("the formula would take {steps} steps, more than {limit}",
                                   {{"steps", written(std::floor(steps))}, {"limit", limits::kFormulaSteps}}),
                           kNowhere);
}

Constants numbers_of(const Known& known) {
    Constants numbers = known.constants;
    for (const auto& [name, shape] : known.operands)
        for (const Dim& dim : shape)
            if (!size_written(dim.axis)) numbers.try_emplace(dim.axis, static_cast<double>(dim.size));
    return numbers;
}

std::optional<double> known_number(const Expr& e, const Constants& numbers) {
    if (const auto* literal = e->as<Literal>()) return literal->value;
    if (const auto* constant = e->as<Constant>()) {
        if (const auto found = numbers.find(constant->name); found != numbers.end()) return found->second;
        return constant->name == "pi" ? std::optional(std::numbers::pi) : std::nullopt;
    }
    const auto* apply = e->as<Apply>();
    if (apply == nullptr) return std::nullopt;
    std::vector<double> in;
    for (const Expr& child : e->children) {
        const auto number = known_number(child, numbers);
        if (!number) return std::nullopt;
        in.push_back(*number);
    }
    if (apply->op == Op::choose) return in[in[0] != 0.0 ? 1 : 2];
    return value_of(apply->op, in[0], in.size() > 1 ? in[1] : 0.0);
}

NumberKind kind_of(const Expr& e, const std::function<NumberKind(const std::string&)>& of_cell) {
    if (const auto* literal = e->as<Literal>())
        return literal->value != std::floor(literal->value) || !std::isfinite(literal->value) ? NumberKind::real
               : literal->value < 0.0                                                         ? NumberKind::whole
                                                                                              : NumberKind::place;
    if (e->as<FreeIndex>() != nullptr || e->as<BoundIndex>() != nullptr || e->is(Fold::argmax))
        return NumberKind::place;
    if (const auto* constant = e->as<Constant>()) return of_cell(constant->name);
    if (const auto* cell = e->as<CellOf>()) return of_cell(cell->name);
    const auto kind = [&](std::size_t i) { return kind_of((*e)[i], of_cell); };
    if (e->as<Reduce>() != nullptr)
        return e->is(Fold::mean)                          ? NumberKind::real
               : e->is(Fold::sum) || e->is(Fold::product) ? std::max(kind(0), NumberKind::place)
                                                          : kind(0);
    const auto* apply = e->as<Apply>();
    if (apply == nullptr) return NumberKind::real;
    const auto of_whole = [&](NumberKind kind_if) {  // if both are whole
        for (std::size_t i = 0; i < e->children.size(); ++i)
            if (kind(i) == NumberKind::real) return NumberKind::real;
        return kind_if;
    };
    const bool positive =
        e->children.size() > 1 && (*e)[1]->as<Literal>() != nullptr && (*e)[1]->as<Literal>()->value > 0.0;
    switch (apply->op) {
        case Op::stop:
        case Op::stored:
            return kind(0);
        case Op::choose:
            return std::max(kind(1), kind(2));
        case Op::add:
        case Op::multiply:
        case Op::min:
        case Op::max:
            return std::max({kind(0), kind(1),
                             apply->op == Op::min || apply->op == Op::max ? NumberKind::condition : NumberKind::place});
        case Op::subtract:
        case Op::negate:
            return of_whole(NumberKind::whole);
        case Op::abs:
            return of_whole(NumberKind::place);
        case Op::remainder:
            return of_whole(positive ? NumberKind::place : NumberKind::whole);
        case Op::quotient:
            return positive ? std::max(kind(0), of_whole(NumberKind::place)) : of_whole(NumberKind::whole);
        case Op::power:
            return positive ? of_whole(std::max(kind(0), NumberKind::place)) : NumberKind::real;
        case Op::floor:
        case Op::round:
            return kind(0) == NumberKind::place || kind(0) == NumberKind::condition ? NumberKind::place
                                                                                    : NumberKind::whole;
        default:
            return apply->op == Op::bracket || compares(e) ? NumberKind::condition : NumberKind::real;
    }
}

bool goes_with_any(std::string_view axis) {
    return axis == "in" || axis == "out" || axis == "one" || size_written(axis).has_value();
}

std::string shape_text(std::string_view name, const Shape& shape) {
    std::string text;
    for (const Dim& dim : shape)
        text += (text.empty() ? "" : ", ") + (size_written(dim.axis) ? "" : dim.axis + " ") + std::to_string(dim.size);
    return std::string(name) + "[" + text + "]";
}

std::map<std::string, std::set<std::string>> dependencies(const Formula& formula) {
    std::map<std::string, std::set<std::string>> direct, all;
    for (const Definition* d : definitions(formula)) direct[d->name] = names_read(d->body);
    for (const auto& [name, first] : direct) {
        std::vector<std::string> next(first.begin(), first.end());
        while (!next.empty()) {
            const auto read = direct.find(next.back());
            next.pop_back();
            if (read != direct.end() && all[name].insert(read->first).second)
                next.insert(next.end(), read->second.begin(), read->second.end());
        }
        all.try_emplace(name);
    }
    return all;
}

Formula inlined(Formula formula, const std::string& where) {
    const auto found = std::ranges::find(formula.wheres, where, &Definition::name);
    const Definition d = *found;
    formula.wheres.erase(found);
    return with_bodies(std::move(formula), [&](const Expr& body) {
        if (!reads(body, where)) return body;
        return rewrite(body, [&](const Expr& e) {
            if (!is_cell_of(e, where)) return e;
            Replacements replacements;
            for (std::size_t i = 0; i < d.indices.size(); ++i) replacements.emplace_back(d.indices[i].name, (*e)[i]);
            return substitute(d.body, replacements);
        });
    });
}

Formula elaborate(const Formula& formula, const Known& known, const Functions& functions) {
    // An operand of one number is written like a constant.
    Formula f = with_bodies(formula, [&](const Expr& body) {
        return rewrite(body, [&](const Expr& e) {
            const auto* c = e->as<Constant>();
            const auto operand = c == nullptr ? known.operands.end() : known.operands.find(c->name);
            return operand != known.operands.end() && operand->second.empty() ? node(CellOf{c->name}, {}, e->at) : e;
        });
    });
    f = without_missing(without_leading(std::move(f), known), known);
    check_meant(f);
    f = closed(Expander(functions, f, known).formula(std::move(f)));
    std::uint64_t nodes = 0;
    for (const Definition* d : definitions(f)) nodes += d->body->nodes;
    check_size(nodes, f.wheres.size());
    f = Axes(f, known).formula();
    check_ends(f);
    if (!known.trusted) check_cost(f);
    return f;
}

}  // namespace decoderscope::formulas

#include "engine/formulas/code.h"
#include "engine/formulas/evaluate.h"
#include "engine/formulas/print.h"
#include "engine/formulas/words.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::formulas {
namespace {

using Factors = std::vector<Factor>;
using Terms = std::vector<Factors>;

bool is_sum(const Expr& e) { return e->is(Fold::sum) || e->is(Fold::mean); }
bool is_extreme(const Expr& e) { return e->is(Fold::max) || e->is(Fold::min); }
bool is_product(const Expr& e) { return e->is(Op::multiply) || e->is(Op::divide); }

// Whether a sub-result gets a line of its own, where that is possible: it reads itself, it reduces something, or its
// name is a word.
bool has_line(const Definition& d) {
    return d.start || d.name.size() > 1 || d.body->is_of_matrix() ||
           any_node(d.body, [](const Expr& x) { return x->as<Reduce>() != nullptr; });
}

// What these stand around has the same numbers.
bool is_around(const Expr& e) { return e->is(Op::stop) || e->is(Op::stored); }

// The factors above the bar.
void numerators(const Expr& e, std::vector<Expr>& into) {
    if (!is_product(e)) return into.push_back(e);
    numerators((*e)[0], into);
    if (e->is(Op::multiply)) numerators((*e)[1], into);
}
std::vector<Expr> numerators(const Expr& e) {
    std::vector<Expr> all;
    numerators(e, all);
    return all;
}

// A sub-result's cell.
struct Place {
    const Definition* of;
    Cell cell;
    bool operator==(const Place&) const = default;
};

// Where an expression stands: in which definition, and the values of its indices and of those of the sums around it.
struct At {
    const Definition* in;
    std::vector<Index> indices;
};

// The first list without what the second lacks.
template <class T, class Same>
void keep_common(std::vector<T>& all, const std::vector<T>& others, const Same& same) {
    std::erase_if(all, [&](const T& one) {
        return std::ranges::none_of(others, [&](const T& other) { return same(one, other); });
    });
}

bool same_condition(const Factor& a, const Factor& b) {
    if (!a.cell || !b.cell) return a.text == b.text && !a.cell && !b.cell;
    return a.cell->operand == b.cell->operand && a.cell->cell == b.cell->cell;
}

// A sub-result that reduces something or has a word for its name, and a sum inside something else, get a line of their
// own; others stand in place.
// `outside` is whether that is so: inside a sum there would be a line for each summand. There only those sub-results
// get one that are the same for all summands.
class Explainer {
public:
    Explainer(Evaluator& evaluator, const ShownNames& shown) : evaluator_(evaluator), shown_(shown) {}

    [[nodiscard]] Explanation explanation(std::span<const Index> cell) {
        const Definition& main = evaluator_.formula().main;
        At at{&main, {cell.begin(), cell.end()}};
        told_ = {&main};
        (void)line_of(heading(main), {&main, at.indices, nullptr}, main.body, at);
        Explanation out;
        for (Written& written : lines_) out.lines.push_back(std::move(written.line));
        return out;
    }

private:
    // A sub-result's cell, or a sum.
    struct Key {
        const Definition* of;
        std::vector<Index> indices;
        const Node* sum;
        bool operator==(const Key&) const = default;
    };
    struct Written {
        Key key;
        Line line;
    };

    [[nodiscard]] double value(const Expr& e, At& at) { return evaluator_.value(e, *at.in, at.indices); }
    [[nodiscard]] std::string shown(const std::string& name) const {
        const auto found = shown_.find(name);
        return found == shown_.end() ? name : found->second;
    }

    // That of a derivative's sub-result "d_scale" is "∂/∂scale".
    [[nodiscard]] std::string line_name(const std::string& name) const {
        return name.starts_with("d_") ? "∂/∂" + shown(name.substr(2)) : shown(name);
    }

    // Writes the line of `e`, unless it was written before; its value.
    double line_of(const std::string& name, const Key& key, const Expr& e, At& at) {
        for (const Written& written : lines_)
            if (written.key == key) return written.line.value;
        if (e->is(Op::bracket)) lines_of_sides((*e)[0], at);
        Line made{.name = name};
        for (Factors& factors : terms(e, at, made.given, true)) made.terms.push_back(term(std::move(factors)));
        if (made.terms.empty()) made.terms.push_back(term({constant_factor(0.0, nothing(e, at))}));
        const Line summed = line(name, made.terms);
        made.value = summed.value;
        lines_.push_back({key, std::move(made)});
        return lines_.back().line.value;
    }
    // What a condition compares, each side that reads anything in a line, so that it can be followed further.
    void lines_of_sides(const Expr& e, At& at) {
        if (compares(e) || e->is(Op::bracket))
            for (const Expr& side : e->children) lines_of_sides(side, at);
        else if (any_node(e, [](const Expr& x) { return x->as<CellOf>() != nullptr; }))
            line_of(stripped(e, 0), {at.in, at.indices, e.get()}, e, at);
    }
    double line_of(const Place& place) {
        At at{place.of, place.cell};
        told_.push_back(place.of);
        const double value = line_of(line_name(place.of->name), {place.of, place.cell, nullptr}, place.of->body, at);
        told_.pop_back();
        return value;
    }
    // What is outside is a number, and so are the other steps in a recurrence's line.
    [[nodiscard]] bool gets_line(const Place& place) const {
        const bool is_told = place.of->start && std::ranges::find(told_, place.of) != told_.end();
        return has_line(*place.of) && is_inside(place) && !is_told;
    }
    [[nodiscard]] static bool is_inside(const Place& place) {
        for (std::size_t i = 0; i < place.cell.size(); ++i)
            if (place.cell[i] < 0 || place.cell[i] >= place.of->indices[i].dim->size) return false;
        return true;
    }

    // Why there is no term: the condition that doesn't hold.
    std::string nothing(const Expr& e, At& at) {
        const Expr off = switched_off_by(e, at);
        return off ? words(off, at) : "0";
    }
    // The factor that is a condition and doesn't hold; null if there is none.
    [[nodiscard]] Expr switched_off_by(const Expr& e, At& at) {
        for (const Expr& x : numerators(e))
            if (x->is(Op::bracket) && value(x, at) == 0.0) return x;
        return nullptr;
    }

    // What is written in an expression's place: the chosen one of two, what is around nothing else, or the body of a
    // sub-result without a line of its own.
    struct Inside {
        Expr e;
        At at;
    };
    [[nodiscard]] std::optional<Inside> inside(const Expr& e, At& at, Factors& given) {
        if (e->is(Op::choose)) {
            const bool holds = value((*e)[0], at) != 0.0;
            condition((*e)[0], at, given);
            return Inside{(*e)[holds ? 1 : 2], at};
        }
        if (is_around(e)) return Inside{(*e)[0], at};
        const auto place = place_of(e, at);
        if (!place || has_line(*place->of) || !is_inside(*place)) return std::nullopt;
        return Inside{place->of->body, {place->of, place->cell}};
    }

    Terms terms(const Expr& e, At& at, Factors& given, bool outside) {
        if (e->is(Op::add) || e->is(Op::subtract)) {
            Terms all = terms((*e)[0], at, given, outside);
            for (Factors& t : signed_terms((*e)[1], at, e->is(Op::subtract), given, outside))
                all.push_back(std::move(t));
            return all;
        }
        if (e->is(Op::negate)) return signed_terms((*e)[0], at, true, given, outside);
        if (auto in = inside(e, at, given)) return terms(in->e, in->at, given, outside);
        if (is_sum(e)) return summands(e, at, given, outside);
        if (is_extreme(e)) return extreme(e, at, given);
        if (e->is_of_matrix()) return {{constant_factor(value(own_cell(*at.in), at), words_of_matrix(e, at))}};
        if (is_product(e)) return product_terms(e, at, given, outside);
        if (e->is(Op::bracket) && value(e, at) == 0.0) return {};
        return {factors(e, at, given, outside)};
    }

    static Expr own_cell(const Definition& d) { return cell_of(d.name, own_indices(d)); }
    // "singular 2"; beside the diagonal there is none. "inverse 2, 0".
    static std::string words_of_matrix(const Expr& e, const At& at) {
        const Index row = *(at.indices.end() - 2), column = at.indices.back();
        if (e->is(Op::singular) && row != column) return "0";
        const std::string place = row == column ? "" : ", " + std::to_string(column);
        return std::string(spelling_of(e->as<Apply>()->op).ascii) + " " + std::to_string(row) + place;
    }

    Terms signed_terms(const Expr& e, At& at, bool negative, Factors& given, bool outside) {
        Terms all = terms(e, at, given, outside);
        if (negative)
            for (Factors& t : all) t.insert(t.begin(), constant_factor(-1.0, "−1"));
        return all;
    }

    Terms summands(const Expr& e, At& at, Factors& given, bool outside) {
        const Index size = e->as<Reduce>()->dim->size;
        if (size == 0 && e->is(Fold::mean)) return {{constant_factor(value(e, at), "0/0")}};
        if (outside && size > 0) lines_of_all(e, at);
        Terms all;
        Factors conditions;
        at.indices.push_back(0);
        for (Index i = 0; i < size; ++i) {
            at.indices.back() = i;
            Factors own;
            Terms some = terms((*e)[0], at, own, false);
            if (i == 0)
                conditions = std::move(own);
            else if (!conditions.empty())
                keep_common(conditions, own, same_condition);
            for (Factors& t : some) {
                if (e->is(Fold::mean))
                    t.push_back(constant_factor(1.0 / static_cast<double>(size), "1/" + std::to_string(size)));
                all.push_back(std::move(t));
            }
        }
        at.indices.pop_back();
        for (Factor& c : conditions) add_condition(std::move(c), given);
        return all;
    }

    // Lines for the sub-results that are the same for all summands.
    void lines_of_all(const Expr& sum, At& at) {
        const Index last = sum->as<Reduce>()->dim->size - 1;
        std::vector<Place> first_needs, last_needs;
        at.indices.push_back(0);
        needs((*sum)[0], at, first_needs);
        at.indices.back() = last;
        needs((*sum)[0], at, last_needs);
        at.indices.pop_back();
        keep_common(first_needs, last_needs, std::equal_to<>());
        for (const Place& place : first_needs) line_of(place);
    }
    void needs(const Expr& e, At& at, std::vector<Place>& all) {
        if (const auto place = place_of(e, at)) {
            At there{place->of, place->cell};
            if (gets_line(*place))
                all.push_back(*place);
            else if (!has_line(*place->of))
                needs(place->of->body, there, all);
        } else if (e->is(Op::choose)) {
            needs((*e)[value((*e)[0], at) != 0.0 ? 1 : 2], at, all);
        } else if (is_sum(e)) {
            at.indices.push_back(0);
            needs((*e)[0], at, all);
            at.indices.pop_back();
        } else if (e->as<Apply>() != nullptr) {
            for (const Expr& child : e->children) needs(child, at, all);
        }
    }

    // The one that is largest (or smallest).
    Terms extreme(const Expr& e, At& at, Factors& given) {
        const Index size = e->as<Reduce>()->dim->size;
        const double found = value(e, at);
        if (size == 0) return {{constant_factor(found, words(e, at))}};
        at.indices.push_back(0);
        for (Index i = 0; i < size; ++i) {
            at.indices.back() = i;
            if (const double v = value((*e)[0], at); v == found || std::isnan(v)) break;
        }
        Terms one = terms((*e)[0], at, given, false);
        at.indices.pop_back();
        return one;
    }

    Terms product_terms(const Expr& e, At& at, Factors& given, bool outside) {
        if (switched_off_by(e, at)) return {};
        Expr a = (*e)[0], b = (*e)[1];
        if (e->is(Op::multiply) && b->is(Fold::sum) && !is_sum(a)) std::swap(a, b);
        // An infinite factor isn't one of each term: (3 − 1) · ∞ is no 3 · ∞ − 1 · ∞.
        const double times = value(b, at);
        const bool is_finite = std::isfinite(e->is(Op::multiply) ? times : 1.0 / times);
        const bool in_terms = is_finite && (is_sum(a) || !outside || is_product(a) || a->is(Op::negate));
        Terms all = in_terms ? terms(a, at, given, outside) : Terms{factors(a, at, given, outside)};
        const Factors right =
            e->is(Op::multiply) ? factors(b, at, given, outside) : Factors{inverse(b, at, given, outside)};
        for (Factors& t : all) append(t, right);
        return all;
    }

    // A factor 1 that has no cell is left out beside others.
    static void append(Factors& all, const Factors& more) {
        const auto is_plain_one = [](const Factor& f) {
            return f.value == 1.0 && !f.cell && !f.text.starts_with("1/");
        };
        if (more.size() == 1 && is_plain_one(more[0]) && !all.empty()) return;
        if (all.size() == 1 && is_plain_one(all[0]) && !more.empty()) all.clear();
        all.insert(all.end(), more.begin(), more.end());
    }

    Factors factors(const Expr& e, At& at, Factors& given, bool outside) {
        if (e->is(Op::bracket)) {
            const double holds = value(e, at);
            if (holds != 0.0) condition((*e)[0], at, given);
            return {constant_factor(holds, words(e, at))};
        }
        if (auto in = inside(e, at, given)) return factors(in->e, in->at, given, outside);
        if (e->is(Fold::product)) return factors_of_all(e, at, given);
        if (!is_product(e)) return {factor(e, at, given, outside)};
        if (const Expr off = switched_off_by(e, at)) return {constant_factor(0.0, words(off, at))};
        Factors all = factors((*e)[0], at, given, outside);
        if (e->is(Op::divide))
            append(all, {inverse((*e)[1], at, given, outside)});
        else
            append(all, factors((*e)[1], at, given, outside));
        return all;
    }

    // Those of a product over an index, one after another.
    Factors factors_of_all(const Expr& e, At& at, Factors& given) {
        Factors all{constant_factor(1.0, "1")};
        at.indices.push_back(0);
        for (Index i = 0; i < e->as<Reduce>()->dim->size; ++i) {
            at.indices.back() = i;
            append(all, factors((*e)[0], at, given, false));
        }
        at.indices.pop_back();
        return all;
    }

    Factor inverse(const Expr& e, At& at, Factors& given, bool outside) {
        Factor f = factor(e, at, given, outside);
        f.value = 1.0 / f.value;
        f.text = "1/" + words(e, at, level::primary);
        return f;
    }

    Factor factor(const Expr& e, At& at, Factors& given, bool outside) {
        if (const auto* cell = e->as<CellOf>()) return cell_factor_of(*cell, e, at, given, outside);
        if (const auto* c = e->as<Constant>()) return constant_factor(value(e, at), shown(c->name));
        if (is_sum(e) && outside) {
            const std::string name = stripped(e, 0);
            return constant_factor(line_of(name, {at.in, at.indices, e.get()}, e, at), name);
        }
        if (outside) lines_inside(e, at);
        Factor f = constant_factor(value(e, at), words(e, at, level::product));
        f.cell = only_cell(e, at);
        return f;
    }

    Factor cell_factor_of(const CellOf& cell, const Expr& e, At& at, Factors& given, bool outside) {
        if (const auto place = place_of(e, at)) {
            if (outside && gets_line(*place)) return constant_factor(line_of(*place), line_name(cell.name));
            return constant_factor(value(e, at),
                                   place->of->start ? cell_name(cell.name, place->cell) : line_name(cell.name));
        }
        for (const Expr& i : e->children) conditions_of_place(i, at, given);
        return {.value = value(e, at),
                .text = "",
                .cell = OperandCell{*evaluator_.operand_named(cell.name), indices_of(e, at)}};
    }

    // Where numbers say which cell it is: those outside reductions, whose own indices stand nowhere.
    void conditions_of_place(const Expr& e, At& at, Factors& given) {
        if (e->as<Reduce>() != nullptr) return;
        if (e->as<CellOf>() != nullptr && !definition_named(e->as<CellOf>()->name)) condition(e, at, given);
        for (const Expr& child : e->children) conditions_of_place(child, at, given);
    }
    // What holds, or doesn't, so that the number is what it is.
    void condition(const Expr& e, At& at, Factors& given) {
        Factor f = constant_factor(value(e, at), words(e, at));
        const auto* cell = e->as<CellOf>();
        const bool names = e->is(Op::equal) || e->is(Op::not_equal);
        if (cell == nullptr && names)
            for (const Expr& side : e->children)
                if (side->as<CellOf>() != nullptr && !definition_named(side->as<CellOf>()->name))
                    return condition(side, at, given);
        if (cell != nullptr && !definition_named(cell->name)) {
            f.text = shown(cell->name);
            f.cell = OperandCell{*evaluator_.operand_named(cell->name), indices_of(e, at)};
        }
        add_condition(std::move(f), given);
    }
    static void add_condition(Factor f, Factors& given) {
        if (std::ranges::none_of(given, [&](const Factor& other) { return same_condition(f, other); }))
            given.push_back(std::move(f));
    }

    // Lines for the outermost sums and sub-results inside an expression: of a function, say.
    void lines_inside(const Expr& e, At& at) {
        if (e->is(Op::choose)) return lines_inside((*e)[value((*e)[0], at) != 0.0 ? 1 : 2], at);
        if (const auto place = place_of(e, at)) {
            At there{place->of, place->cell};
            if (gets_line(*place))
                line_of(*place);
            else if (!has_line(*place->of))
                lines_inside(place->of->body, there);
        } else if (is_sum(e)) {
            line_of(stripped(e, 0), {at.in, at.indices, e.get()}, e, at);
        } else if (e->as<Apply>() != nullptr) {
            for (const Expr& child : e->children) lines_inside(child, at);
        }
    }

    // The one operand's cell that an expression without sums reads.
    [[nodiscard]] std::optional<OperandCell> only_cell(const Expr& e, At& at) {
        std::optional<OperandCell> only;
        int count = 0;
        cells(e, at, [&](const Expr& x, At& where) {
            ++count;
            if (count == 1) only = OperandCell{*evaluator_.operand_named(x->as<CellOf>()->name), indices_of(x, where)};
        });
        return count == 1 ? only : std::nullopt;
    }
    template <class Visit>
    void cells(const Expr& e, At& at, const Visit& visit) {
        if (e->as<Reduce>() != nullptr) return;
        if (const auto place = place_of(e, at)) {
            At there{place->of, place->cell};
            if (!has_line(*place->of)) cells(place->of->body, there, visit);
        } else if (e->as<CellOf>() != nullptr) {
            visit(e, at);
        } else {
            for (const Expr& child : e->children) cells(child, at, visit);
        }
    }

    [[nodiscard]] Cell indices_of(const Expr& e, At& at) {
        Cell cell;
        for (const Expr& i : e->children) cell.push_back(index_of(value(i, at)));
        return cell;
    }

    [[nodiscard]] const Definition* definition_named(const std::string& name) const {
        for (const Definition* d : definitions(evaluator_.formula()))
            if (d->name == name) return d;
        return nullptr;
    }
    // The sub-result's cell that is read; nothing if it is an operand's, or something else.
    [[nodiscard]] std::optional<Place> place_of(const Expr& e, At& at) {
        const auto* cell = e->as<CellOf>();
        const Definition* d = cell == nullptr ? nullptr : definition_named(cell->name);
        if (d == nullptr || (d == &evaluator_.formula().main && !d->start)) return std::nullopt;
        return Place{d, indices_of(e, at)};
    }

    // The expression with its numbers in it.
    [[nodiscard]] std::string words(const Expr& e, At& at, int within = 0) {
        const auto number = [](double v, int tightly) {
            return v < 0.0 && tightly > level::sum ? "(" + short_number(v) + ")" : short_number(v);
        };
        const Instead numbers = [&](const Expr& x, int tightly) -> std::optional<std::string> {
            if (is_around(x)) return words((*x)[0], at, tightly);
            if (x->is(Op::choose)) return words((*x)[value((*x)[0], at) != 0.0 ? 1 : 2], at, tightly);
            if (const auto place = place_of(x, at); place && !has_line(*place->of)) {
                At there{place->of, place->cell};
                return words(place->of->body, there, tightly);
            }
            const bool minus = x->is(Op::subtract);
            if ((minus || x->is(Op::add)) && is_number((*x)[1])) {  // 0.31 − (−1.2) is 0.31 + 1.2
                const double right = value((*x)[1], at);
                const std::string text = words((*x)[0], at, level::sum) + (minus == (right < 0.0) ? " + " : " − ") +
                                         short_number(std::abs(right));
                return tightly > level::sum ? "(" + text + ")" : text;
            }
            if (is_number(x)) return number(value(x, at), tightly);
            return std::nullopt;
        };
        return text_of(e, Script::unicode, within, numbers);
    }
    static bool is_number(const Expr& e) {
        if (is_around(e)) return is_number((*e)[0]);
        const auto* constant = e->as<Constant>();
        return (constant != nullptr && constant->name != "pi") || e->as<Reduce>() != nullptr ||
               e->as<CellOf>() != nullptr || e->as<FreeIndex>() != nullptr || e->as<BoundIndex>() != nullptr;
    }

    // What a line is called: "x · W + bias" for a sum, "post" for what is no sum.
    [[nodiscard]] std::string heading(const Definition& d) {
        Expr e = d.body;
        while (e->is(Op::add) || e->is(Op::subtract) || e->is(Op::negate) || is_product(e)) e = (*e)[0];
        return is_sum(e) ? stripped(d.body, 0) : shown(d.name);
    }
    // The expression without indices.
    [[nodiscard]] std::string stripped(const Expr& e, int within) {
        const Instead bare = [&](const Expr& x, int tightly) -> std::optional<std::string> {
            if (is_around(x)) return stripped((*x)[0], tightly);
            if (x->is(Op::multiply) && (*x)[0]->is(Op::bracket)) return stripped((*x)[1], tightly);
            if (x->is(Op::multiply) && (*x)[1]->is(Op::bracket)) return stripped((*x)[0], tightly);
            if (const auto* c = x->as<Constant>()) return shown(c->name);
            if (const auto* cell = x->as<CellOf>()) {
                const Definition* d = definition_named(cell->name);
                const bool inside = d != nullptr && d != &evaluator_.formula().main && !has_line(*d);
                return inside ? stripped(d->body, tightly) : shown(cell->name);
            }
            if (!is_sum(x)) return std::nullopt;
            const Expr body = body_at(x, index(inner_name(x)));
            return is_product(body) || is_sum(body) ? stripped(body, tightly) : "Σ " + stripped(body, level::product);
        };
        return text_of(e, Script::unicode, within, bare);
    }

    Evaluator& evaluator_;
    const ShownNames& shown_;
    std::vector<Written> lines_;
    std::vector<const Definition*> told_{};  // whose lines are being written
};

}  // namespace

Explanation explain(Evaluator& evaluator, std::span<const Index> cell, const ShownNames& shown) {
    return Explainer(evaluator, shown).explanation(cell);
}

}  // namespace decoderscope::formulas

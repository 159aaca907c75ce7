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
bool is_product(const Expr& e) { return e->is(Op::multiply) || e->is(Op::divide); }

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

Expr with_indices(const Definition& d, std::span<const Index> cell) {
    Replacements values;
    for (std::size_t i = 0; i < cell.size(); ++i)
        values.emplace_back(d.indices[i].name, number(static_cast<double>(cell[i])));
    return substitute(d.body, values);
}

// In all expressions here each index is its value. `outside` is whether a sub-result or a sum gets a line of its own:
// inside a sum there would be a line for each summand.
class Explainer {
public:
    explicit Explainer(Evaluator& evaluator) : evaluator_(evaluator) {}

    [[nodiscard]] Explanation explanation(std::span<const Index> cell) {
        const Definition& main = evaluator_.formula().main;
        (void)line_of(main.name, nullptr, with_indices(main, cell));
        Explanation out;
        for (Written& written : lines_) out.lines.push_back(std::move(written.line));
        return out;
    }

private:
    struct Written {
        Expr key;  // a sub-result's cell, or a sum; null for the formula's own
        Line line;
    };

    // Writes the line of `e`, unless it was written before; its value.
    double line_of(const std::string& name, const Expr& key, const Expr& e) {
        for (const Written& written : lines_)
            if (key && same(written.key, key)) return written.line.value;
        Line made{.name = name};
        for (Factors& factors : terms(e, made.given, true)) made.terms.push_back(term(std::move(factors)));
        const Line summed = line(name, made.terms);
        made.value = summed.value;
        lines_.push_back({key, std::move(made)});
        return lines_.back().line.value;
    }

    Terms terms(const Expr& e, Factors& given, bool outside) {
        if (e->is(Op::add) || e->is(Op::subtract)) {
            Terms all = terms((*e)[0], given, outside);
            for (Factors& t : signed_terms((*e)[1], e->is(Op::subtract), given, outside)) all.push_back(std::move(t));
            return all;
        }
        if (e->is(Op::negate)) return signed_terms((*e)[0], true, given, outside);
        if (e->is(Op::choose)) {
            const double holds = evaluator_.value((*e)[0]);
            given.push_back({.value = holds, .text = words((*e)[0])});
            return terms((*e)[holds != 0.0 ? 1 : 2], given, outside);
        }
        if (e->is(Op::stop) || e->is(Op::round)) return terms((*e)[0], given, outside);
        if (is_sum(e)) return summands(e, given);
        if (is_product(e)) return product_terms(e, given, outside);
        if (e->is(Op::bracket) && evaluator_.value(e) == 0.0) return {};
        return {factors(e, outside)};
    }

    Terms signed_terms(const Expr& e, bool negative, Factors& given, bool outside) {
        Terms all = terms(e, given, outside);
        if (negative)
            for (Factors& t : all) t.insert(t.begin(), constant_factor(-1.0, "−1"));
        return all;
    }

    Terms summands(const Expr& e, Factors& given) {
        const Index size = e->as<Reduce>()->dim->size;
        Terms all;
        for (Index i = 0; i < size; ++i)
            for (Factors& t : terms(body_at(e, number(static_cast<double>(i))), given, false)) {
                if (e->is(Fold::mean))
                    t.push_back(constant_factor(1.0 / static_cast<double>(size), "1/" + std::to_string(size)));
                all.push_back(std::move(t));
            }
        return all;
    }

    Terms product_terms(const Expr& e, Factors& given, bool outside) {
        const std::vector<Expr> above = numerators(e);
        const auto is_bracket = [](const Expr& x) { return x->is(Op::bracket); };
        if (std::ranges::any_of(above, [&](const Expr& x) { return is_bracket(x) && evaluator_.value(x) == 0.0; }))
            return {};
        Expr a = (*e)[0], b = (*e)[1];
        if (e->is(Op::multiply) && b->is(Fold::sum) && outside) std::swap(a, b);
        const bool in_terms = is_sum(a) || !outside || is_product(a);
        Terms all = in_terms ? terms(a, given, outside) : Terms{factors(a, outside)};
        const Factors right = e->is(Op::multiply) ? factors(b, outside) : Factors{inverse(b, outside)};
        for (Factors& t : all) t.insert(t.end(), right.begin(), right.end());
        return all;
    }

    Factors factors(const Expr& e, bool outside) {
        for (const Expr& x : numerators(e))
            if (x->is(Op::bracket) && evaluator_.value(x) == 0.0) return {constant_factor(0.0, words(x))};
        if (!is_product(e)) return {factor(e, outside)};
        Factors all = factors((*e)[0], outside);
        if (e->is(Op::divide)) return all.push_back(inverse((*e)[1], outside)), all;
        for (Factor& f : factors((*e)[1], outside)) all.push_back(std::move(f));
        return all;
    }

    Factor inverse(const Expr& e, bool outside) {
        Factor f = factor(e, outside);
        f.value = 1.0 / f.value;
        f.text = "1/" + words(e, level::primary);
        return f;
    }

    Factor factor(const Expr& e, bool outside) {
        if (const auto* cell = e->as<CellOf>()) return cell_factor_of(*cell, e, outside);
        if (is_sum(e) && outside) {
            const std::string text = text_of(e);
            return constant_factor(line_of(text, e, e), text);
        }
        if (outside) lines_inside(e);
        Factor f = constant_factor(evaluator_.value(e), words(e, level::product));
        f.cell = only_cell(e);
        return f;
    }

    Factor cell_factor_of(const CellOf& cell, const Expr& e, bool outside) {
        if (const auto operand = evaluator_.operand_named(cell.name); operand && !definition_named(cell.name))
            return {.value = evaluator_.value(e), .text = "", .cell = OperandCell{*operand, indices_of(e)}};
        const Definition& d = *definition_named(cell.name);
        if (outside && &d != &evaluator_.formula().main)
            return constant_factor(line_of(cell.name, e, with_indices(d, indices_of(e))), cell.name);
        return constant_factor(evaluator_.value(e), cell_name(cell.name, indices_of(e)));
    }

    // Lines for the outermost sums and sub-results inside an expression: of a function, say.
    void lines_inside(const Expr& e) {
        if (e->is(Op::choose)) return lines_inside((*e)[evaluator_.value((*e)[0]) != 0.0 ? 1 : 2]);
        if (e->as<CellOf>() != nullptr || is_sum(e)) return void(factor(e, true));
        if (e->as<Apply>() != nullptr)
            for (const Expr& child : e->children) lines_inside(child);
    }

    // The one operand's cell that an expression without sums reads.
    [[nodiscard]] std::optional<OperandCell> only_cell(const Expr& e) {
        std::optional<OperandCell> only;
        int count = 0;
        for_each(e, [&](const Expr& x) {
            if (x->as<Reduce>() != nullptr) count = 2;
            const auto* cell = x->as<CellOf>();
            if (cell == nullptr || definition_named(cell->name)) return;
            ++count;
            if (count == 1) only = OperandCell{*evaluator_.operand_named(cell->name), indices_of(x)};
        });
        return count == 1 ? only : std::nullopt;
    }

    [[nodiscard]] Cell indices_of(const Expr& e) {
        Cell cell;
        for (const Expr& i : e->children) cell.push_back(static_cast<Index>(evaluator_.value(i)));
        return cell;
    }

    [[nodiscard]] const Definition* definition_named(const std::string& name) const {
        for (const Definition* d : definitions(evaluator_.formula()))
            if (d->name == name) return d;
        return nullptr;
    }

    // The expression with its numbers in it.
    [[nodiscard]] std::string words(const Expr& e, int within = 0) {
        const Instead numbers = [&](const Expr& x) -> std::optional<std::string> {
            if (x->is(Op::stop)) return words((*x)[0], level::primary);
            if (x->is(Op::choose)) return words((*x)[evaluator_.value((*x)[0]) != 0.0 ? 1 : 2], level::product);
            if (x->as<Constant>() == nullptr && x->as<Reduce>() == nullptr && x->as<CellOf>() == nullptr)
                return std::nullopt;
            const double v = evaluator_.value(x);
            return v < 0.0 && !same(x, e) ? "(" + short_number(v) + ")" : short_number(v);
        };
        return text_of(e, Script::unicode, within, numbers);
    }

    Evaluator& evaluator_;
    std::vector<Written> lines_;
};

}  // namespace

Explanation explain(Evaluator& evaluator, std::span<const Index> cell) {
    return Explainer(evaluator).explanation(cell);
}

}  // namespace decoderscope::formulas

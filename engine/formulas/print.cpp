#include "engine/formulas/print.h"

#include "engine/formulas/words.h"

#include <array>
#include <charconv>
#include <cmath>

namespace decoderscope::formulas {
namespace {

// Whether a reduction may stand at the end of the text without parentheses: it takes the whole product that follows.
using Last = bool;

class Printer {
public:
    // `scope`: the names that no sum's index may have.
    Printer(Script script, const Instead& instead, std::set<std::string> scope)
        : script_(script), instead_(instead), scope_(std::move(scope)) {}

    [[nodiscard]] std::string text(const Expr& e, int within, Last last) {
        if (instead_)
            if (auto other = instead_(e, within)) return *other;
        return std::visit([&](const auto& what) { return text(e, what, within, last); }, e->what);
    }

private:
    [[nodiscard]] bool ascii() const { return script_ == Script::ascii; }

    [[nodiscard]] std::string text(const Expr&, const Literal& n, int within, Last) {
        const std::string digits = written(n.value, script_);
        return std::signbit(n.value) && within > level::sum ? "(" + digits + ")" : digits;
    }
    [[nodiscard]] std::string text(const Expr&, const Constant& c, int, Last) {
        return c.name == "pi" && !ascii() ? "π" : c.name;
    }
    [[nodiscard]] std::string text(const Expr&, const FreeIndex& i, int, Last) { return i.name; }
    [[nodiscard]] std::string text(const Expr&, const BoundIndex& i, int, Last) {
        return "#" + std::to_string(i.level);
    }
    [[nodiscard]] std::string text(const Expr&, const Leading&, int, Last) { return ascii() ? "..." : "…"; }

    [[nodiscard]] std::string text(const Expr& e, const CellOf& cell, int, Last) {
        const std::string mark = cell.optional ? "?" : "";
        return e->children.empty() ? cell.name + mark : cell.name + "[" + list(e->children) + "]" + mark;
    }

    [[nodiscard]] std::string text(const Expr& e, const Call& call, int, Last) {
        if (!call.along) return call.function + "(" + list(e->children) + ")";
        const std::string along = text((*e)[0], 0, true);
        const std::set<std::string> outside = scope_;
        scope_.insert(along);
        const std::string what =
            call.function + "_" + along + "(" + list({e->children.begin() + 1, e->children.end()}) + ")";
        scope_ = outside;
        return what;
    }

    [[nodiscard]] std::string text(const Expr& e, const Reduce& reduce, int within, Last last) {
        std::string over;
        std::size_t count = 0;
        bool written_axis = false;
        Expr body = e;
        const std::set<std::string> outside = scope_;
        while (const auto* inner = body->as<Reduce>()) {  // Σ_{i, j} is a sum of sums
            if (count > 0 && (inner->fold != Fold::sum || reduce.fold != Fold::sum)) break;
            const std::string name = inner_name(body, scope_);
            scope_.insert(name);
            over += (count++ > 0 ? ", " : "") + name + (inner->axis.empty() ? "" : ": " + inner->axis);
            written_axis = written_axis || !inner->axis.empty();
            body = body_at(body, index(name));
        }
        // A quotient of sums is read only if one of them is in parentheses.
        const bool quotient = body->is(Op::divide) && (*body)[1]->as<Reduce>() != nullptr;
        const std::string word = !ascii() || !(reduce.fold == Fold::sum || reduce.fold == Fold::product)
                                     ? std::string(word_of(reduce.fold))
                                 : reduce.fold == Fold::sum ? "sum"
                                                            : "prod";
        // So are products behind words that don't say how far they reach.
        const bool far = reduce.fold == Fold::argmax || reduce.fold == Fold::product;
        const std::string what = word + "_" +
                                 (count == 1 && !written_axis && one_letter(over) ? over : "{" + over + "}") + " " +
                                 text(body, far ? level::power : level::product, !quotient);
        scope_ = outside;
        return last && within <= level::product ? what : "(" + what + ")";
    }

    [[nodiscard]] std::string text(const Expr& e, const Apply& apply, int within, Last last) {
        const Spelling& spelling = spelling_of(apply.op);
        const std::string word(ascii() ? spelling.ascii : spelling.unicode);
        if (apply.op == Op::bracket) return "[" + text((*e)[0], 0, true) + "]";
        if (apply.op == Op::root) {
            const bool bare = !ascii() && (*e)[0]->children.empty() && !is_negative((*e)[0]);
            return bare ? word + text((*e)[0], level::primary, true) : word + "(" + text((*e)[0], 0, true) + ")";
        }
        if (spelling.level == kFunction) return word + "(" + list(e->children) + ")";
        if (spelling.level < within) return "(" + text(e, 0, true) + ")";
        return operation(*e, apply.op, word, spelling.level, last);
    }

    [[nodiscard]] std::string operation(const Node& e, Op op, const std::string& word, int mine, Last last) {
        switch (op) {
            case Op::choose:
                return text(e[0], 1, true) + " ? " + text(e[1], 0, true) + " : " + text(e[2], 0, true);
            case Op::negate:
                return word + text(e[0], level::product, last);
            case Op::negation:
                return word + " " + text(e[0], mine, last);
            case Op::power:
                return power(e);
            default: {
                // A sum at the right of a product stands without parentheses, because it takes all that follows.
                const bool sum = mine == level::product && e[1]->as<Reduce>() != nullptr;
                return text(e[0], mine, mine < level::product) + " " + word + " " +
                       text(e[1], sum ? mine : mine + 1, last);
            }
        }
    }

    [[nodiscard]] std::string power(const Node& e) {
        const std::string base = text(e[0], level::primary, false);
        if (const auto* n = e[1]->as<Literal>(); n != nullptr && !ascii()) {
            if (n->value == 2.0) return base + "²";
            if (n->value == 3.0) return base + "³";
            if (n->value == 4.0) return base + "⁴";
        }
        return base + "^" + text(e[1], level::primary, false);
    }

    [[nodiscard]] std::string list(const std::vector<Expr>& all) {
        std::string text_of_all;
        for (const Expr& e : all) text_of_all += (text_of_all.empty() ? "" : ", ") + text(e, 0, true);
        return text_of_all;
    }

    [[nodiscard]] static bool is_negative(const Expr& e) {
        return e->as<Literal>() != nullptr && std::signbit(e->as<Literal>()->value);
    }
    [[nodiscard]] static bool one_letter(const std::string& name) { return name.size() == 1; }

    Script script_;
    const Instead& instead_;
    std::set<std::string> scope_;
};

std::string text_in(const std::set<std::string>& scope, const Expr& e, Script script) {
    const Instead none;
    return Printer(script, none, scope).text(e, 0, true);
}

}  // namespace

std::string written(double number, Script script) {
    const bool ascii = script == Script::ascii;
    const std::string minus = std::signbit(number) ? (ascii ? "-" : "−") : "";
    const double size = std::abs(number);
    if (std::isnan(number)) return "nan";
    if (std::isinf(number)) return minus + (ascii ? "inf" : "∞");
    std::array<char, 32> text{};
    const bool whole = size == std::floor(size) && size < 1e16;
    const auto end = whole ? std::to_chars(text.data(), text.data() + text.size(), size, std::chars_format::fixed)
                           : std::to_chars(text.data(), text.data() + text.size(), size);
    return minus + std::string(text.data(), end.ptr);
}

std::string text_of(const Expr& e, Script script, int level, const Instead& instead) {
    return Printer(script, instead, e->indices).text(e, level, true);
}

std::string text_of(const Definition& definition, Script script) {
    std::string left;
    std::set<std::string> scope;
    for_each(definition.body, [&](const Expr& e) {  // a sum's index would hide a number of its name
        if (const auto* c = e->as<Constant>()) scope.insert(c->name);
    });
    for (const LeftIndex& i : definition.indices) {
        scope.insert(i.name);
        const std::string name = i.name == "…" && script == Script::ascii ? "..." : i.name;
        left += (left.empty() ? "" : ", ") + name + (i.axis.empty() ? "" : ": " + i.axis);
    }
    return definition.name + (left.empty() ? "" : "[" + left + "]") + " = " + text_in(scope, definition.body, script) +
           (definition.start ? " from " + text_of(definition.start, script) : "");
}

std::string text_of(const Formula& formula, Script script) {
    std::string text;
    if (formula.parameters.empty()) {
        text = text_of(formula.main, script);
    } else {
        std::string parameters;
        for (const std::string& p : formula.parameters) parameters += (parameters.empty() ? "" : ", ") + p;
        text = formula.main.name + (formula.along.empty() ? "" : "_" + formula.along) + "(" + parameters +
               ") = " + text_in({formula.along}, formula.main.body, script);
    }
    for (std::size_t i = 0; i < formula.wheres.size(); ++i)
        text += (i == 0 ? " where " : "; ") + text_of(formula.wheres[i], script);
    return text;
}

}  // namespace decoderscope::formulas

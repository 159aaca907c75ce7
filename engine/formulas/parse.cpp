#include "engine/formulas/parse.h"

#include "engine/formulas/indexed_tensors.h"
#include "engine/formulas/tokens.h"
#include "engine/formulas/words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <utility>

namespace decoderscope::formulas {
namespace {

class Parser : TokenReader {
public:
    Parser(std::string_view text, const Functions& functions, OtherFunctions others = {})
        : TokenReader(tokens_of(text, [](std::string_view) { return true; })),
          text_(text),
          functions_(functions),
          others_(std::move(others)) {}

    [[nodiscard]] Formula formula() {
        Formula formula{.main = definition()};
        for (const LeftIndex& i : formula.main.indices) bound_.push_back(i.name);
        return finish(std::move(formula));
    }

    // name_k(x, y) = …
    [[nodiscard]] Formula function() {
        const Token& word = need_name();
        auto [name, along] = parted(word.word);
        if (letters_in(along) != 1) name = word.word, along = "";
        need("(");
        Formula function{.main = {.name = std::string(name)}, .along = std::string(along)};
        function.parameters = listed<std::string>([&] { return need_name().word; }, ")");
        need("=");
        if (!function.along.empty()) bound_.push_back(function.along);
        function.main.body = expression();
        return finish(std::move(function));
    }

    [[nodiscard]] Expr asked() {
        asks_ = true;
        // What formulas write as a sign may be a name here, and sqrt is a function like others.
        constexpr std::array<std::string_view, 5> names = {"div", "mod", "sqrt", "where", "from"};
        for (Token& token : tokens_) {
            const std::string_view written = text_.substr(token.begin, token.end - token.begin);
            if (token.kind != Kind::symbol || std::ranges::find(names, written) == names.end()) continue;
            token.kind = Kind::name;
            token.word = written;
        }
        Expr whole = expression();
        need_end();
        return whole;
    }

private:
    // An index is in scope from here on.
    void bind(const std::string& name) {
        if (bound_.size() == limits::kFormulaDepth) fail_too_deep();
        bound_.push_back(name);
    }

    // ---- definitions

    LeftIndex left_index() {
        if (take("…")) return {.name = "…"};
        LeftIndex i{.name = need_name().word};
        if (is(":") && names_axis(i)) i.axis = tokens_[(at_ += 2) - 1].word;
        return i;
    }
    // Of Σ_{k: key} and y[q, k: key], unlike Σ_{k: k < q} and Σ_{k: |q − k| < 2}.
    [[nodiscard]] bool names_axis(const LeftIndex& i) const {
        const Token &axis = tokens_[at_ + 1], &next = axis.kind == Kind::end ? axis : tokens_[at_ + 2];
        if (axis.kind != Kind::name && axis.kind != Kind::number) return false;
        const bool is_index = axis.word == i.name || std::ranges::find(bound_, axis.word) != bound_.end();
        return next.word == "," || next.word == "}" || next.word == "]" || (is_comparison(next) && !is_index);
    }

    Definition definition() {
        Definition d{.name = need_name().word};
        if (take("[")) d.indices = listed<LeftIndex>([&] { return left_index(); }, "]");
        need("=");
        for (const LeftIndex& i : d.indices) bind(i.name);
        d.body = expression();
        if (take("from")) d.start = expression();
        bound_.resize(bound_.size() - d.indices.size());
        return d;
    }

    Formula finish(Formula formula) {
        if (take("where")) do
                formula.wheres.push_back(definition());
            while (take(";"));
        need_end();
        check_names(formula);
        // A sub-result without indices is written like a constant.
        std::set<std::string> plain;
        for (const Definition& where : formula.wheres)
            if (where.indices.empty()) plain.insert(where.name);
        return with_bodies(std::move(formula), [&](const Expr& body) {
            return rewrite(body, [&](const Expr& e) {
                const auto* c = e->as<Constant>();
                return c != nullptr && plain.contains(c->name) ? node(CellOf{c->name}, {}, e->at) : e;
            });
        });
    }

    void check_names(const Formula& formula) const {
        std::set<std::string> names;
        for (const Definition* d : definitions(formula)) {
            if (!names.insert(d->name).second)
                throw FormulaError(message("“{name}” is defined twice", {{"name", d->name}}), kNowhere);
            std::set<std::string> indices;
            for (const LeftIndex& i : d->indices)
                if (!indices.insert(i.name).second)
                    throw FormulaError(message("index {index} stands twice on the left of “{name}”",
                                               {{"index", i.name}, {"name", d->name}}),
                                       kNowhere);
        }
    }

    // ---- expressions, from the loosest to the tightest

    Expr expression() {
        const Nesting nesting(*this);
        const std::size_t at = here().begin;
        Expr first = chain(level::either);
        if (take("?")) {
            Expr yes = expression();
            need(":");
            Expr no = expression();
            return apply(Op::choose, {first, yes, no}, at);
        }
        if (asks_ || !take_word("if")) return first;
        Expr condition = chain(level::either);  // Python's way
        if (!take_word("else")) need("else");
        Expr no = expression();
        return apply(Op::choose, {condition, first, no}, at);
    }

    // Operations of this binding strength and of tighter ones, the leftmost first.
    Expr chain(int of) {
        if (of == level::negation) return negation();
        if (of > level::product) return unary();
        const auto next = [&] { return of == level::comparison ? joined(true) : chain(of + 1); };
        const bool minus = of == level::sum && take("−");
        Expr e = next();
        if (minus) e = -e;
        for (;;) {
            if (of == level::product && is_factor()) {  // 2(x[i] + 1), A[i, k] B[k, j]
                const std::size_t at = here().begin;
                e = apply(Op::multiply, {e, chain(of + 1)}, at);
                continue;
            }
            const auto found =
                std::ranges::find_if(spellings(), [&](const Spelling& s) { return s.level == of && is(s.unicode); });
            if (found == spellings().end()) return e;
            const std::size_t at = tokens_[at_++].begin;
            e = apply(found->op, {e, next()}, at);
        }
    }
    // Python's & and |, tighter than comparisons.
    Expr joined(bool either) {
        Expr e = either ? joined(false) : chain(level::sum);
        while (!asks_ && (either ? is("|") && !in_size_ : is("&"))) {
            const std::size_t at = tokens_[at_++].begin;
            const Expr right = either ? joined(false) : chain(level::sum);
            e = is_condition(e) && is_condition(right)
                    ? apply(either ? Op::either : Op::both, {as_condition(e), as_condition(right)}, at)
                    : of_bits(either ? "bitwise_or" : "bitwise_and", {e, right}, at);
        }
        return e;
    }
    static bool is_condition(const Expr& e) { return compares(e) || e->is(Op::bracket); }
    Expr of_bits(const std::string& name, const std::vector<Expr>& in, std::size_t at) const {
        if (others_.call) return others_.call(name, {}, in, at);
        throw FormulaError(message("there is no function “{name}”", {{"name", name}}), at);
    }
    // What stands behind a factor with nothing between them. Behind a divisor only a sum is one, as in 1/n Σ_i x[i],
    // and what follows a divisor in brackets.
    [[nodiscard]] bool is_factor() const {
        if (asks_ || at_ == 0) return false;
        const bool is_name = here().kind == Kind::name && !is_word("if") && !is_word("else");
        const bool behind_number = tokens_[at_ - 1].kind == Kind::number;
        if (is("‖") && !in_length_) return !divides(at_ - 1);
        if (opens_size()) return !divides(at_ - 1);
        const bool behind_bracket = tokens_[at_ - 1].word == "]" || tokens_[at_ - 1].word == ")";
        const bool is_closed =
            behind_number ? is("(") || is("[")
                          : behind_bracket && ((is("(") && !divides(at_ - 1, true)) || (is("[") && has_comparison()));
        if (!is_name && !is("√") && !is_closed) return false;
        const auto [head, below] = parted(here().word);
        const bool is_sum = is_name && fold_named(head) && (letters_in(below) == 1 || below.empty());
        return is_sum || !divides(at_ - 1) || is_behind_fraction();
    }
    // |x| behind a bracket or a number, not Python's “or”, which has spaces on both of its sides.
    [[nodiscard]] bool opens_size() const {
        return is("|") && !in_size_ && here().begin > tokens_[at_ - 1].end && tokens_[at_ + 1].begin == here().end &&
               (tokens_[at_ - 1].word == "]" || tokens_[at_ - 1].word == ")" || tokens_[at_ - 1].kind == Kind::number);
    }
    // Whether something is compared in the brackets that open here.
    [[nodiscard]] bool has_comparison() const {
        const auto first = tokens_.begin() + static_cast<std::ptrdiff_t>(at_);
        return std::any_of(first, first + static_cast<std::ptrdiff_t>(end_of_bracket(at_) - at_), is_comparison);
    }
    static bool is_comparison(const Token& t) {
        return std::ranges::any_of(
            spellings(), [&](const Spelling& s) { return s.level == level::comparison && s.unicode == t.word; });
    }
    // 1/2 (x[i] + 1): of two numbers, and a space between.
    [[nodiscard]] bool is_behind_fraction() const {
        return at_ > 2 && here().begin > tokens_[at_ - 1].end && tokens_[at_ - 1].kind == Kind::number &&
               tokens_[at_ - 2].word == "/" && tokens_[at_ - 3].kind == Kind::number;
    }
    // Whether this token is all of a divisor, of an exponent, or their end: in brackets it is one factor.
    [[nodiscard]] bool divides(std::size_t last, bool in_brackets = false) const {
        std::size_t first = last;
        const std::string& close = tokens_[last].word;
        if (close == ")" && !in_brackets) return false;
        if (close == "]" || close == ")") {
            for (int open = 1; open > 0 && first > 0;) {
                const std::string& word = tokens_[--first].word;
                open += word == close ? 1 : word == (close == "]" ? "[" : "(") ? -1 : 0;
            }
            if (first > 0 && tokens_[first - 1].kind == Kind::name) --first;
        }
        if (first == 0) return false;
        const std::string& before = tokens_[first - 1].word;
        return before == "/" || before == "div" || before == "mod" || before == "^";
    }
    Expr negation() {
        const Nesting nesting(*this);
        return take("not") ? apply(Op::negation, {negation()}) : chain(level::comparison);
    }
    Expr unary() {
        const Nesting nesting(*this);
        const std::size_t at = here().begin;
        if (!asks_ && take("~")) {
            const Expr e = unary();
            return is_condition(e) ? apply(Op::negation, {as_condition(e)}, at) : of_bits("bitwise_not", {e}, at);
        }
        return take("−") ? -unary() : power();
    }
    Expr power() {
        Expr e = primary();
        for (;;) {
            const double exponent = is("²") ? 2.0 : is("³") ? 3.0 : is("⁴") ? 4.0 : 0.0;
            if (exponent == 0.0) break;
            e = apply(Op::power, {e, number(exponent)}, tokens_[at_++].begin);
        }
        const std::size_t at = here().begin;
        if (!take("^")) return e;
        const bool is_exp = e->as<Constant>() != nullptr && e->as<Constant>()->name == "e" && !asks_ && !defines("e");
        const Expr exponent = take("{") ? closed(chain(level::sum), "}") : unary();  // LaTeX's
        return is_exp ? apply(Op::exp, {exponent}, at) : apply(Op::power, {e, exponent}, at);
    }

    // Whether there is a sub-result of this name.
    [[nodiscard]] bool defines(std::string_view name) const {
        return std::ranges::adjacent_find(tokens_, [&](const Token& word, const Token& sign) {
                   return word.word == name && sign.word == "=";
               }) != tokens_.end();
    }

    // With the brackets behind it that take a part of it.
    Expr primary() {
        Expr e = operand();
        while (asks_ && take("[")) {
            std::vector<Expr> children = {e};
            for (Expr& index : listed<Expr>([&] { return take(":") ? constant(":") : expression(); }, "]"))
                children.push_back(std::move(index));
            e = node(Call{"[]"}, std::move(children), e->at);
        }
        return e;
    }

    Expr operand() {
        const Nesting nesting(*this);
        const Token token = here();
        if (asks_ && token.kind == Kind::quoted) return ++at_, node(Constant{"'" + token.word}, {}, token.begin);
        if (token.kind == Kind::number) return ++at_, node(Literal{token.value}, {}, token.begin);
        if (take("√")) return apply(Op::root, {primary()}, token.begin);
        if (take("|")) {
            const bool outer = std::exchange(in_size_, true);
            const Expr e = closed(expression(), "|");
            in_size_ = outer;
            return apply(Op::abs, {e}, token.begin);
        }
        if (is_length()) return length();
        if (take("#")) return count_of(token.begin);
        if (take("⟨"))  // ⟨x[i, :], y[j, :]⟩
            return along_colons(token.begin, [&] {
                const Expr left = chain(level::sum);
                need(",");
                return left * closed(chain(level::sum), "⟩");
            });
        if (take("⌊")) return apply(Op::floor, {closed(expression(), "⌋")}, token.begin);
        if (take("⌈")) return -apply(Op::floor, {-closed(expression(), "⌉")}, token.begin);
        if (take("(")) {
            const bool outer = std::exchange(in_size_, false);
            const Expr e = closed(expression(), ")");
            in_size_ = outer;
            return e;
        }
        if (take("[")) return apply(Op::bracket, {closed(expression(), "]")}, token.begin);
        if (token.kind != Kind::name) fail_without_operand();
        ++at_;
        if (!asks_) return named(token);
        if (!take("(")) return node(Constant{token.word}, {}, token.begin);
        return node(Call{token.word}, listed<Expr>([&] { return expression(); }, ")"), token.begin);
    }
    Expr closed(Expr e, std::string_view with) {
        need(with);
        return e;
    }

    // ‖x[i, d]‖_d, none of which lies in another.
    [[nodiscard]] bool is_length() const {
        return !asks_ && !in_length_ && (is("‖") || text_.substr(here().begin).starts_with("||"));
    }
    Expr length() {
        const Token& bar = tokens_[at_++];
        const auto close = std::ranges::find(tokens_.begin() + static_cast<std::ptrdiff_t>(at_), tokens_.end(),
                                             bar.word, &Token::word);
        auto behind = close == tokens_.end() ? close - 1 : close + 1;
        const bool is_squared = behind->word == "²";  // ‖x[i, d]‖²_d
        if (is_squared) ++behind;
        const bool in_braces = behind->word == "_" && tokens_.end() - behind > 3 && (behind + 3)->word == "}";
        const std::string below = in_braces                       ? (behind + 2)->word
                                  : behind->word.starts_with('_') ? behind->word.substr(1)
                                                                  : "";
        const bool is_two = below == "2" || below == "F" || behind->word == "₂";
        const bool has_index = letters_in(below) == 1 && !is_two && (below[0] < '0' || below[0] > '9');
        std::vector<LeftIndex> over;
        if (has_index) bind(below);
        in_length_ = true;
        std::vector<LeftIndex>* const outer = std::exchange(colons_, has_index ? nullptr : &over);
        const Expr e = closed(chain(level::sum), bar.word);
        colons_ = outer;
        in_length_ = false;
        if (has_index) bound_.pop_back(), over = {{.name = below}};
        if (over.empty() || (!has_index && !below.empty() && !is_two))
            throw FormulaError(message("over which index is not said: write ‖x[i, d]‖_d, or norm_{i, d} x[i, d]"),
                               bar.begin);
        at_ += (is_squared ? 1 : 0) + (in_braces ? 4 : has_index || is_two ? 1 : 0);
        const Expr norm = measured("norm", over, e, bar.begin);
        return is_squared || take("²") ? apply(Op::power, {norm, number(2.0)}, bar.begin) : norm;
    }

    // #{k : x[k] > 0}
    Expr count_of(std::size_t at) {
        need("{");
        const LeftIndex i = left_index();
        need(":");
        bind(i.name);
        const Expr holds = closed(expression(), "}");
        bound_.pop_back();
        return over_all(Fold::sum, {i}, apply(Op::bracket, {holds}), at);
    }

    // Kronecker's δ_{i, j}, δ_ij, δ[i, j]
    Expr same_places(std::string_view below, const Token& token) {
        std::vector<Expr> places;
        const bool in_braces = is("{");
        if (below.empty() && (take("{") || take("[")))
            places = listed<Expr>([&] { return expression(); }, in_braces ? "}" : "]");
        for (const char one : below) places.push_back(place_of(std::string(1, one), token.begin));
        if (places.size() != 2) throw FormulaError(message("δ takes two places: δ_{i, j}"), token.begin);
        return apply(Op::bracket, {apply(Op::equal, std::move(places), token.begin)}, token.begin);
    }
    // An index in scope, or else a number of this name.
    [[nodiscard]] Expr place_of(const std::string& name, std::size_t at) const {
        if (std::ranges::find(bound_, name) != bound_.end()) return node(FreeIndex{name}, {}, at);
        return node(Constant{name}, {}, at);
    }

    // The sum along each “:” of the product that is read.
    template <typename Product>
    Expr along_colons(std::size_t at, const Product& product) {
        std::vector<LeftIndex> over;
        std::vector<LeftIndex>* const outer = std::exchange(colons_, &over);
        const Expr e = product();
        colons_ = outer;
        if (over.empty()) throw FormulaError(message("along which index is not said: write ⟨x[i, :], y[j, :]⟩"), at);
        return over_all(Fold::sum, over, e, at);
    }
    // Whether x[i, :] · y[j, :] begins here, behind x: * is a product of each.
    [[nodiscard]] bool is_dot_product() const {
        if (colons_ != nullptr || asks_ || !is("[")) return false;
        const auto token = [&](std::size_t at) -> const Token& { return tokens_[std::min(at, tokens_.size() - 1)]; };
        const auto has_colon = [&](std::size_t first, std::size_t end) {
            return std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(first),
                               tokens_.begin() + static_cast<std::ptrdiff_t>(end),
                               [](const Token& t) { return t.word == ":"; });
        };
        const std::size_t end = end_of_bracket(at_), other = end + 2;
        const std::string_view sign = text_.substr(token(end).begin);
        return (sign.starts_with("·") || sign.starts_with("⋅")) && token(end + 1).kind == Kind::name &&
               token(other).word == "[" && has_colon(at_, end) && has_colon(other, end_of_bracket(other));
    }

    // What begins with a name.
    Expr named(const Token& token) {
        const auto [head, below] = parted(token.word);
        if (head == "δ" && others_.has && (is("{") || is("[") || below.size() == 2)) return same_places(below, token);
        const bool is_below = letters_in(below) == 1 || (below.empty() && head != token.word && is("{"));
        if (is_below && (head == "count" || is_measure(head) || fold_named(head) || is_along(token)))
            return reduction(head, std::string(below), token.begin);
        if (head == "Σ" || head == "Σ_" || token.word == "Σ")
            throw FormulaError(message("an index is missing below Σ: Σ_k, or Σ_{i, j} with braces"), token.begin);
        if (is("(")) return call(token);
        const bool is_operand = here().kind == Kind::name || is("√") || (is("|") && !in_size_);
        const auto op = function_named(token.word);
        if (op && (is_operand || here().kind == Kind::number) && *op != Op::min && *op != Op::max) {
            const bool is_number = here().kind == Kind::number;
            const Expr e = apply(*op, {power()}, token.begin);  // log x[i], log Σ_k …, log 2
            if (is_number && is_factor())
                throw FormulaError(message("put what {function} takes into parentheses", {{"function", token.word}}),
                                   token.begin);
            return e;
        }
        if (op && take("²")) return apply(Op::power, {apply(*op, {power()}, token.begin), number(2.0)}, token.begin);
        if (is_operand && others_.has && std::ranges::find(bound_, token.word) == bound_.end() &&
            others_.has(token.word, false))
            return others_.call(token.word, {}, {power()}, token.begin);  // log2 x[i]
        if (is_dot_product()) {
            --at_;
            return along_colons(token.begin, [&] {
                const Expr left = operand();
                need("·");
                return left * operand();
            });
        }
        if (take("[")) {
            std::size_t colons = 0;
            std::vector<Expr> indices = listed<Expr>(
                [&] { return take("…") ? node(Leading{})
                             : is(":") ? colon(colons++)
                                       : expression(); }, "]");
            if (!indices.empty()) return node(CellOf{token.word, optional()}, std::move(indices), token.begin);
        }
        return place_of(token.word, token.begin);
    }

    // q[b, i, :], between the bars of a length or as a function's operand: an index of its own, over which that goes.
    // Of several tensors there the first are one, and so on.
    Expr colon(std::size_t which) {
        if (colons_ == nullptr || !(is(":") && (tokens_[at_ + 1].word == "," || tokens_[at_ + 1].word == "]")))
            fail(
                message("“:” names no index here: write a letter, as in x[i, d], and Σ_d or norm_d for what goes "
                        "along it"));
        const std::size_t at = tokens_[at_++].begin;
        if (which == colons_->size()) {
            std::set<std::string> taken(bound_.begin(), bound_.end());
            for (const Token& token : tokens_) taken.insert(token.word);
            for (const LeftIndex& i : *colons_) taken.insert(i.name);
            colons_->push_back({.name = fresh("d", taken)});
        }
        return node(FreeIndex{(*colons_)[which].name}, {}, at);
    }

    // "shift[d]?" without a space is an operand that may be missing; " ? " is a choice.
    bool optional() { return is("?") && here().begin == tokens_[at_ - 1].end && take("?"); }

    Expr call(const Token& token) {
        need("(");
        std::vector<LeftIndex> over;
        std::vector<LeftIndex>* const outer = std::exchange(colons_, others_.has ? &over : nullptr);
        std::vector<Expr> children = listed<Expr>([&] { return expression(); }, ")");
        colons_ = outer;
        if (!over.empty()) {                                                    // max(x[i, :])
            const bool is_angle = token.word == "cos" && children.size() == 2;  // cos(x[i, :], y[j, :])
            const Expr e = along(is_angle ? "cosine" : token.word, over, std::move(children), token.begin);
            if (e->indices.contains(over.front().name))
                throw FormulaError(message("{function} leaves what “:” goes along: write its index, as in "
                                           "{function}_k(x[i, k])",
                                           {{"function", token.word}}),
                                   token.begin);
            return e;
        }
        if (const auto op = function_named(token.word)) return primitive(*op, std::move(children), token);
        const auto own = functions_.find(token.word);
        if (own != functions_.end() && (!others_.has || own->second.parameters.size() == children.size()))
            return node(Call{token.word, false}, std::move(children), token.begin);
        if (others_.call) return others_.call(token.word, {}, children, token.begin);
        std::vector<std::string> known;
        for (const auto& [name, function] : functions_) known.push_back(name);
        for (const Spelling& s : spellings())
            if (s.level == kFunction) known.emplace_back(s.ascii);
        throw FormulaError(
            with_nearest(message("there is no function “{name}”", {{"name", token.word}}), token.word, known),
            token.begin);
    }

    static Expr primitive(Op op, std::vector<Expr> operands, const Token& token) {
        const std::size_t wanted = op == Op::min || op == Op::max ? 2 : 1;
        if (operands.size() != wanted)
            throw FormulaError(message_n("{function} takes {count} operand", "{function} takes {count} operands",
                                         wanted, {{"function", token.word}}),
                               token.begin);
        return apply(op, std::move(operands), token.begin);
    }

    // Where the bracket ends that begins there, if one does.
    [[nodiscard]] std::size_t end_of_bracket(std::size_t first) const {
        for (std::size_t at = first, open = 0; at < tokens_.size(); ++at) {
            const std::string& word = tokens_[at].word;
            open += word == "(" || word == "[" ? 1 : 0;
            if (open == 0 || ((word == ")" || word == "]") && --open == 0)) return at + 1;
        }
        return first;
    }
    // Whether this is a function's name with the index below it that it runs along.
    [[nodiscard]] bool is_along(const Token& token) const {
        const auto [head, below] = parted(token.word);
        if (functions_.contains(token.word)) return false;
        return (functions_.contains(head) && (letters_in(below) == 1 || below.empty())) ||
               (others_.has && others_.has(std::string(head), true));
    }

    // Takes the whole product that follows; a word takes the bracket that stands beside it.
    Expr reduction(std::string_view head, const std::string& below, std::size_t at) {
        const bool counts = head == "count";
        const Fold fold = fold_named(head).value_or(Fold::sum);
        std::vector<LeftIndex> over;
        Expr condition;  // Σ_{j < i}
        const std::size_t outer = bound_.size();
        const auto take_index = [&](LeftIndex i) {
            if (std::find(bound_.begin() + static_cast<std::ptrdiff_t>(outer), bound_.end(), i.name) != bound_.end())
                throw FormulaError(
                    message("index {index} stands twice below one sum: choose another letter", {{"index", i.name}}),
                    at);
            bind(i.name);
            over.push_back(std::move(i));
        };
        if (!below.empty()) {
            take_index({.name = below});
            while (is(",") && tokens_[at_ + 1].kind == Kind::name && letters_in(tokens_[at_ + 1].word) == 1) {
                ++at_;  // mean_q,k x[q, k]
                take_index({.name = tokens_[at_++].word});
            }
        } else {
            need("{");
            static_cast<void>(listed<bool>(
                [&] {
                    Expr holds;
                    const auto is_here = [&](const LeftIndex& i) { return here().word == i.name; };
                    if (!over.empty() && (is("|") || std::ranges::any_of(over, is_here))) {  // Σ_{k, k ≠ q}
                        const LeftIndex again{.name = here().word};
                        holds = expression();
                        if (!compares(holds)) take_index(again);  // which it can't
                    } else {
                        if (is("|")) fail(message("which index runs is not said: write Σ_{k: |q − k| ≤ 1}"));
                        take_index(left_index());
                        const auto sign = std::ranges::find_if(spellings(), [&](const Spelling& one) {
                            return one.level == level::comparison && is(one.unicode);
                        });
                        if (take(":")) {  // Σ_{k: |q − k| ≤ 1}
                            holds = expression();
                        } else if (sign != spellings().end()) {
                            const std::size_t where = tokens_[at_++].begin;
                            holds = apply(sign->op, {index(over.back().name), chain(level::sum)}, where);
                        }
                    }
                    if (holds) condition = condition ? apply(Op::both, {condition, holds}) : holds;
                    return true;
                },
                "}"));
            if (over.size() == 1 && condition && condition->is(Op::equal) && take("^")) {  // Σ_{j=1}^{n}
                const Expr &j = (*condition)[0], &first = (*condition)[1];
                const Expr last = take("{") ? closed(chain(level::sum), "}") : primary();
                condition = apply(Op::both, {apply(Op::less_equal, {first, j}), apply(Op::less_equal, {j, last})});
            }
        }
        const bool is_word = std::isalpha(static_cast<unsigned char>(head[0])) != 0;
        const bool is_call = is_word && is("(") && here().begin == tokens_[at_ - 1].end;
        if (head != "count" && !is_measure(head) && !fold_named(head)) {
            if (condition)
                throw FormulaError(message("a condition stands below a sum, a product, an extreme or a norm"), at);
            std::vector<Expr> in;
            if (is_call && take("("))
                in = listed<Expr>([&] { return expression(); }, ")");
            else
                in.push_back(power());
            const std::string& next = here().word;
            if (!is_call && (next == "·" || next == "/" || next == "div" || next == "mod" || is_factor()))
                fail_of_product(head, at);
            bound_.resize(bound_.size() - over.size());
            return along(head, over, std::move(in), at);
        }
        const std::size_t first = at_;
        if (head == "E" && !is("["))
            throw FormulaError(message("an expectation has square brackets: E_k[x[k]], or mean_k x[k]"), at);
        Expr e = head == "E" && take("[") ? closed(expression(), "]") : is_call ? primary() : reduced(at);
        bound_.resize(bound_.size() - over.size());
        // max_k x[k] / 2 is the same either way, unlike these.
        const bool is_other = counts || head == "argmax" || head == "prod" || (is_measure(head) && head != "norm");
        if (is_other && end_of_bracket(first) != at_ && (e->is(Op::multiply) || e->is(Op::divide)) &&
            std::ranges::none_of(over, [&](const LeftIndex& i) { return (*e)[1]->indices.contains(i.name); }))
            fail_of_product(head, at);
        if ((head == "argmax" || head == "argmin") && over.size() > 1)
            throw FormulaError(message("{function} needs one axis", {{"function", head}}), at);
        if (condition && is_measure(head) && head != "norm")
            throw FormulaError(message("a condition stands below a sum, a product, an extreme or a norm"), at);
        if (condition && fold == Fold::mean && !counts && !is_measure(head))
            return over_all(Fold::sum, over, apply(Op::choose, {condition, e, number(0.0)}, at), at) /
                   over_all(Fold::sum, over, apply(Op::both, {condition, apply(Op::equal, {e, e})}), at);
        if (condition) e = where_it_holds(fold, counts, condition, e, at);
        if (is_measure(head)) return measured(head, over, e, at);
        return over_all(fold, over, counts ? apply(Op::bracket, {e}) : e, at);
    }
    // A function of what stands along these.
    Expr along(std::string_view head, const std::vector<LeftIndex>& over, std::vector<Expr> in, std::size_t at) const {
        if (in.size() == 1 && is_measure(head)) return measured(head, over, in[0], at);
        if (in.size() == 1 && fold_named(head) && (over.size() == 1 || fold_named(head) != Fold::argmax))
            return over_all(*fold_named(head), over, in[0], at);
        const auto own = functions_.find(head);
        const bool is_own = own != functions_.end() && own->second.parameters.size() == in.size() && over.size() == 1;
        if (own != functions_.end() && over.size() > 1)
            throw FormulaError(message("{function} needs one axis", {{"function", head}}), at);
        if (own == functions_.end() || (!is_own && others_.call)) return others_.call(std::string(head), over, in, at);
        in.insert(in.begin(), index(over.front().name));
        return node(Call{std::string(head), true}, std::move(in), at);
    }
    [[noreturn]] static void fail_of_product(std::string_view head, std::size_t at) {
        throw FormulaError(
            message("what {function} takes is not said: write {function}_k(…), with the bracket beside it",
                    {{"function", head}}),
            at);
    }
    static Expr over_all(Fold fold, const std::vector<LeftIndex>& over, Expr e, std::size_t at) {
        for (auto i = over.rbegin(); i != over.rend(); ++i)
            e = reduction_of(Reduce{fold, i->name, i->axis, std::nullopt}, i->name, e, at);
        return e;
    }
    // As in PyTorch: var and std divide by one less than they count.
    static Expr measured(std::string_view head, const std::vector<LeftIndex>& over, const Expr& e, std::size_t at) {
        const auto squares = [&](const Expr& of) {
            return over_all(Fold::sum, over, apply(Op::power, {of, number(2.0)}), at);
        };
        if (head == "norm") return apply(Op::root, {squares(e)}, at);
        if (head == "argmin") return over_all(Fold::argmax, over, -e, at);
        const Expr count = over_all(Fold::sum, over, apply(Op::bracket, {apply(Op::equal, {e, e})}), at);
        const Expr variance = squares(e - over_all(Fold::mean, over, e, at)) / (count - number(1.0));
        return head == "var" ? variance : apply(Op::root, {variance}, at);
    }

    // What a condition below a reduction leaves out changes nothing.
    static Expr where_it_holds(Fold fold, bool counts, const Expr& condition, const Expr& e, std::size_t at) {
        const double infinite = std::numeric_limits<double>::infinity();
        if (counts) return apply(Op::both, {condition, e});
        const double nothing = fold == Fold::sum       ? 0.0
                               : fold == Fold::product ? 1.0
                               : fold == Fold::min     ? infinite
                                                       : -infinite;
        return apply(Op::choose, {condition, e, number(nothing)}, at);
    }

    // The product that a reduction takes. Σ a / Σ b would be a sum of quotients, which is rarely meant.
    Expr reduced(std::size_t at) {
        const std::size_t first = at_;
        Expr e = chain(level::product);
        const auto* quotient = e->is(Op::divide) && end_of_bracket(first) != at_ ? e.get() : nullptr;
        if (quotient != nullptr && (*quotient)[1]->as<Reduce>() != nullptr && !closes_before((*quotient)[1]->at))
            throw FormulaError(
                message(
                    "a sum takes the whole product that follows, quotients too: put one of the sums into parentheses"),
                at);
        return e;
    }
    // Whether the token before this place is "(".
    [[nodiscard]] bool closes_before(std::size_t at) const {
        const auto token = std::ranges::find(tokens_, at, &Token::begin);
        return token != tokens_.end() && token != tokens_.begin() && (token - 1)->word == "(";
    }

    std::string_view text_;
    const Functions& functions_;
    OtherFunctions others_;
    bool asks_ = false, in_length_ = false, in_size_ = false;  // in_size_: between the bars of |x|
    std::vector<LeftIndex>* colons_ = nullptr;                 // what “:” stands for where one may stand
    std::vector<std::string> bound_;  // the indices in scope; of two with one name, the inner one is meant
};

}  // namespace

Formula parse(std::string_view text, const Functions& functions, const OtherFunctions& others) {
    return Parser(text, functions, others).formula();
}

Formula parse_function(std::string_view text, const Functions& functions) { return Parser(text, functions).function(); }

Expr parse_asked(std::string_view text) {
    static const Functions none;
    return Parser(text, none).asked();
}

}  // namespace decoderscope::formulas

#include "engine/formulas/parse.h"

#include "engine/base/limits.h"
#include "engine/formulas/words.h"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace decoderscope::formulas {
namespace {

enum class Kind : std::uint8_t { number, name, symbol, end };

struct Token {
    Kind kind;
    std::string word;  // one spelling for all that mean the same
    std::size_t begin, end;
    double value = 0.0;
};

struct Alias {
    std::string_view written, word;
};
// What stands for another word, or for itself; the longer ones first.
constexpr std::array kSymbols{
    Alias{"...", "…"}, Alias{"**", "^"}, Alias{"<=", "≤"}, Alias{">=", "≥"},  Alias{"!=", "≠"}, Alias{"==", "="},
    Alias{"·", "·"},   Alias{"×", "·"},  Alias{"*", "·"},  Alias{"−", "−"},   Alias{"-", "−"},  Alias{"÷", "div"},
    Alias{"≤", "≤"},   Alias{"≥", "≥"},  Alias{"≠", "≠"},  Alias{"∧", "and"}, Alias{"∨", "or"}, Alias{"¬", "not"},
    Alias{"√", "√"},   Alias{"…", "…"},  Alias{"²", "²"},  Alias{"³", "³"},   Alias{"⁴", "⁴"},  Alias{"+", "+"},
    Alias{"/", "/"},   Alias{"^", "^"},  Alias{"(", "("},  Alias{")", ")"},   Alias{"[", "["},  Alias{"]", "]"},
    Alias{"{", "{"},   Alias{"}", "}"},  Alias{",", ","},  Alias{";", ";"},   Alias{":", ":"},  Alias{"?", "?"},
    Alias{"=", "="},   Alias{"<", "<"},  Alias{">", ">"}};
// Names that are symbols.
constexpr std::array kWords{Alias{"and", "and"}, Alias{"or", "or"},  Alias{"not", "not"},     Alias{"div", "div"},
                            Alias{"mod", "mod"}, Alias{"sqrt", "√"}, Alias{"where", "where"}, Alias{"from", "from"}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
// The length of the character of UTF-8 that begins with this byte.
std::size_t length_of(char first) {
    const auto byte = static_cast<unsigned char>(first);
    return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}
std::size_t letters_in(std::string_view text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

class Lexer {
public:
    explicit Lexer(std::string_view text) : text_(text) {}

    [[nodiscard]] std::vector<Token> tokens() {
        std::vector<Token> all;
        while (skip_spaces(), at_ < text_.size()) all.push_back(next());
        all.push_back({Kind::end, "", text_.size(), text_.size()});
        return all;
    }

private:
    void skip_spaces() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
    }

    Token next() {
        if (is_digit(text_[at_]) || (text_[at_] == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1])))
            return decimal();
        if (begins("∞")) return ready(Kind::number, "∞", std::numeric_limits<double>::infinity());
        if (begins("½")) return ready(Kind::number, "½", 0.5);
        for (const Alias& symbol : kSymbols)
            if (begins(symbol.written)) return symbol_token(symbol);
        return name();
    }

    [[nodiscard]] bool begins(std::string_view with) const { return text_.substr(at_).starts_with(with); }

    Token ready(Kind kind, std::string_view word, double value = 0.0) {
        const std::size_t begin = at_;
        at_ += word.size();
        return {kind, std::string(word), begin, at_, value};
    }

    Token symbol_token(const Alias& symbol) {
        Token token = ready(Kind::symbol, symbol.written);
        token.word = symbol.word;
        return token;
    }

    Token decimal() {
        double value = 0.0;
        const char* first = text_.data() + at_;
        const auto [end, error] = fast_float::from_chars(first, text_.data() + text_.size(), value);
        return ready(Kind::number, text_.substr(at_, static_cast<std::size_t>(end - first)), value);
    }

    Token name() {
        std::size_t end = at_;
        while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]) || is_other_letter(end)))
            end += length_of(text_[end]);
        end = std::min(end, text_.size());
        if (end == at_) {
            const std::string_view character = text_.substr(at_, length_of(text_[at_]));
            throw FormulaError(message("“{text}” is no part of a formula", {{"text", character}}), at_);
        }
        Token token = ready(Kind::name, text_.substr(at_, end - at_));
        if (token.word == "inf")
            return {Kind::number, "∞", token.begin, token.end, std::numeric_limits<double>::infinity()};
        if (token.word == "π") token.word = "pi";
        for (const Alias& word : kWords)
            if (token.word == word.written) return {Kind::symbol, std::string(word.word), token.begin, token.end};
        return token;
    }

    // A character beyond ASCII that is no symbol: α, Σ.
    [[nodiscard]] bool is_other_letter(std::size_t at) const {
        if (static_cast<unsigned char>(text_[at]) < 0x80) return false;
        const std::string_view rest = text_.substr(at);
        return !rest.starts_with("∞") && !rest.starts_with("½") &&
               std::ranges::none_of(kSymbols, [&](const Alias& s) { return rest.starts_with(s.written); });
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

class Parser {
public:
    Parser(std::string_view text, const Functions& functions) : functions_(functions), tokens_(Lexer(text).tokens()) {}

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

private:
    // ---- tokens

    [[nodiscard]] const Token& here() const { return tokens_[at_]; }
    [[nodiscard]] bool is(std::string_view word) const { return here().kind == Kind::symbol && here().word == word; }
    bool take(std::string_view word) {
        if (!is(word)) return false;
        ++at_;
        return true;
    }
    [[noreturn]] void fail(Sentence sentence) const { throw FormulaError(std::move(sentence), here().begin); }
    void need(std::string_view word) {
        if (take(word)) return;
        if (here().kind == Kind::end) fail(message("“{word}” is missing at the end", {{"word", word}}));
        fail(message("“{word}” is missing before “{next}”", {{"word", word}, {"next", here().word}}));
    }
    const Token& need_name() {
        if (here().kind == Kind::end) fail(message("a name is missing at the end"));
        if (here().kind != Kind::name) fail(message("a name is missing before “{next}”", {{"next", here().word}}));
        return tokens_[at_++];
    }

    template <class T, class One>
    std::vector<T> listed(const One& one, std::string_view close) {
        std::vector<T> all;
        while (!take(close)) {
            all.push_back(one());
            if (!is(close)) need(",");
        }
        return all;
    }

    // "max_j" as "max" and "j"; a word without "_" as itself and "".
    [[nodiscard]] static std::pair<std::string_view, std::string_view> parted(std::string_view word) {
        const std::size_t bar = word.rfind('_');
        if (bar == std::string_view::npos || bar == 0) return {word, ""};
        return {word.substr(0, bar), word.substr(bar + 1)};
    }

    // ---- definitions

    LeftIndex left_index() {
        if (take("…")) return {.name = "…"};
        LeftIndex i{.name = need_name().word};
        if (take(":")) i.axis = need_name().word;
        return i;
    }

    Definition definition() {
        Definition d{.name = need_name().word};
        if (take("[")) d.indices = listed<LeftIndex>([&] { return left_index(); }, "]");
        need("=");
        outer_ = {bound_.begin(), bound_.end()};
        for (const LeftIndex& i : d.indices) {
            bound_.push_back(i.name);
            outer_.erase(i.name);
        }
        d.body = expression();
        if (take("from")) d.start = expression();
        bound_.resize(bound_.size() - d.indices.size());
        return d;
    }

    Formula finish(Formula formula) {
        if (take("where")) do
                formula.wheres.push_back(definition());
            while (take(";"));
        if (here().kind != Kind::end) fail(message("“{word}” doesn't continue the formula", {{"word", here().word}}));
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
        Expr condition = either();
        if (!take("?")) return condition;
        Expr yes = expression();
        need(":");
        Expr no = expression();
        return apply(Op::choose, {condition, yes, no}, at);
    }

    struct Infix {
        std::string_view word;
        Op op;
    };
    // Operations of one binding strength, the leftmost first.
    template <class Below>
    Expr chain(std::initializer_list<Infix> operations, const Below& below) {
        Expr e = below();
        for (;;) {
            const auto* found = std::ranges::find_if(operations, [&](const Infix& i) { return is(i.word); });
            if (found == operations.end()) return e;
            const std::size_t at = tokens_[at_++].begin;
            e = apply(found->op, {e, below()}, at);
        }
    }

    Expr either() {
        return chain({{"or", Op::either}}, [&] { return chain({{"and", Op::both}}, [&] { return negation(); }); });
    }
    Expr negation() {
        const Nesting nesting(*this);
        if (take("not")) return apply(Op::negation, {negation()});
        return chain({{"=", Op::equal},
                      {"≠", Op::not_equal},
                      {"<", Op::less},
                      {"≤", Op::less_equal},
                      {">", Op::greater},
                      {"≥", Op::greater_equal}},
                     [&] { return sum(); });
    }
    Expr sum() {
        bool first = true;
        return chain({{"+", Op::add}, {"−", Op::subtract}}, [&] {
            const bool minus = std::exchange(first, false) && take("−");
            Expr e = product();
            return minus ? -e : e;
        });
    }
    Expr product() {
        return chain({{"·", Op::multiply}, {"/", Op::divide}, {"div", Op::quotient}, {"mod", Op::remainder}},
                     [&] { return unary(); });
    }
    Expr unary() {
        const Nesting nesting(*this);
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
        return take("^") ? apply(Op::power, {e, unary()}, at) : e;
    }

    Expr primary() {
        const Nesting nesting(*this);
        const Token token = here();
        if (token.kind == Kind::number) return ++at_, node(Literal{token.value}, {}, token.begin);
        if (take("√")) return apply(Op::root, {primary()}, token.begin);
        if (take("(")) return closed(expression(), ")");
        if (take("[")) return apply(Op::bracket, {closed(expression(), "]")}, token.begin);
        if (token.kind == Kind::end) fail(message("a number or a name is missing at the end"));
        if (token.kind != Kind::name)
            fail(message("a number or a name is missing before “{next}”", {{"next", token.word}}));
        ++at_;
        return named(token);
    }
    Expr closed(Expr e, std::string_view with) {
        need(with);
        return e;
    }

    // What begins with a name.
    Expr named(const Token& token) {
        const auto [head, below] = parted(token.word);
        const bool counts = head == "count";
        if ((counts || fold_named(head)) &&
            (letters_in(below) == 1 || (below.empty() && head != token.word && is("{"))))
            return reduction(counts ? Fold::sum : *fold_named(head), counts, std::string(below), token.begin);
        if (head == "Σ" || head == "Σ_" || token.word == "Σ")
            throw FormulaError(message("an index is missing below Σ: Σ_k, or Σ_{i, j} with braces"), token.begin);
        if (is("(")) return call(token);
        if (take("[")) {
            std::vector<Expr> indices = listed<Expr>([&] { return take("…") ? node(Leading{}) : expression(); }, "]");
            return node(CellOf{token.word, optional()}, std::move(indices), token.begin);
        }
        if (std::ranges::find(bound_, token.word) != bound_.end()) return node(FreeIndex{token.word}, {}, token.begin);
        return node(Constant{token.word}, {}, token.begin);
    }

    // "shift[d]?" without a space is an operand that may be missing; " ? " is a choice.
    bool optional() { return is("?") && here().begin == tokens_[at_ - 1].end && take("?"); }

    Expr call(const Token& token) {
        need("(");
        const auto [head, below] = parted(token.word);
        const bool along = !functions_.contains(token.word) && functions_.contains(head) && letters_in(below) == 1;
        std::vector<Expr> children;
        if (along) {
            bound_.emplace_back(below);
            children.push_back(index(std::string(below)));
        }
        for (Expr& e : listed<Expr>([&] { return expression(); }, ")")) children.push_back(std::move(e));
        if (along) bound_.pop_back();
        if (const auto op = function_named(token.word)) return primitive(*op, std::move(children), token);
        if (along) return node(Call{std::string(head), true}, std::move(children), token.begin);
        if (functions_.contains(token.word)) return node(Call{token.word, false}, std::move(children), token.begin);
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

    // Takes the whole product that follows.
    Expr reduction(Fold fold, bool counts, const std::string& below, std::size_t at) {
        std::vector<LeftIndex> over;
        if (!below.empty()) {
            over.push_back({.name = below});
        } else {
            need("{");
            over = listed<LeftIndex>([&] { return left_index(); }, "}");
        }
        for (const LeftIndex& i : over) {
            if (std::ranges::find(bound_, i.name) != bound_.end() && !outer_.contains(i.name))
                throw FormulaError(message("index {index} is in use already: choose another", {{"index", i.name}}), at);
            bound_.push_back(i.name);
        }
        Expr e = reduced(at);
        bound_.resize(bound_.size() - over.size());
        if (counts) e = apply(Op::bracket, {e});
        for (auto i = over.rbegin(); i != over.rend(); ++i)
            e = reduction_of(Reduce{fold, i->name, i->axis, std::nullopt}, i->name, e, at);
        return e;
    }

    // The product that a reduction takes. Σ a / Σ b would be a sum of quotients, which is rarely meant.
    Expr reduced(std::size_t at) {
        Expr e = product();
        const auto* quotient = e->is(Op::divide) ? e.get() : nullptr;
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

    // Counts the levels that one expression is inside others.
    struct Nesting {
        explicit Nesting(Parser& in) : parser(in) {
            // Four levels of the grammar for a pair of parentheses.
            if (++parser.depth_ > 4 * limits::kFormulaDepth)
                parser.fail(message("more than {count} levels inside each other", {{"count", limits::kFormulaDepth}}));
        }
        ~Nesting() { --parser.depth_; }
        Nesting(const Nesting&) = delete;
        Nesting& operator=(const Nesting&) = delete;
        Parser& parser;
    };

    const Functions& functions_;
    std::vector<Token> tokens_;
    std::size_t at_ = 0, depth_ = 0;
    std::vector<std::string> bound_;  // the indices in scope
    std::set<std::string> outer_;     // those of the formula that a sub-result may use anew
};

void check_length(std::string_view text) {
    if (text.size() > limits::kFormulaBytes)
        throw FormulaError(
            message("the formula is too long: more than {count} bytes", {{"count", limits::kFormulaBytes}}), kNowhere);
}

}  // namespace

Formula parse(std::string_view text, const Functions& functions) {
    check_length(text);
    return Parser(text, functions).formula();
}

Formula parse_function(std::string_view text, const Functions& functions) {
    check_length(text);
    return Parser(text, functions).function();
}

}  // namespace decoderscope::formulas

#include "app/core/language/plural_rule.h"

#include "engine/error.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>

namespace decoderscope {

namespace {

using Number = std::uint64_t;
using Expression = std::function<Number(Number n)>;

struct Operator {
    std::string_view sign;
    Number (*apply)(Number a, Number b);
};

// By precedence, the loosest first. Longer signs come before those that they begin with.
constexpr std::array<Operator, 1> kOr = {{{"||", [](Number a, Number b) { return Number{a != 0 || b != 0}; }}}};
constexpr std::array<Operator, 1> kAnd = {{{"&&", [](Number a, Number b) { return Number{a != 0 && b != 0}; }}}};
constexpr std::array<Operator, 2> kEqual = {{{"==", [](Number a, Number b) { return Number{a == b}; }},
                                             {"!=", [](Number a, Number b) { return Number{a != b}; }}}};
constexpr std::array<Operator, 4> kOrder = {{{"<=", [](Number a, Number b) { return Number{a <= b}; }},
                                             {">=", [](Number a, Number b) { return Number{a >= b}; }},
                                             {"<", [](Number a, Number b) { return Number{a < b}; }},
                                             {">", [](Number a, Number b) { return Number{a > b}; }}}};
constexpr std::array<Operator, 2> kSum = {
    {{"+", [](Number a, Number b) { return a + b; }}, {"-", [](Number a, Number b) { return a - b; }}}};
// A division by zero gives 0: a wrong header must not end the program.
constexpr std::array<Operator, 3> kProduct = {{{"*", [](Number a, Number b) { return a * b; }},
                                               {"/", [](Number a, Number b) { return b == 0 ? 0 : a / b; }},
                                               {"%", [](Number a, Number b) { return b == 0 ? 0 : a % b; }}}};
constexpr std::array<std::span<const Operator>, 6> kLevels = {kOr, kAnd, kEqual, kOrder, kSum, kProduct};

// Parses an expression of C by recursive descent.
class Parser {
public:
    explicit Parser(std::string_view text) : whole_(text), rest_(text) {}

    Expression expression() {
        Expression read = choice();
        static_cast<void>(take(";"));
        skip_spaces();
        if (!rest_.empty()) fail();
        return read;
    }

private:
    static constexpr int kDeepest = 50;

    // a ? b : c
    Expression choice() {
        if (++depth_ > kDeepest) fail();
        Expression condition = level(0);
        if (take("?")) {
            Expression yes = choice();
            if (!take(":")) fail();
            Expression no = choice();
            condition = [condition = std::move(condition), yes = std::move(yes), no = std::move(no)](Number n) {
                return condition(n) != 0 ? yes(n) : no(n);
            };
        }
        --depth_;
        return condition;
    }

    Expression level(std::size_t at) {
        if (at == kLevels.size()) return operand();
        Expression left = level(at + 1);
        while (const Operator* found = take_one_of(kLevels[at])) {
            Expression right = level(at + 1);
            left = [apply = found->apply, left = std::move(left), right = std::move(right)](Number n) {
                return apply(left(n), right(n));
            };
        }
        return left;
    }

    Expression operand() {
        if (take("(")) {
            Expression inside = choice();
            if (!take(")")) fail();
            return inside;
        }
        if (take("!")) {
            if (++depth_ > kDeepest) fail();
            return [negated = operand()](Number n) { return Number{negated(n) == 0}; };
        }
        if (take("n")) return [](Number n) { return n; };
        Number value = 0;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        if (error != std::errc()) fail();
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return [value](Number) { return value; };
    }

    const Operator* take_one_of(std::span<const Operator> operators) {
        for (const Operator& one : operators)
            if (take(one.sign)) return &one;
        return nullptr;
    }

    bool take(std::string_view sign) {
        skip_spaces();
        if (!rest_.starts_with(sign) || (sign == "!" && rest_.starts_with("!="))) return false;
        rest_.remove_prefix(sign.size());
        return true;
    }
    void skip_spaces() {
        while (rest_.starts_with(' ') || rest_.starts_with('\t')) rest_.remove_prefix(1);
    }
    [[noreturn]] void fail() const {
        throw Error("Plural-Forms: {expression} is no expression over the count n",
                    {{"expression", std::string(whole_)}});
    }

    std::string_view whole_, rest_;
    int depth_ = 0;
};

}  // namespace

PluralRule plural_rule(std::string_view header) {
    constexpr std::string_view kForms = "nplurals=", kPlural = "plural=";
    constexpr std::size_t kMost = 6;  // Arabic has six
    const std::size_t forms_at = header.find(kForms), end = header.find(';');
    const std::size_t plural_at = end == std::string_view::npos ? end : header.find(kPlural, end);
    std::size_t forms = 0;
    if (forms_at != std::string_view::npos && plural_at != std::string_view::npos) {
        const std::string_view number = header.substr(forms_at + kForms.size(), end - forms_at - kForms.size());
        static_cast<void>(std::from_chars(number.data(), number.data() + number.size(), forms));
    }
    if (forms < 1 || forms > kMost)
        throw Error("Plural-Forms is {header}, expected “nplurals=1; plural=0;” or another rule",
                    {{"header", std::string(header)}});
    Expression choose = Parser(header.substr(plural_at + kPlural.size())).expression();
    return {forms, [choose = std::move(choose), forms](std::int64_t count) {
                const Number form =
                    choose(count < 0 ? Number{0} - static_cast<Number>(count) : static_cast<Number>(count));
                return form < forms ? static_cast<std::size_t>(form) : std::size_t{0};
            }};
}

}  // namespace decoderscope

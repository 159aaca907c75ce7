#include "app/core/lessons/expression.h"

#include "app/core/text/numbers.h"
#include "engine/base/error.h"

#include <array>
#include <cctype>
#include <cmath>
#include <exception>
#include <limits>
#include <optional>
#include <sstream>

namespace decoderscope::core::lessons {

namespace {

constexpr int kDigits = 3;

std::string shown_number(double value, const Format& format) {
    std::string text;
    if (format.kind == Format::Kind::percent)
        text = fixed_text(value * 100.0, format.decimals) + " %";
    else if (format.kind == Format::Kind::decimals)
        text = fixed_text(value, format.decimals);
    else
        text = short_number_text(value, kDigits);
    return format.with_sign && value > 0.0 ? "+" + text : text;
}

using Kind = Expression::Kind;

constexpr int kDeepest = 60;

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool continues_name(char c) { return begins_name(c) || is_digit(c); }

ExpressionRef made(Expression expression) { return std::make_shared<const Expression>(std::move(expression)); }
ExpressionRef number(double value) { return made({.kind = Kind::number, .number = value, .text = {}, .parts = {}}); }

// By recursive descent: or, and, not, comparison, sum, product, minus, power, index.
class Parser {
public:
    explicit Parser(std::string_view text) : text_(text) {}

    ExpressionRef whole() {
        ExpressionRef all = either();
        skip_spaces();
        if (at_ < text_.size()) fail(message("an operator or the end"));
        return all;
    }

private:
    [[noreturn]] void fail(Phrase expected) {
        skip_spaces();
        const std::string_view rest = text_.substr(std::min(at_, text_.size()));
        throw Error("in \"{text}\": found \"{found}\", expected {expected}",
                    {{"text", text_}, {"found", rest.substr(0, 20)}, {"expected", Sentence(expected)}});
    }

    void skip_spaces() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    }

    // Takes this sign or word if it comes next.
    bool take(std::string_view sign) {
        skip_spaces();
        if (!text_.substr(at_).starts_with(sign)) return false;
        const std::size_t end = at_ + sign.size();
        if (begins_name(sign.front()) && end < text_.size() && continues_name(text_[end])) return false;
        at_ = end;
        return true;
    }
    void need(std::string_view sign, Phrase expected) {
        if (!take(sign)) fail(expected);
    }

    template <std::size_t N>
    std::optional<std::string_view> take_one_of(const std::array<std::string_view, N>& signs) {
        for (const std::string_view sign : signs)
            if (take(sign)) return sign;
        return std::nullopt;
    }

    // Operands with operators of one rank between them, from the left.
    template <std::size_t N, class Operand>
    ExpressionRef chain(const std::array<std::string_view, N>& operators, Operand operand) {
        ExpressionRef left = operand();
        while (const auto sign = take_one_of(operators))
            left = made({.kind = Kind::binary, .text = std::string(*sign), .parts = {left, operand()}});
        return left;
    }

    ExpressionRef either() {
        if (++depth_ > kDeepest) fail(message("fewer nested parentheses"));
        ExpressionRef all = chain(std::array<std::string_view, 1>{"or"}, [&] { return both(); });
        --depth_;
        return all;
    }
    ExpressionRef both() {
        return chain(std::array<std::string_view, 1>{"and"}, [&] { return negation(); });
    }
    ExpressionRef negation() {
        if (!take("not")) return comparison();
        if (++depth_ > kDeepest) fail(message("fewer negations"));
        ExpressionRef all = made({.kind = Kind::unary, .text = "not", .parts = {negation()}});
        --depth_;
        return all;
    }
    ExpressionRef comparison() {
        return chain(std::array<std::string_view, 6>{"==", "!=", "<=", ">=", "<", ">"}, [&] { return sum(); });
    }
    ExpressionRef sum() {
        return chain(std::array<std::string_view, 2>{"+", "-"}, [&] { return product(); });
    }
    ExpressionRef product() {
        return chain(std::array<std::string_view, 2>{"*", "/"}, [&] { return signed_one(); });
    }
    ExpressionRef signed_one() {
        if (!take("-")) return power();
        if (++depth_ > kDeepest) fail(message("fewer signs"));
        ExpressionRef all = made({.kind = Kind::unary, .text = "-", .parts = {signed_one()}});
        --depth_;
        return all;
    }
    ExpressionRef power() {
        ExpressionRef base = indexed();
        if (!take("^")) return base;
        return made({.kind = Kind::binary, .text = "^", .parts = {base, signed_one()}});
    }

    ExpressionRef indexed() {
        ExpressionRef base = atom();
        while (take("[")) {
            Expression index{.kind = Kind::index, .parts = {base}};
            do {
                index.parts.push_back(take(":") ? made({.kind = Kind::whole}) : either());
            } while (take(","));
            need("]", message("] or another index"));
            base = made(std::move(index));
        }
        return base;
    }

    ExpressionRef atom() {
        skip_spaces();
        if (at_ == text_.size()) fail(message("a number, a name or a text"));
        const char next = text_[at_];
        if (take("(")) {
            ExpressionRef inside = either();
            need(")", message("a closing parenthesis"));
            return inside;
        }
        if (next == '\'') return quoted();
        if (is_digit(next) || next == '.') return literal();
        if (begins_name(next)) return named();
        fail(message("a number, a name or a text"));
    }

    ExpressionRef quoted() {
        const std::size_t end = text_.find('\'', at_ + 1);
        if (end == std::string_view::npos) fail(message("a text that ends with '"));
        Expression text{.kind = Kind::text, .text = std::string(text_.substr(at_ + 1, end - at_ - 1))};
        at_ = end + 1;
        return made(std::move(text));
    }

    ExpressionRef literal() {
        std::size_t end = at_;
        while (end < text_.size() && (is_digit(text_[end]) || text_[end] == '.')) ++end;
        if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
            std::size_t exponent = end + 1;
            if (exponent < text_.size() && (text_[exponent] == '-' || text_[exponent] == '+')) ++exponent;
            if (exponent < text_.size() && is_digit(text_[exponent])) {
                end = exponent;
                while (end < text_.size() && is_digit(text_[end])) ++end;
            }
        }
        const std::string digits(text_.substr(at_, end - at_));
        std::size_t used = 0;
        double value = 0.0;
        try {
            value = std::stod(digits, &used);
        } catch (const std::exception&) {
            used = 0;
        }
        if (used != digits.size()) fail(message("a number"));
        at_ = end;
        return number(value);
    }

    ExpressionRef named() {
        std::size_t end = at_ + 1;
        // A dot belongs to the name if the name continues after it: "blocks.0.attn.z".
        while (end < text_.size() && (continues_name(text_[end]) ||
                                      (text_[end] == '.' && end + 1 < text_.size() && continues_name(text_[end + 1]))))
            ++end;
        std::string name(text_.substr(at_, end - at_));
        at_ = end;
        if (name == "true") return number(1.0);
        if (name == "false") return number(0.0);
        if (name == "inf") return number(std::numeric_limits<double>::infinity());
        if (name == "pi") return number(std::acos(-1.0));
        if (!take("(")) return made({.kind = Kind::name, .text = std::move(name)});
        Expression call{.kind = Kind::call, .text = std::move(name)};
        if (take(")")) return made(std::move(call));
        do call.parts.push_back(either());
        while (take(","));
        need(")", message("a closing parenthesis or another argument"));
        return made(std::move(call));
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace

Numbers vector_of(std::vector<double> values) {
    Axes axes;
    axes.push_back({"", static_cast<Index>(values.size())});
    return {std::move(axes), std::move(values)};
}

const Numbers& numbers_of(const Value& value) {
    if (const auto* numbers = std::get_if<Numbers>(&value)) return *numbers;
    throw Error("'{text}' is a text; expected a number", {{"text", std::get<std::string>(value)}});
}

double number_of(const Value& value) {
    const Numbers& numbers = numbers_of(value);
    if (numbers.values.size() == 1) return numbers.values.front();
    throw Error("these are {count} numbers, of shape {shape}; expected one",
                {{"count", numbers.values.size()}, {"shape", shape_text(numbers.axes)}});
}

const std::string& text_of(const Value& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    throw Error("this is a number; expected a text in single quotes");
}

bool holds(const Value& value) {
    const double number = number_of(value);
    return !std::isnan(number) && number != 0.0;
}

Format parse_format(std::string_view text) {
    Format format;
    std::istringstream words{std::string(text)};
    for (std::string word; words >> word;) {
        if (word == "%") {
            format.kind = Format::Kind::percent;
        } else if (word == "holds") {
            format.kind = Format::Kind::claim;
        } else if (word == "signed") {
            format.with_sign = true;
        } else if (word.size() == 1 && word[0] >= '0' && word[0] <= '9') {
            format.decimals = word[0] - '0';
            if (format.kind == Format::Kind::plain) format.kind = Format::Kind::decimals;
        } else {
            throw Error("\"{word}\" is not a format; expected a number of decimals, %, signed, or holds",
                        {{"word", word}});
        }
    }
    return format;
}

std::string shown_text(const Value& value, const Format& format) {
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    std::string all;
    for (const double number : std::get<Numbers>(value).values)
        all += (all.empty() ? "" : ", ") + shown_number(number, format);
    return all;
}

ExpressionRef parse_expression(std::string_view text) { return Parser(text).whole(); }

std::vector<std::string> split_at(std::string_view text, char separator) {
    std::vector<std::string> parts(1);
    int depth = 0;
    bool quoted = false;
    for (const char c : text) {
        if (c == '\'') quoted = !quoted;
        if (!quoted && (c == '(' || c == '[')) ++depth;
        if (!quoted && (c == ')' || c == ']')) --depth;
        if (c == separator && depth == 0 && !quoted)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

}  // namespace decoderscope::core::lessons

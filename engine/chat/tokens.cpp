#include "engine/chat/tokens.h"

#include "engine/chat/syntax.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

namespace decoderscope::chat {

namespace {

constexpr std::size_t kLongestName = 100;
constexpr std::string_view kBlanks = " \t", kSpace = " \t\n\r\f\v";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Line breaks as \n; one at the end is no part of the template.
std::string prepared(std::string_view source) {
    std::string text;
    for (std::size_t i = 0; i < source.size(); ++i) {
        const bool carriage = source[i] == '\r';
        text += carriage ? '\n' : source[i];
        if (carriage && i + 1 < source.size() && source[i + 1] == '\n') ++i;
    }
    if (text.ends_with('\n')) text.pop_back();
    return text;
}

void append_utf8(std::string& text, std::uint32_t code) {
    const auto put = [&](std::uint32_t bits) { text += static_cast<char>(bits); };
    if (code < 0x80U) return put(code);
    if (code < 0x800U) {
        put(0xC0U | (code >> 6U));
    } else {
        if (code < 0x10000U) {
            put(0xE0U | (code >> 12U));
        } else {
            put(0xF0U | (code >> 18U));
            put(0x80U | ((code >> 12U) & 0x3FU));
        }
        put(0x80U | ((code >> 6U) & 0x3FU));
    }
    put(0x80U | (code & 0x3FU));
}

std::optional<std::uint32_t> hexadecimal(std::string_view digits, std::size_t count) {
    if (digits.size() < count) return std::nullopt;
    std::uint32_t number = 0;
    for (const char digit : digits.substr(0, count)) {
        const std::size_t at = std::string_view("0123456789abcdef").find(static_cast<char>(digit | 0x20));
        if (at == std::string_view::npos) return std::nullopt;
        number = number * 16 + static_cast<std::uint32_t>(at);
    }
    return number;
}

// What Python makes of the escapes in a text.
std::string unescaped(std::string_view written) {
    std::string text;
    for (std::size_t i = 0; i < written.size(); ++i) {
        if (written[i] != '\\' || i + 1 == written.size()) {
            text += written[i];
            continue;
        }
        const char kind = written[++i];
        if (const std::size_t known = std::string_view("nrtbfv\\'\"").find(kind); known != std::string_view::npos) {
            text += "\n\r\t\b\f\v\\'\""[known];
            continue;
        }
        const std::size_t count = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
        const auto code = count > 0 ? hexadecimal(written.substr(i + 1), count) : std::nullopt;
        if (code && *code < 0x110000U && (*code < 0xD800U || *code > 0xDFFFU)) {
            append_utf8(text, *code);
            i += count;
        } else if (kind != '\n') {
            text += {'\\', kind};
        }
    }
    return text;
}

class Cutter {
public:
    explicit Cutter(std::string_view source) : source_(prepared(source)) {}

    std::vector<Token> cut() {
        while (place_ < source_.size()) cut_text();
        put(TokenKind::end, "");
        return std::move(tokens_);
    }

private:
    [[nodiscard]] std::string_view rest() const { return std::string_view(source_).substr(place_); }
    [[nodiscard]] char at(std::size_t place) const { return place < source_.size() ? source_[place] : '\0'; }

    void put(TokenKind kind, std::string text) { tokens_.push_back({kind, std::move(text), line_}); }

    void advance_to(std::size_t place) {
        line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(place_),
                                             source_.begin() + static_cast<std::ptrdiff_t>(place), '\n'));
        place_ = place;
        at_line_start_ = place > 0 && source_[place - 1] == '\n';
    }

    [[nodiscard]] std::size_t next_opening() const {
        for (std::size_t i = place_; i + 1 < source_.size(); ++i)
            if (source_[i] == '{' && std::string_view("{%#").find(source_[i + 1]) != std::string_view::npos) return i;
        return source_.size();
    }

    // The text up to the next tag, without the white space that the tag takes, and then the tag.
    void cut_text() {
        const std::size_t opening = next_opening();
        std::string_view text = std::string_view(source_).substr(place_, opening - place_);
        const bool whole_line = at_line_start_ || place_ == 0;
        const char control = at(opening + 2);
        if (control == '-')
            text = text.substr(0, text.find_last_not_of(kSpace) + 1);
        else if (control != '+' && opening < source_.size() && at(opening + 1) != '{')
            text = without_indentation(text, whole_line);
        if (!text.empty()) put(TokenKind::text, std::string(text));
        advance_to(opening);
        if (opening == source_.size()) return;
        const char kind = at(opening + 1);
        advance_to(opening + (control == '-' || control == '+' ? 3 : 2));
        if (kind == '#') return skip_comment();
        if (kind == '%' && cut_raw()) return;
        cut_inside(kind == '%' ? TokenKind::tag_begin : TokenKind::print_begin, kind == '%' ? '%' : '}');
    }

    static std::string_view without_indentation(std::string_view text, bool whole_line) {
        const std::size_t line = text.rfind('\n') + 1;
        if (line == 0 && !whole_line) return text;
        return text.find_first_not_of(kBlanks, line) == std::string_view::npos ? text.substr(0, line) : text;
    }

    // The white space behind "%}" or "#}" that the tag takes; `closing` is where its last two characters begin.
    void leave_tag(std::size_t closing) {
        const char control = closing > place_ || closing > 0 ? at(closing - 1) : '\0';
        advance_to(closing + 2);
        if (control == '-')
            advance_to(std::min(source_.find_first_not_of(kSpace, place_), source_.size()));
        else if (control != '+' && at(closing) != '}' && at(place_) == '\n')
            advance_to(place_ + 1);
    }

    void skip_comment() {
        const int line = line_;
        const std::size_t closing = source_.find("#}", place_);
        if (closing == std::string::npos) fail(line, message("expected {tag} at the end", {{"tag", "#}"}}));
        leave_tag(closing);
    }

    // {% raw %} … {% endraw %}; whether there is one here.
    bool cut_raw() {
        const auto word_at = [&](std::size_t from, std::string_view word) -> std::optional<std::size_t> {
            std::size_t i = from;
            while (i < source_.size() && kSpace.find(source_[i]) != std::string_view::npos) ++i;
            if (source_.compare(i, word.size(), word) != 0) return std::nullopt;
            i += word.size();
            while (i < source_.size() && kSpace.find(source_[i]) != std::string_view::npos) ++i;
            if (at(i) == '-' || at(i) == '+') ++i;
            return source_.compare(i, 2, "%}") == 0 ? std::optional(i) : std::nullopt;
        };
        const auto closing = word_at(place_, "raw");
        if (!closing) return false;
        const int line = line_;
        leave_tag(*closing);
        for (std::size_t end = source_.find("{%", place_); end != std::string::npos;
             end = source_.find("{%", end + 2)) {
            const bool control = at(end + 2) == '-' || at(end + 2) == '+';
            const auto last = word_at(end + (control ? 3 : 2), "endraw");
            if (!last) continue;
            std::string_view text = std::string_view(source_).substr(place_, end - place_);
            text = at(end + 2) == '-' ? text.substr(0, text.find_last_not_of(kSpace) + 1)
                                      : without_indentation(text, at_line_start_);
            if (!text.empty()) put(TokenKind::text, std::string(text));
            advance_to(end);
            leave_tag(*last);
            return true;
        }
        fail(line, message("expected {tag} at the end", {{"tag", "{% endraw %}"}}));
    }

    // The expression or statement between the brackets.
    void cut_inside(TokenKind begin, char last) {
        put(begin, "");
        const int line = line_;
        std::string open;  // brackets: "}}" within a dictionary closes that
        while (true) {
            advance_to(std::min(source_.find_first_not_of(kSpace, place_), source_.size()));
            if (place_ == source_.size())
                fail(line, message("expected {tag} at the end", {{"tag", last == '%' ? "%}" : "}}"}}));
            const std::size_t signs = at(place_) == '-' || at(place_) == '+' ? 1 : 0;
            if (open.empty() && at(place_ + signs) == last && at(place_ + signs + 1) == '}') {
                put(last == '%' ? TokenKind::tag_end : TokenKind::print_end, "");
                return leave_tag(place_ + signs);
            }
            cut_token(open);
        }
    }

    void cut_token(std::string& open) {
        const char c = at(place_);
        if (is_letter(c))
            return cut_while(TokenKind::name, [](char next) { return is_letter(next) || is_digit(next); });
        if (is_digit(c)) return cut_number();
        if (c == '"' || c == '\'') return cut_string(c);
        constexpr std::array<std::string_view, 25> signs = {"**", "//", "==", "!=", "<=", ">=", "+", "-", "*",
                                                            "/",  "%",  "<",  ">",  "=",  "(",  ")", "[", "]",
                                                            "{",  "}",  "|",  ",",  ".",  ":",  "~"};
        const auto found = std::ranges::find_if(signs, [&](std::string_view sign) { return rest().starts_with(sign); });
        if (found == signs.end())
            fail(line_, message("{found} is no part of an expression", {{"found", rest().substr(0, 1)}}));
        if (std::string_view("([{").find(c) != std::string_view::npos) open += c;
        if (std::string_view(")]}").find(c) != std::string_view::npos && !open.empty()) open.pop_back();
        put(TokenKind::sign, std::string(*found));
        advance_to(place_ + found->size());
    }

    template <class Belongs>
    void cut_while(TokenKind kind, Belongs belongs) {
        std::size_t end = place_;
        while (end < source_.size() && belongs(source_[end])) ++end;
        if (end - place_ > kLongestName)
            fail(line_, message("{name} is too long a name", {{"name", quotable(rest().substr(0, kLongestName))}}));
        put(kind, source_.substr(place_, end - place_));
        advance_to(end);
    }

    void cut_number() {
        std::size_t end = place_;
        bool real = false;
        const auto digits = [&] {
            while (is_digit(at(end)) || (at(end) == '_' && is_digit(at(end + 1)))) ++end;
        };
        digits();
        if (at(end) == '.' && is_digit(at(end + 1))) {
            real = true;
            ++end;
            digits();
        }
        if ((at(end) | 0x20) == 'e') {
            const std::size_t sign = at(end + 1) == '+' || at(end + 1) == '-' ? 1 : 0;
            if (is_digit(at(end + 1 + sign))) {
                real = true;
                end += 1 + sign;
                digits();
            }
        }
        std::string text = source_.substr(place_, end - place_);
        std::erase(text, '_');
        put(real ? TokenKind::real : TokenKind::whole, std::move(text));
        advance_to(end);
    }

    void cut_string(char quote) {
        std::size_t end = place_ + 1;
        while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
        if (end >= source_.size())
            fail(line_, message("expected {tag} at the end", {{"tag", std::string_view(&quote, 1)}}));
        put(TokenKind::string, unescaped(std::string_view(source_).substr(place_ + 1, end - place_ - 1)));
        advance_to(end + 1);
    }

    std::string source_;
    std::vector<Token> tokens_;
    std::size_t place_ = 0;
    int line_ = 1;
    bool at_line_start_ = false;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view source) { return Cutter(source).cut(); }

}  // namespace decoderscope::chat

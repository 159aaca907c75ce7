#include "engine/tokenizer/regular_expression.h"

#include "engine/base/error.h"
#include "engine/tokenizer/unicode.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <new>

namespace decoderscope::tokenizer {

namespace {

struct FreeCompiled {
    void operator()(pcre2_code* code) const { pcre2_code_free(code); }
    void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};
using Code = std::unique_ptr<pcre2_code, FreeCompiled>;
using Match = std::unique_ptr<pcre2_match_data, FreeCompiled>;

PCRE2_SPTR code_units(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

std::string reason(int error) {
    std::array<PCRE2_UCHAR, 256> text{};
    pcre2_get_error_message(error, text.data(), text.size());
    return reinterpret_cast<const char*>(text.data());
}

}  // namespace

struct RegularExpression::Compiled {
    Code code;
};

RegularExpression::RegularExpression(const std::string& pattern) {
    int error = 0;
    PCRE2_SIZE at = 0;
    Code code(pcre2_compile(code_units(pattern), pattern.size(), PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C,
                            &error, &at, nullptr));
    if (!code)
        throw Error("\"{pattern}\" can't be used: {reason}",
                    {{"pattern", pattern.substr(0, 200)}, {"reason", reason(error)}});
    std::uint32_t matches_empty = 0;
    pcre2_pattern_info(code.get(), PCRE2_INFO_MATCHEMPTY, &matches_empty);
    if (matches_empty != 0)
        throw Error("\"{pattern}\" can match nothing, expected at least one character",
                    {{"pattern", pattern.substr(0, 200)}});
    compiled_ = std::make_shared<const Compiled>(Compiled{std::move(code)});
}

std::vector<Span> RegularExpression::matches(std::string_view text) const {
    const Match match(pcre2_match_data_create_from_pattern(compiled_->code.get(), nullptr));
    if (!match) throw std::bad_alloc();
    std::vector<Span> spans;
    for (std::size_t at = 0; at < text.size();) {
        const int found = pcre2_match(compiled_->code.get(), code_units(text), text.size(), at, PCRE2_NO_UTF_CHECK,
                                      match.get(), nullptr);
        if (found == PCRE2_ERROR_NOMATCH) break;
        const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(match.get());
        if (found < 0 || ends[1] <= ends[0])
            throw Error("the text can't be cut into words from byte {at} on", {{"at", at}});
        spans.push_back({ends[0], ends[1]});
        at = ends[1];
    }
    return spans;
}

}  // namespace decoderscope::tokenizer

namespace decoderscope::tokenizer {

namespace {

constexpr std::string_view kWordCharacters = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";

constexpr std::array<std::string_view, 37> kCategories = {
    "L",  "Lu", "Ll", "Lt", "Lm", "Lo", "M",  "Mn", "Mc", "Me", "N",  "Nd", "Nl", "No", "P",  "Pc", "Pd", "Ps", "Pe",
    "Pi", "Pf", "Po", "S",  "Sm", "Sc", "Sk", "So", "Z",  "Zs", "Zl", "Zp", "C",  "Cc", "Cf", "Cn", "Co", "Cs"};

// Classes within classes.
constexpr int kDeepestClass = 16;

bool is_letter_or_digit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// Reads the pattern once from left to right and rewrites each part.
class Translation {
public:
    explicit Translation(std::string_view pattern) : rest_(pattern) {}

    std::string operator()() {
        while (!rest_.empty()) {
            const char first = rest_.front();
            if (first == '\\') {
                escape(false);
            } else if (first == '[') {
                characters(0);
            } else if (first == '(') {
                group();
            } else if (first == '{') {
                repetition();
            } else if (first == '.' || first == '$') {
                written_ += first == '.' ? R"([^\n])" : R"((?=\n|\z))";
                skip(1);
            } else if (first == '^') {
                refuse(1);
            } else {
                literal();
            }
        }
        return std::move(written_);
    }

private:
    [[noreturn]] void refuse(std::size_t length) const {
        throw Error("\"{part}\" in a regular expression is unknown here", {{"part", rest_.substr(0, length)}});
    }
    void skip(std::size_t length) { rest_.remove_prefix(length); }
    void copy(std::size_t length) {
        written_ += rest_.substr(0, length);
        skip(length);
    }
    void literal() { copy(first_code_point(rest_).bytes); }

    void group() {
        for (const std::string_view kind : {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:"})
            if (rest_.starts_with(kind)) return copy(kind.size());
        if (rest_.starts_with("(?") || rest_.starts_with("(*")) refuse(4);
        skip(1);
        written_ += "(?:";
    }

    // {n}, {n,}, {n,m} or {,m}; other braces are themselves.
    void repetition() {
        const std::size_t end = rest_.find('}');
        const std::string_view inner = rest_.substr(1, end == std::string_view::npos ? 0 : end - 1);
        const std::size_t comma = std::min(inner.find(','), inner.size());
        const std::string_view least = inner.substr(0, comma);
        const std::string_view most = inner.substr(std::min(comma + 1, inner.size()));
        const auto digits = [](std::string_view text) {
            return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
        };
        if (!digits(least) || !digits(most) || (least.empty() && most.empty())) {
            written_ += R"(\{)";
            return skip(1);
        }
        const std::string_view behind = rest_.substr(end + 1, 1);
        if (behind == "+" || behind == "?" || behind == "*")
            refuse(end + 2);  // repeats the repetition, in Ruby's syntax
        written_ += "{" + (least.empty() ? "0" : std::string(least)) + std::string(inner.substr(comma)) + "}";
        skip(end + 1);
    }

    // The inner class of [a[bc]] is part of the outer one.
    void characters(int depth) {
        const bool inner = depth > 0;
        const bool negated = rest_.starts_with("[^");
        if (rest_.starts_with("[:") || rest_.starts_with("[]") || rest_.starts_with("[^]") || (inner && negated) ||
            depth > kDeepestClass)
            refuse(4);
        skip(negated ? 2 : 1);
        if (!inner) written_ += negated ? "[^" : "[";
        while (!rest_.starts_with(']')) {
            if (rest_.empty() || rest_.starts_with("&&") || rest_.starts_with("-[")) refuse(4);
            if (rest_.front() == '\\') {
                escape(true);
            } else if (rest_.front() == '[') {
                characters(depth + 1);
            } else {
                literal();
            }
        }
        skip(1);
        if (!inner) {
            written_ += ']';
        } else if (rest_.starts_with('-')) {
            written_ += R"(\-)";
            skip(1);
        }
    }

    void escape(bool in_class) {
        if (rest_.size() < 2) refuse(2);
        const char kind = rest_[1];
        if (!is_letter_or_digit(kind)) {
            if (static_cast<unsigned char>(kind) < 0x80) return copy(2);
            skip(1);
            return literal();
        }
        const auto write = [&](std::string_view text) {
            written_ += text;
            skip(2);
        };
        if (std::string_view("rntfae").find(kind) != std::string_view::npos) return copy(2);
        if ((kind == 'z' || kind == 'A') && !in_class) return copy(2);
        if (kind == 'v') return write(R"(\x0B)");
        if (kind == 's' || kind == 'S') return write(kind == 's' ? R"(\p{White_Space})" : R"(\P{White_Space})");
        if (kind == 'd' || kind == 'D') return write(kind == 'd' ? R"(\p{Nd})" : R"(\P{Nd})");
        if (kind == 'w' && in_class) return write(kWordCharacters);
        if (kind == 'w' || (kind == 'W' && !in_class))
            return write((kind == 'w' ? "[" : "[^") + std::string(kWordCharacters) + "]");
        if (kind == 'p' || kind == 'P') return property();
        if (kind == 'u') return code_point(rest_.substr(2, 4), 6, 0x10FFFF);
        if (kind == 'x') return hexadecimal();
        refuse(2);
    }

    void property() {
        const std::size_t end = rest_.find('}');
        if (rest_.size() < 3 || rest_[2] != '{' || end == std::string_view::npos) refuse(3);
        std::string_view name = rest_.substr(3, end - 3);
        bool negated = rest_[1] == 'P';
        if (name.starts_with('^')) {
            negated = !negated;
            name.remove_prefix(1);
        }
        if (name.empty() ||
            !std::all_of(name.begin(), name.end(), [](char c) { return is_letter_or_digit(c) || c == '_'; }))
            refuse(end + 1);
        const bool category = std::find(kCategories.begin(), kCategories.end(), name) != kCategories.end();
        written_ += std::string(negated ? R"(\P{)" : R"(\p{)") + (category ? "" : "sc:") + std::string(name) + "}";
        skip(end + 1);
    }

    void hexadecimal() {
        if (!rest_.substr(2).starts_with('{')) return code_point(rest_.substr(2, 2), 4, 0x7F);  // otherwise a raw byte
        const std::size_t end = rest_.find('}');
        if (end == std::string_view::npos) refuse(3);
        code_point(rest_.substr(3, end - 3), end + 1, 0x10FFFF);
    }

    void code_point(std::string_view digits, std::size_t length, std::uint32_t highest) {
        std::uint32_t code = 0;
        const auto [behind, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
        if (digits.empty() || length > rest_.size() || failed != std::errc() ||
            behind != digits.data() + digits.size() || code > highest)
            refuse(length);
        written_ += R"(\x{)" + std::string(digits) + "}";
        skip(length);
    }

    std::string_view rest_;
    std::string written_;
};

}  // namespace

std::string pcre2_pattern(std::string_view oniguruma) { return Translation(oniguruma)(); }

TextPattern TextPattern::read(JsonObject json) {
    if (json.find("String") != nullptr) {
        std::string text = json.text("String");
        if (text.empty()) json.fail("String", message("empty, expected a text to search for"));
        json.finish();
        return TextPattern(std::move(text));
    }
    const std::string expression = json.text("Regex");
    json.finish();
    return naming(json.where() + "Regex", [&] { return TextPattern(RegularExpression(pcre2_pattern(expression))); });
}

std::vector<Span> TextPattern::matches(std::string_view text) const {
    if (const auto* expression = std::get_if<RegularExpression>(&pattern_)) return expression->matches(text);
    const auto& wanted = std::get<std::string>(pattern_);
    std::vector<Span> spans;
    for (std::size_t at = text.find(wanted); at != std::string_view::npos; at = text.find(wanted, at + wanted.size()))
        spans.push_back({at, at + wanted.size()});
    return spans;
}

}  // namespace decoderscope::tokenizer

#include "engine/formulas/tokens.h"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace decoderscope::formulas {
namespace {

struct Alias {
    std::string_view written, word;
};
// What stands for another word, or for itself; the longer ones first.
constexpr std::array kSymbols{
    Alias{"...", "…"}, Alias{"**", "^"},  Alias{"<<", "<<"}, Alias{">>", ">>"},  Alias{"ᵀ", "ᵀ"},   Alias{"//", "div"},
    Alias{"<=", "≤"},  Alias{">=", "≥"},  Alias{"!=", "≠"},  Alias{"==", "="},   Alias{"·", "·"},   Alias{"×", "·"},
    Alias{"*", "·"},   Alias{"−", "−"},   Alias{"-", "−"},   Alias{"÷", "/"},    Alias{"≤", "≤"},   Alias{"≥", "≥"},
    Alias{"≠", "≠"},   Alias{"∧", "and"}, Alias{"∨", "or"},  Alias{"¬", "not"},  Alias{"√", "√"},   Alias{"…", "…"},
    Alias{"²", "²"},   Alias{"³", "³"},   Alias{"⁴", "⁴"},   Alias{"+", "+"},    Alias{"/", "/"},   Alias{"^", "^"},
    Alias{"(", "("},   Alias{")", ")"},   Alias{"[", "["},   Alias{"]", "]"},    Alias{"{", "{"},   Alias{"}", "}"},
    Alias{",", ","},   Alias{";", ";"},   Alias{":", ":"},   Alias{"?", "?"},    Alias{"=", "="},   Alias{"<", "<"},
    Alias{">", ">"},   Alias{".", "."},   Alias{"@", "@"},   Alias{"&&", "and"}, Alias{"||", "or"}, Alias{"!", "not"},
    Alias{"&", "&"},   Alias{"|", "|"},   Alias{"~", "~"},   Alias{"//", "div"}, Alias{"%", "mod"}, Alias{"⊙", "·"},
    Alias{"⌊", "⌊"},   Alias{"⌋", "⌋"},   Alias{"⌈", "⌈"},   Alias{"⌉", "⌉"},    Alias{"‖", "‖"},   Alias{"–", "−"},
    Alias{"⋅", "·"},   Alias{"∗", "·"},   Alias{"∘", "·"},   Alias{"∥", "‖"},    Alias{"#", "#"},   Alias{"⟨", "⟨"},
    Alias{"⟩", "⟩"}};
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
bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }
// Whether a whole character stands there that can be printed.
bool is_text(std::string_view rest) {
    const auto first = static_cast<unsigned char>(rest[0]);
    const std::string_view more = rest.substr(1, length_of(rest[0]) - 1);
    return first >= 0x20 && first != 0x7f && (first < 0x80 || (first >= 0xc2 && first < 0xf5)) &&
           more.size() + 1 == length_of(rest[0]) && std::ranges::all_of(more, continues);
}

class Lexer {
public:
    Lexer(std::string_view text, const IsName& is_name, std::size_t at = 0) : text_(text), is_name_(is_name), at_(at) {}

    [[nodiscard]] std::vector<Token> tokens() {
        std::vector<Token> all;
        while (skip_spaces(), at_ < text_.size()) all.push_back(next());
        all.push_back({Kind::end, "", text_.size(), text_.size()});
        return all;
    }

private:
    void skip_spaces() {
        while (at_ < text_.size() && std::string_view(" \n\t#").find(text_[at_]) != std::string_view::npos &&
               !begins("#{"))                                                                   // #{k : x[k] > 0}
            at_ = text_[at_] == '#' ? std::min(text_.find('\n', at_), text_.size()) : at_ + 1;  // Python's remarks
    }

    Token next() {
        if (is_digit(text_[at_]) || (text_[at_] == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1])))
            return decimal();
        if (begins("∞")) return ready(Kind::number, "∞", std::numeric_limits<double>::infinity());
        if (begins("½")) return ready(Kind::number, "½", 0.5);
        if (begins("𝟙")) return ready(Kind::number, "𝟙", 1.0);  // 𝟙[x > 0]
        if (begins("\"") || begins("'")) return quoted();
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

    Token quoted() {
        const std::size_t begin = at_, close = text_.find(text_[at_], at_ + 1);
        if (close == std::string_view::npos)
            throw FormulaError(message("“{word}” is missing at the end", {{"word", text_.substr(at_, 1)}}), at_);
        const std::string_view inside = text_.substr(begin + 1, close - begin - 1);
        for (at_ = begin + 1; at_ < close; at_ += length_of(text_[at_]))
            if (text_[at_] != '\n' && text_[at_] != '\t') check_character();
        at_ = close + 1;
        return {Kind::quoted, std::string(inside), begin, at_};
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
            check_character();
            const std::string_view character = text_.substr(at_, length_of(text_[at_]));
            throw FormulaError(message("“{text}” is no part of a formula", {{"text", character}}), at_);
        }
        if (std::optional<Token> step = step_in_list(end)) return *step;
        end = end_with_dots(end);
        if (end - at_ > limits::kNameBytes)
            throw FormulaError(message("a name has at most {count} bytes", {{"count", limits::kNameBytes}}), at_);
        Token token = ready(Kind::name, text_.substr(at_, end - at_));
        if (token.word == "inf")
            return {Kind::number, "∞", token.begin, token.end, std::numeric_limits<double>::infinity()};
        for (const auto& [written, word] : {Alias{"π", "pi"}, Alias{"log₂", "log2"}, Alias{"log₁₀", "log10"}})
            if (token.word == written) token.word = word;
        for (const Alias& word : kWords)
            if (token.word == word.written) return {Kind::symbol, std::string(word.word), token.begin, token.end};
        return token;
    }

    // Where the name ends that begins here, with the parts behind dots that belong to it.
    [[nodiscard]] std::size_t end_with_dots(std::size_t end) const {
        std::size_t best = end;
        while (end + 1 < text_.size() && text_[end] == '.' && (is_letter(text_[end + 1]) || is_digit(text_[end + 1]))) {
            for (++end; end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]));) ++end;
            if (is_name_(text_.substr(at_, end - at_))) best = end;
        }
        return best;
    }

    // blocks[0].attn.pattern, as of a list of modules.
    [[nodiscard]] std::optional<Token> step_in_list(std::size_t end) {
        std::size_t close = end + 1;
        while (close < text_.size() && is_digit(text_[close])) ++close;
        if (!text_.substr(std::min(end, text_.size())).starts_with("[") || close == end + 1 ||
            !text_.substr(std::min(close, text_.size())).starts_with("]."))
            return std::nullopt;
        std::string dotted(text_);
        dotted[end] = '.';
        dotted.erase(close, 1);
        const std::size_t last = Lexer(dotted, is_name_, at_).end_with_dots(end);
        if (last < close) return std::nullopt;
        Token token = ready(Kind::name, text_.substr(at_, last + 1 - at_));
        token.word = dotted.substr(token.begin, last - token.begin);
        return token;
    }

    void check_character() const {
        if (!is_text(text_.substr(at_)))
            throw FormulaError(message("the formula has a character here that can't be shown"), at_);
    }

    // A character beyond ASCII that is no symbol: α, Σ.
    [[nodiscard]] bool is_other_letter(std::size_t at) const {
        const std::string_view rest = text_.substr(at);
        return static_cast<unsigned char>(rest[0]) >= 0x80 && is_text(rest) && !rest.starts_with("∞") &&
               !rest.starts_with("½") &&
               std::ranges::none_of(kSymbols, [&](const Alias& s) { return rest.starts_with(s.written); });
    }

    std::string_view text_;
    const IsName& is_name_;
    std::size_t at_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text, const IsName& is_name) {
    if (text.size() > limits::kFormulaBytes)
        throw FormulaError(
            message("the formula is too long: more than {count} bytes", {{"count", limits::kFormulaBytes}}), kNowhere);
    return Lexer(text, is_name).tokens();
}

std::pair<std::string_view, std::string_view> parted(std::string_view word) {
    const std::size_t bar = word.rfind('_');
    if (bar == std::string_view::npos || bar == 0) return {word, ""};
    return {word.substr(0, bar), word.substr(bar + 1)};
}

std::size_t letters_in(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return !continues(c); }));
}

bool TokenReader::take(std::string_view word) {
    if (!is(word)) return false;
    ++at_;
    return true;
}

void TokenReader::need(std::string_view word) {
    if (take(word)) return;
    if (here().kind == Kind::end) fail(message("“{word}” is missing at the end", {{"word", word}}));
    fail(message("“{word}” is missing before “{next}”", {{"word", word}, {"next", here().word}}));
}

const Token& TokenReader::need_name() {
    if (here().kind == Kind::end) fail(message("a name is missing at the end"));
    if (here().kind != Kind::name) fail(message("a name is missing before “{next}”", {{"next", here().word}}));
    return tokens_[at_++];
}

void TokenReader::fail_without_operand() const {
    if (here().kind == Kind::end) fail(message("a number or a name is missing at the end"));
    fail(message("a number or a name is missing before “{next}”", {{"next", here().word}}));
}

void TokenReader::need_end() const {
    if (here().kind != Kind::end) fail(message("“{word}” doesn't continue the formula", {{"word", here().word}}));
}

}  // namespace decoderscope::formulas

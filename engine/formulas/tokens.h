#pragma once

#include "engine/base/limits.h"
#include "engine/formulas/formula.h"

#include <string_view>

// What the text of a formula is made of, and a place in it: for the readers of both notations.
namespace decoderscope::formulas {

enum class Kind : std::uint8_t { number, name, symbol, quoted, end };

struct Token {
    Kind kind;
    std::string word;  // one spelling for all that mean the same; what stands between quotes
    std::size_t begin, end;
    double value = 0.0;
};

// Whether a name with dots, "base.pattern", is one name, and not what follows the dot a method's.
using IsName = std::function<bool(std::string_view)>;
// The last one is the end. Throws FormulaError if the text is too long, or at a character that no formula has.
[[nodiscard]] std::vector<Token> tokens_of(std::string_view text, const IsName& is_name);
// "max_j" as "max" and "j"; a word without "_" as itself and "".
[[nodiscard]] std::pair<std::string_view, std::string_view> parted(std::string_view word);
// The number of characters.
[[nodiscard]] std::size_t letters_in(std::string_view text);

// A place among tokens, with what a reader asks there.
class TokenReader {
protected:
    explicit TokenReader(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

    [[nodiscard]] const Token& here() const { return tokens_[at_]; }
    [[nodiscard]] bool is(std::string_view word) const { return here().kind == Kind::symbol && here().word == word; }
    bool take(std::string_view word);
    // A name, which Python has as a word: "if".
    [[nodiscard]] bool is_word(std::string_view word) const { return here().kind == Kind::name && here().word == word; }
    bool take_word(std::string_view word) { return is_word(word) && ++at_ > 0; }
    void need(std::string_view word);
    // Between two of a list: a comma, which is taken, or the list's end, which isn't.
    void need_comma_or(std::string_view close) {
        if (!is(close) && !take(",")) need(here().kind == Kind::end ? close : ",");
    }
    const Token& need_name();
    [[noreturn]] void fail(Sentence sentence) const { throw FormulaError(std::move(sentence), here().begin); }
    // Where a number or a name should be.
    [[noreturn]] void fail_without_operand() const;
    void need_end() const;
    [[noreturn]] void fail_too_deep() const {
        fail(message("more than {count} levels inside each other", {{"count", limits::kFormulaDepth}}));
    }

    template <class T, class One>
    std::vector<T> listed(const One& one, std::string_view close) {
        std::vector<T> all;
        while (!take(close)) {
            all.push_back(one());
            need_comma_or(close);
        }
        return all;
    }

    // Counts the levels that one expression is inside others.
    struct Nesting {
        explicit Nesting(TokenReader& in) : reader(in) {
            // Four levels of the grammar for a pair of parentheses.
            if (++reader.depth_ > 4 * limits::kFormulaDepth) reader.fail_too_deep();
        }
        ~Nesting() { --reader.depth_; }
        Nesting(const Nesting&) = delete;
        Nesting& operator=(const Nesting&) = delete;
        TokenReader& reader;
    };

    std::vector<Token> tokens_;
    std::size_t at_ = 0;

private:
    std::size_t depth_ = 0;
};

}  // namespace decoderscope::formulas

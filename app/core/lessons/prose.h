#pragma once

#include "app/core/lessons/evaluate.h"
#include "app/core/lessons/expression.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

// The texts of a lesson: CommonMark, with numbers of the run in them.
namespace decoderscope::core::lessons {

// A number in a text: {= EXPRESSION | FORMAT}. With the format "holds", a claim: what has to be true of the run for
// what is said before it; nothing is shown unless it is false.
struct Formula {
    std::string source;  // as it is written
    ExpressionRef expression;
    Format format;
    int line = 0;
};

// A piece of a text: words, or a number.
struct Span {
    enum class Style { plain, emphasis, strong, code };
    Style style = Style::plain;
    std::string text;
    std::string link;                        // the address it leads to; empty: none
    std::shared_ptr<const Formula> formula;  // nullptr: words
};
using Prose = std::vector<Span>;

struct Paragraph {
    enum class Kind { text, heading, bullet, numbered, quote, code };
    Kind kind = Kind::text;
    int level = 0;  // of a heading, from 1; of an item, how deep its list is, from 0
    int number = 0;
    Prose prose;
    int line = 0;
};

// A text with its formulas taken out, each replaced by one character of Unicode's private area, so that Markdown
// doesn't read their signs.
class FormulaTable {
public:
    // Throws Error with the line of a formula that can't be read; with `mistakes`, gathers all of them.
    [[nodiscard]] std::string taken_out(std::string_view text, const std::string& path,
                                        std::vector<Sentence>* mistakes = nullptr);
    // The formula of a character; nullptr for any other.
    [[nodiscard]] std::shared_ptr<const Formula> find(char32_t character) const;

private:
    std::vector<std::shared_ptr<const Formula>> formulas_;
};

// One piece of Markdown between blocks: paragraphs, or the contents of a fenced block.
struct MarkdownBlock {
    std::vector<Paragraph> paragraphs;
    std::string info;      // the fenced block's kind; empty: paragraphs
    std::string contents;  // of the fenced block
    int line = 0;          // of the block's first line
};
// Throws Error with the path and the line of what a lesson can't have: HTML, an image.
[[nodiscard]] std::vector<MarkdownBlock> read_markdown(const std::string& text, const FormulaTable& formulas,
                                                       const std::string& path);
// One paragraph's text.
[[nodiscard]] Prose read_prose(const std::string& text, const FormulaTable& formulas);

// A piece of text with its numbers computed. A number that the run doesn't have is "…". A claim that holds is left out;
// of one that doesn't, a remark says so.
struct ShownSpan {
    Span::Style style = Span::Style::plain;
    std::string text;
    std::string link;
    bool is_number = false;
    bool is_remark = false;  // that a claim doesn't hold
    bool operator==(const ShownSpan&) const = default;
};
using Shown = std::vector<ShownSpan>;
[[nodiscard]] Shown shown(const Prose& prose, const Scope& scope);
// As above, without styles.
[[nodiscard]] std::string plain_text(const Shown& shown);
// The text without computing anything, its formulas as they are written: to compare translations, to name things.
[[nodiscard]] std::string plain_text(const Prose& prose);

// Throws Error with the line of the first formula that can't be computed, or claim that doesn't hold.
void check_formulas(const Prose& prose, const Scope& scope, const std::string& path);

}  // namespace decoderscope::core::lessons

#include "app/core/lessons/prose.h"

#include "app/core/text/text_layout.h"
#include "engine/base/depth.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"

#include <cmark.h>

#include <algorithm>

namespace decoderscope::core::lessons {

namespace {

constexpr char32_t kFirstPrivate = 0xE000, kLastPrivate = 0xF8FF;

std::string utf8_of(char32_t c) {  // of the private area: three bytes
    return {static_cast<char>(0xE0 | (c >> 12)), static_cast<char>(0x80 | ((c >> 6) & 0x3F)),
            static_cast<char>(0x80 | (c & 0x3F))};
}

std::string place(const std::string& path, int line) { return path + ":" + std::to_string(line); }

// A value of a block has no file of its own: the reader of the block names the line.
[[noreturn]] void refuse_at(const std::string& path, int line, const Sentence& why) {
    if (path.empty()) throw Error(why);
    throw Error("{where}: {error}", {{"where", place(path, line)}, {"error", why}});
}

Formula formula_of(std::string_view inside, int line) {
    const auto bar = inside.rfind('|');
    Formula formula{.source = std::string(inside), .line = line};
    if (bar != std::string_view::npos) formula.format = parse_format(inside.substr(bar + 1));
    formula.expression = parse_expression(inside.substr(0, bar));
    return formula;
}

// A claim without its format.
std::string without_format(const std::string& source) {
    const std::size_t begin = source.find_first_not_of(' '), end = source.find_last_not_of(' ', source.rfind('|') - 1);
    return source.substr(begin, end + 1 - begin);
}

constexpr Phrase kNoImages = message("an image; expected words: the program is the picture");

struct FreeNode {
    void operator()(cmark_node* node) const { cmark_node_free(node); }
};
using Document = std::unique_ptr<cmark_node, FreeNode>;
struct FreeWalk {
    void operator()(cmark_iter* walk) const { cmark_iter_free(walk); }
};

// cmark itself doesn't recurse, but the readers below do.
void check_depth_of(cmark_node* document, const std::string& path) {
    const std::unique_ptr<cmark_iter, FreeWalk> walk(cmark_iter_new(document));
    int depth = 0;
    for (cmark_event_type event = cmark_iter_next(walk.get()); event != CMARK_EVENT_DONE;
         event = cmark_iter_next(walk.get())) {
        cmark_node* node = cmark_iter_get_node(walk.get());
        if (cmark_node_first_child(node) == nullptr) continue;
        depth += event == CMARK_EVENT_ENTER ? 1 : -1;
        try {
            check_depth(depth);
        } catch (const Error& error) {
            refuse_at(path, cmark_node_get_start_line(node), error.sentence());
        }
    }
}

Document parsed(const std::string& text, const std::string& path) {
    // cmark takes the square of their number to find that these are no images, which a lesson has none of anyway.
    constexpr std::size_t kMostImages = 1000;
    std::size_t images = 0;
    for (std::size_t at = text.find("!["); at != std::string::npos; at = text.find("![", at + 1)) ++images;
    if (images > kMostImages) refuse_at(path, 1, Sentence(kNoImages));
    Document document(cmark_parse_document(text.data(), text.size(), CMARK_OPT_DEFAULT));
    check_depth_of(document.get(), path);
    return document;
}

std::string literal_of(cmark_node* node) {
    const char* text = cmark_node_get_literal(node);
    return text == nullptr ? "" : text;
}

// The first words of a node; empty if there are none.
std::string first_words(cmark_node* node) {
    for (; node != nullptr; node = cmark_node_first_child(node))
        if (std::string text = literal_of(node); !text.empty()) return text;
    return {};
}

// Collects the inline contents of one block.
class InlineReader {
public:
    InlineReader(const FormulaTable& formulas, const std::string& path) : formulas_(formulas), path_(path) {}

    Prose read(cmark_node* block) {
        line_ = cmark_node_get_start_line(block);
        children(block, Span::Style::plain, "");
        return std::move(prose_);
    }

private:
    void children(cmark_node* parent, Span::Style style, const std::string& link) {
        for (cmark_node* node = cmark_node_first_child(parent); node != nullptr; node = cmark_node_next(node))
            one(node, style, link);
    }

    void one(cmark_node* node, Span::Style style, const std::string& link) {
        switch (cmark_node_get_type(node)) {
            case CMARK_NODE_TEXT:
                return add(literal_of(node), style, link);
            case CMARK_NODE_CODE:
                return add(literal_of(node), Span::Style::code, link);
            case CMARK_NODE_SOFTBREAK:
                return add(std::string(between_lines(last_words(), first_words(cmark_node_next(node)))), style, link);
            case CMARK_NODE_LINEBREAK:
                return add("\n", style, link);
            case CMARK_NODE_EMPH:
                return children(node, Span::Style::emphasis, link);
            case CMARK_NODE_STRONG:
                return children(node, Span::Style::strong, link);
            case CMARK_NODE_LINK:
                return children(node, style, cmark_node_get_url(node));
            case CMARK_NODE_IMAGE:
                refuse(Sentence(kNoImages));
            default:
                refuse(message("HTML; expected Markdown"));
        }
    }

    [[nodiscard]] std::string_view last_words() const {
        return prose_.empty() ? std::string_view() : prose_.back().text;
    }

    [[noreturn]] void refuse(const Sentence& why) const { refuse_at(path_, line_, why); }

    // Words, cut where a formula stands between them.
    void add(const std::string& text, Span::Style style, const std::string& link) {
        std::string words;
        const auto finish = [&] {
            if (words.empty()) return;
            if (!prose_.empty() && !prose_.back().formula && prose_.back().style == style && prose_.back().link == link)
                prose_.back().text += words;
            else
                prose_.push_back({style, words, link, nullptr});
            words.clear();
        };
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = next_character(text, at);
            if (end - at == 3) {
                const auto byte = [&](std::size_t i) {
                    return static_cast<char32_t>(static_cast<unsigned char>(text[at + i]));
                };
                const char32_t c = ((byte(0) & 0x0F) << 12) | ((byte(1) & 0x3F) << 6) | (byte(2) & 0x3F);
                if (auto formula = formulas_.find(c)) {
                    finish();
                    prose_.push_back({style, "", link, std::move(formula)});
                    at = end;
                    continue;
                }
            }
            words.append(text, at, end - at);
            at = end;
        }
        finish();
    }

    static std::size_t next_character(const std::string& text, std::size_t at) {
        ++at;
        while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
        return at;
    }

    const FormulaTable& formulas_;
    const std::string& path_;
    Prose prose_;
    int line_ = 0;
};

// Collects the blocks of a document.
class BlockReader {
public:
    BlockReader(const FormulaTable& formulas, const std::string& path) : formulas_(formulas), path_(path) {}

    std::vector<MarkdownBlock> read(cmark_node* document) {
        for (cmark_node* node = cmark_node_first_child(document); node != nullptr; node = cmark_node_next(node))
            block(node, Paragraph::Kind::text, 0, 0);
        return std::move(blocks_);
    }

private:
    void block(cmark_node* node, Paragraph::Kind kind, int level, int number) {
        const int line = cmark_node_get_start_line(node);
        switch (cmark_node_get_type(node)) {
            case CMARK_NODE_PARAGRAPH:
                return add({kind, level, number, InlineReader(formulas_, path_).read(node), line});
            case CMARK_NODE_HEADING:
                return add({Paragraph::Kind::heading, cmark_node_get_heading_level(node), 0,
                            InlineReader(formulas_, path_).read(node), line});
            case CMARK_NODE_BLOCK_QUOTE:
                return inside(node, Paragraph::Kind::quote, level);
            case CMARK_NODE_LIST:
                return list(node, level);
            case CMARK_NODE_CODE_BLOCK: {
                const char* info = cmark_node_get_fence_info(node);
                if (info == nullptr || *info == '\0')
                    return add(
                        {Paragraph::Kind::code, level, 0, {{Span::Style::code, literal_of(node), "", nullptr}}, line});
                blocks_.push_back({{}, info, literal_of(node), line});
                return;
            }
            case CMARK_NODE_THEMATIC_BREAK:
                return;
            default:
                throw Error("{place}: HTML; expected Markdown", {{"place", place(path_, line)}});
        }
    }

    void list(cmark_node* node, int level) {
        const bool ordered = cmark_node_get_list_type(node) == CMARK_ORDERED_LIST;
        int number = ordered ? cmark_node_get_list_start(node) : 0;
        for (cmark_node* item = cmark_node_first_child(node); item != nullptr; item = cmark_node_next(item), ++number)
            for (cmark_node* part = cmark_node_first_child(item); part != nullptr; part = cmark_node_next(part)) {
                const bool nested = cmark_node_get_type(part) == CMARK_NODE_LIST;
                block(part, ordered ? Paragraph::Kind::numbered : Paragraph::Kind::bullet, nested ? level + 1 : level,
                      number);
            }
    }

    void inside(cmark_node* node, Paragraph::Kind kind, int level) {
        for (cmark_node* part = cmark_node_first_child(node); part != nullptr; part = cmark_node_next(part))
            block(part, kind, level, 0);
    }

    void add(Paragraph paragraph) {
        if (blocks_.empty() || !blocks_.back().info.empty()) blocks_.push_back({{}, "", "", paragraph.line});
        blocks_.back().paragraphs.push_back(std::move(paragraph));
    }

    const FormulaTable& formulas_;
    const std::string& path_;
    std::vector<MarkdownBlock> blocks_;
};

}  // namespace

std::string FormulaTable::taken_out(std::string_view text, const std::string& path, std::vector<Sentence>* mistakes) {
    std::string rest;
    int line = 1;
    for (std::size_t at = 0; at < text.size();) {
        if (!text.substr(at).starts_with("{=")) {
            if (text[at] == '\n') ++line;
            rest += text[at++];
            continue;
        }
        const std::size_t line_end = text.find('\n', at);
        const std::string_view rest_of_line = text.substr(0, line_end);
        const std::size_t end = rest_of_line.find('}', at);
        const auto take = [&] {
            if (end == std::string_view::npos || rest_of_line.find("{=", at + 2) < end)
                throw Error("a number begins with {open} and has no end; expected {close} in the same line",
                            {{"open", "{="}, {"close", "}"}});
            if (std::ranges::count(text.substr(at, end - at), '\'') % 2 == 1)
                throw Error("a number ends at the first {close}, here inside a text; expected a let for the text",
                            {{"close", "}"}});
            if (kFirstPrivate + formulas_.size() > kLastPrivate)
                throw Error("more numbers than a lesson can have; expected at most {most}",
                            {{"most", static_cast<Index>(kLastPrivate - kFirstPrivate) + 1}});
            formulas_.push_back(std::make_shared<const Formula>(formula_of(text.substr(at + 2, end - at - 2), line)));
        };
        try {
            naming(place(path, line), take);
        } catch (const Error& error) {
            if (mistakes == nullptr) throw;
            mistakes->push_back(error.sentence());
            at = std::min(line_end, text.size());
            continue;
        }
        rest += utf8_of(kFirstPrivate + static_cast<char32_t>(formulas_.size()) - 1);
        at = end + 1;
    }
    return rest;
}

std::shared_ptr<const Formula> FormulaTable::find(char32_t character) const {
    if (character < kFirstPrivate || character - kFirstPrivate >= formulas_.size()) return nullptr;
    return formulas_[character - kFirstPrivate];
}

std::vector<MarkdownBlock> read_markdown(const std::string& text, const FormulaTable& formulas,
                                         const std::string& path) {
    return BlockReader(formulas, path).read(parsed(text, path).get());
}

Prose read_prose(const std::string& text, const FormulaTable& formulas) {
    static const std::string no_path;
    // A space that begins no block: "6." alone would be a list, "# 1" a heading.
    constexpr std::string_view kNoBreakSpace = "\u00A0";
    const Document document = parsed(std::string(kNoBreakSpace) + text, no_path);
    cmark_node* paragraph = cmark_node_first_child(document.get());
    if (paragraph == nullptr || cmark_node_next(paragraph) != nullptr ||
        cmark_node_get_type(paragraph) != CMARK_NODE_PARAGRAPH)
        throw Error("\"{text}\": expected one paragraph of words", {{"text", text}});
    Prose prose = InlineReader(formulas, no_path).read(paragraph);
    std::string& first = prose.front().text;
    if (first.starts_with(kNoBreakSpace)) first.erase(0, kNoBreakSpace.size());
    if (first.empty() && !prose.front().formula) prose.erase(prose.begin());
    return prose;
}

Shown shown(const Prose& prose, const Scope& scope) {
    Shown all;
    for (const Span& span : prose) {
        if (span.formula && span.formula->format.kind == Format::Kind::claim) {
            // Of a run that doesn't have what the claim is about, nothing is known.
            if (!made_or(true, [&] { return holds(evaluate(*span.formula->expression, scope)); }))
                all.push_back(
                    {span.style, std::string(" ") + tr("(This was said of what the lesson opened.)"), "", false, true});
            continue;
        }
        ShownSpan out{span.style, span.text, span.link, span.formula != nullptr};
        if (span.formula)
            out.text = made_or<std::string>(
                "…", [&] { return shown_text(evaluate(*span.formula->expression, scope), span.formula->format); });
        all.push_back(std::move(out));
    }
    return all;
}

std::string plain_text(const Shown& shown) {
    std::string all;
    for (const ShownSpan& span : shown) all += span.text;
    return all;
}

std::string plain_text(const Prose& prose) {
    std::string all;
    for (const Span& span : prose) all += span.formula ? "{=" + span.formula->source + "}" : span.text;
    return all;
}

void check_formulas(const Prose& prose, const Scope& scope, const std::string& path) {
    for (const Span& span : prose)
        if (span.formula)
            naming(place(path, span.formula->line), [&] {
                const Value value = evaluate(*span.formula->expression, scope);
                if (span.formula->format.kind == Format::Kind::claim && !holds(value))
                    throw Error("\"{claim}\": this doesn't hold on the run; expected what is said before it to be true",
                                {{"claim", without_format(span.formula->source)}});
            });
}

}  // namespace decoderscope::core::lessons

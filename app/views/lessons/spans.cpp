#include "app/views/lessons/spans.h"

#include "app/views/widgets/imgui_compat.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope {

namespace {

using lessons::ShownSpan;
using lessons::Span;

// What stays on one line: a word, or one Chinese character.
struct Word {
    std::string text;
    ImFont* font = nullptr;
    ImU32 color = 0;
    bool spaced = false;  // a space stands before it
    bool breaks = false;  // a new line begins with it
    bool glued = false;   // nothing may come between it and the word before
    bool underlined = false;
};

std::size_t next_character(std::string_view text, std::size_t at) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) ++at;
    return at;
}

// Whether a line may be broken before and after it: Chinese is written without spaces. Such characters are three bytes
// long, from U+2E80 on.
bool breaks_anywhere(std::string_view character) {
    return character.size() == 3 && static_cast<unsigned char>(character[0]) >= 0xE2 &&
           (static_cast<unsigned char>(character[0]) > 0xE2 || static_cast<unsigned char>(character[1]) >= 0xBA);
}
// Punctuation that doesn't begin a line.
bool ends_line(std::string_view character) {
    for (const std::string_view known : {"，", "。", "；", "：", "？", "！", "、", "）", "」", "”", "》"})
        if (character == known) return true;
    return false;
}

ImFont* font_of(const Ui& ui, const ShownSpan& span) {
    if (span.style == Span::Style::code) return ui.fonts.mono_small;
    return span.is_number ? ui.fonts.mono : ui.fonts.text;
}

// The words of a text in order.
class Words {
public:
    Words(const Ui& ui, ImU32 color) : ui_(ui), color_(color) {}

    std::vector<Word> of(const lessons::Shown& text) {
        for (const ShownSpan& span : text) add(span);
        return std::move(words_);
    }

private:
    void add(const ShownSpan& span) {
        const bool stands_out = span.style == Span::Style::emphasis || span.style == Span::Style::strong;
        const Word like{.font = font_of(ui_, span),
                        .color = span.style == Span::Style::code || span.is_number ? ui_.theme.accent : color_,
                        .underlined = stands_out};
        bool continues = !space_;
        std::string word;
        const auto finish = [&](bool glued) {
            if (word.empty()) return;
            Word next = like;
            next.text = std::move(word);
            next.spaced = space_;
            next.breaks = break_;
            next.glued = glued && !space_ && !break_ && !words_.empty();
            words_.push_back(std::move(next));
            word.clear();
            space_ = break_ = false;
        };
        for (std::size_t at = 0; at < span.text.size();) {
            const std::size_t end = next_character(span.text, at);
            const std::string_view character = std::string_view(span.text).substr(at, end - at);
            at = end;
            if (character == " " || character == "\n") {
                finish(continues);
                continues = false;
                space_ = true;
                break_ = break_ || character == "\n";
            } else if (breaks_anywhere(character)) {
                finish(continues);
                word = character;
                finish(ends_line(character));
                continues = false;
            } else {
                word += character;
            }
        }
        finish(continues);
    }

    const Ui& ui_;
    ImU32 color_;
    std::vector<Word> words_;
    bool space_ = false, break_ = false;
};

}  // namespace

float draw_spans(const Ui& ui, const lessons::Shown& text, ImVec2 at, float width, ImU32 color, bool draws) {
    const std::vector<Word> words = Words(ui, color).of(text);
    const float pitch = compat::font_size(ui.fonts.text) + ui.px(6), space = compat::text_size(ui.fonts.text, " ").x;
    float x = 0.0F, y = 0.0F;
    const auto width_of = [](const Word& word) { return compat::text_size(word.font, word.text).x; };
    for (std::size_t i = 0; i < words.size(); ++i) {
        const Word& word = words[i];
        // What is glued behind it goes to the next line with it.
        float together = width_of(word);
        for (std::size_t next = i + 1; next < words.size() && words[next].glued; ++next)
            together += width_of(words[next]);
        if (word.spaced && x > 0.0F) x += space;
        if (word.breaks || (!word.glued && x > 0.0F && x + together > width)) {
            x = 0.0F;
            y += pitch;
        }
        const float down = (compat::font_size(ui.fonts.text) - compat::font_size(word.font)) * 0.75F;
        if (draws) {
            draw_text(ui, word.font, {at.x + x, at.y + y + down}, word.color, word.text);
            if (word.underlined) {
                const float line = at.y + y + compat::font_size(ui.fonts.text) + ui.px(1);
                ImGui::GetWindowDrawList()->AddLine({at.x + x, line}, {at.x + x + width_of(word), line},
                                                    with_alpha(color, 0.6F), ui.px(1));
            }
        }
        x += width_of(word);
    }
    return words.empty() ? 0.0F : y + pitch;
}

void spans_line(const Ui& ui, const lessons::Shown& text, ImU32 color, float indent) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x - indent - ui.px(6);
    const float height = draw_spans(ui, text, {at.x + indent, at.y}, width, color);
    ImGui::Dummy({width + indent, height});
}

}  // namespace decoderscope

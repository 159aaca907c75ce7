#include "app/views/lessons/lesson_page.h"

#include "app/core/text/text_layout.h"
#include "app/views/widgets/frame_document.h"
#include "app/views/widgets/imgui_compat.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace decoderscope::views::lesson_panel {

namespace {

using core::lessons::ShownSpan;
using core::lessons::Span;

// What stays on one line, or a part of it in one style.
struct Word {
    std::string text;
    ImFont* font = nullptr;
    ImU32 color = 0;
    bool spaced = false;  // a space comes before it
    bool breaks = false;  // a new line begins with it
    bool glued = false;   // nothing may come between it and the word before
    bool marked = false;
};

ImFont* font_of(const Ui& ui, const ShownSpan& span) {
    if (span.style == Span::Style::code) return ui.fonts.mono_small;
    return span.is_number ? ui.fonts.mono : ui.fonts.text;
}

Word word_of(const Ui& ui, const ShownSpan& span, ImU32 color) {
    return {.font = font_of(ui, span),
            .color = color,
            .marked = span.style == Span::Style::emphasis || span.style == Span::Style::strong};
}

// The words of a text in order. Where a line may end is decided on the whole text, whatever its styles.
std::vector<Word> words_of(const Ui& ui, const core::lessons::Shown& text, ImU32 color) {
    std::string all;
    std::vector<std::size_t> ends;  // of the spans, in bytes
    for (const ShownSpan& span : text) ends.push_back((all += span.text).size());
    std::vector<Word> words;
    std::size_t span = 0;
    for (const core::TextPiece& piece : core::pieces_of(all)) {
        for (std::size_t at = piece.begin, end = piece.begin + piece.size; at < end;) {
            while (ends[span] <= at) ++span;
            Word word = word_of(ui, text[span], color);
            word.text = all.substr(at, std::min(end, ends[span]) - at);
            word.glued = at != piece.begin;
            word.spaced = piece.spaced && !word.glued;
            word.breaks = piece.new_line && !word.glued;
            at += word.text.size();
            words.push_back(std::move(word));
        }
    }
    return words;
}

float sum(std::span<const float> widths) { return std::accumulate(widths.begin(), widths.end(), 0.0F); }

ColumnNeeds needs_of(const Ui& ui, const core::lessons::ShownTable& table, std::size_t column) {
    const std::string heading = core::lessons::plain_text(table.columns[column]);
    ColumnNeeds needs{.heading = std::ceil(compat::text_size(ui.fonts.caption, heading).x)};
    for (const core::TextPiece& piece : core::pieces_of(heading))
        needs.word = std::max(
            needs.word, std::ceil(compat::text_size(ui.fonts.caption, heading.substr(piece.begin, piece.size)).x));
    for (const auto& row : table.rows)
        if (column < row.size())
            needs.cells = std::max(needs.cells, std::ceil(compat::text_size(ui.fonts.mono_small, row[column]).x));
    return needs;
}

// The first column says what a row is.
DocumentTable in_document(const core::lessons::ShownTable& table) {
    DocumentTable said;
    said.title = core::lessons::plain_text(table.caption);
    for (std::size_t i = 1; i < table.columns.size(); ++i)
        said.columns.push_back(core::lessons::plain_text(table.columns[i]));
    if (!table.columns.empty()) said.row_axis = core::lessons::plain_text(table.columns.front());
    for (const auto& row : table.rows) {
        said.rows.push_back(row.empty() ? std::string() : row.front());
        for (std::size_t i = 1; i < table.columns.size(); ++i)
            said.cells.push_back(i < row.size() ? row[i] : std::string());
    }
    said.all_rows = static_cast<Index>(said.rows.size());
    said.all_columns = static_cast<Index>(said.columns.size());
    return said;
}

}  // namespace

float draw_spans(const Ui& ui, const core::lessons::Shown& text, ImVec2 at, float width, ImU32 color, bool draws) {
    const bool is_noted = draws && noting_document() != nullptr;
    const NotedWhole noted(ui.fonts.text, at, is_noted ? core::lessons::plain_text(text) : std::string());
    const std::vector<Word> words = words_of(ui, text, color);
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
            if (word.marked) {  // as by a highlighter: a line below it would look like a link
                const float top = at.y + y + compat::font_size(ui.fonts.text) * 0.55F;
                ImGui::GetWindowDrawList()->AddRectFilled(
                    {at.x + x, top},
                    {at.x + x + width_of(word), at.y + y + compat::font_size(ui.fonts.text) + ui.px(2)},
                    with_alpha(ui.theme.warning, 0.3F));
            }
            draw_text(ui, word.font, {at.x + x, at.y + y + down}, word.color, word.text);
        }
        x += width_of(word);
    }
    return words.empty() ? 0.0F : y + pitch;
}

void spans_line(const Ui& ui, const core::lessons::Shown& text, ImU32 color, float indent) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x - indent - ui.px(6);
    const float height = draw_spans(ui, text, {at.x + indent, at.y}, width, color);
    ImGui::Dummy({width + indent, height});
}

std::vector<float> column_widths(std::span<const ColumnNeeds> columns, float room) {
    std::vector<float> widths, wishes;
    for (const ColumnNeeds& column : columns) {
        widths.push_back(std::max(column.cells, column.word));
        wishes.push_back(std::max(column.cells, column.heading) - widths.back());
    }
    if (widths.empty()) return widths;
    const float left = room - sum(widths), wished = sum(wishes);
    if (left < 0.0F) {
        float& widest = *std::ranges::max_element(widths);
        widest = std::max(0.0F, widest + left);
    } else if (wished > 0.0F) {
        for (std::size_t i = 0; i < widths.size(); ++i) widths[i] += wishes[i] * std::min(1.0F, left / wished);
    }
    return widths;
}

void draw_lesson_table(const Ui& ui, const core::lessons::ShownTable& table) {
    if (FrameDocument* document = noting_document())
        document->note_table(in_document(table), {ImGui::GetCursorScreenPos(), ImGui::GetCursorScreenPos()});
    const Unsaid drawn;
    paragraph(ui.fonts.caption, ui.theme.muted, core::lessons::plain_text(table.caption));
    const std::size_t columns = table.columns.size();
    std::vector<ColumnNeeds> needs;
    for (std::size_t i = 0; i < columns; ++i) needs.push_back(needs_of(ui, table, i));
    const float room = ImGui::GetContentRegionAvail().x - ui.px(6);
    const float between = ui.px(columns > 3 ? 10 : 14);
    const std::vector<float> widths = column_widths(needs, room - between * static_cast<float>(columns - 1));

    std::vector<std::vector<std::string>> headings;
    std::size_t deepest = 1;
    for (std::size_t i = 0; i < columns; ++i) {
        // A pixel more: the rounding of a sum must not break a word.
        headings.push_back(lines_of(ui.fonts.caption, core::lessons::plain_text(table.columns[i]), widths[i] + 1.0F));
        deepest = std::max(deepest, headings.back().size());
    }
    const float heading_pitch = compat::font_size(ui.fonts.caption) + ui.px(3);
    const float pitch = compat::font_size(ui.fonts.mono_small) + ui.px(5);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float body = start.y + heading_pitch * static_cast<float>(deepest) + ui.px(2);
    float x = start.x;
    for (std::size_t i = 0; i < columns; ++i) {
        // The first column says what the row is; numbers stand to the right.
        const auto indent = [&](ImFont* font, const std::string& text) {
            return i == 0 ? 0.0F : std::max(0.0F, widths[i] - compat::text_size(font, text).x);
        };
        float y = start.y + heading_pitch * static_cast<float>(deepest - headings[i].size());
        for (const std::string& line : headings[i]) {
            draw_text(ui, ui.fonts.caption, {x + indent(ui.fonts.caption, line), y}, ui.theme.muted, line);
            y += heading_pitch;
        }
        for (std::size_t r = 0; r < table.rows.size(); ++r) {
            if (i >= table.rows[r].size()) continue;
            const std::string& text = table.rows[r][i];
            draw_text(ui, ui.fonts.mono_small,
                      {x + indent(ui.fonts.mono_small, text), body + pitch * static_cast<float>(r)}, ui.theme.text,
                      text, widths[i] + 1.0F);
        }
        x += widths[i] + between;
    }
    ImGui::Dummy({1, body - start.y + pitch * static_cast<float>(table.rows.size())});
}

}  // namespace decoderscope::views::lesson_panel

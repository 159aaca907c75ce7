#include "app/views/lessons/lesson_table.h"

#include "app/core/text/wrapping.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/prose.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace decoderscope {

namespace {

float sum(std::span<const float> widths) { return std::accumulate(widths.begin(), widths.end(), 0.0F); }

ColumnNeeds needs_of(const Ui& ui, const lessons::ShownTable& table, std::size_t column) {
    const std::string heading = plain_text(table.columns[column]);
    ColumnNeeds needs{.heading = std::ceil(compat::text_size(ui.fonts.caption, heading).x)};
    for (const TextPiece& piece : pieces_of(heading))
        needs.word = std::max(
            needs.word, std::ceil(compat::text_size(ui.fonts.caption, heading.substr(piece.begin, piece.size)).x));
    for (const auto& row : table.rows)
        if (column < row.size())
            needs.cells = std::max(needs.cells, std::ceil(compat::text_size(ui.fonts.mono_small, row[column]).x));
    return needs;
}

}  // namespace

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

void draw_lesson_table(const Ui& ui, const lessons::ShownTable& table) {
    paragraph(ui.fonts.caption, ui.theme.muted, plain_text(table.caption));
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
        headings.push_back(lines_of(ui.fonts.caption, plain_text(table.columns[i]), widths[i] + 1.0F));
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

}  // namespace decoderscope

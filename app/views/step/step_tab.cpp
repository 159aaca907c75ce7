#include "app/core/step/shown_step.h"
#include "app/core/text/wrapping.h"
#include "app/views/shell/panels.h"
#include "app/views/step/arrangement.h"
#include "app/views/step/spreadsheet_view.h"
#include "app/views/widgets/cards.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace decoderscope {

namespace {

// The cell that the pictures are lit for: the one under the mouse, else the selected one, if it belongs to the result.
std::optional<Cell> explained_cell(const Session& session, const ViewState& state, const Step& result) {
    const auto& cursor = session.cursor();
    const auto fits = [&](const Cell& cell) { return session.shown().run->value(result.id).contains(cell); };
    if (state.hovered && state.hovered->first == result.name && fits(state.hovered->second))
        return state.hovered->second;
    if (cursor.cell && fits(*cursor.cell)) return cursor.cell;
    return std::nullopt;
}

// The cells of operand number `operand` that a cell of the result was computed from, as one block of the operand's
// picture.
std::optional<CellRect> lit_cells(const Explanation& explanation, std::size_t operand, const Slice& slice) {
    std::optional<CellRect> lit;
    const auto add = [&](const Factor& factor) {
        if (!factor.cell || factor.cell->operand != operand) return;
        const auto at = slice.find(factor.cell->cell);
        if (!at) return;
        if (!lit) {
            lit = CellRect{at->first, at->second, 1, 1};
            return;
        }
        const Index bottom = std::max(lit->row + lit->rows, at->first + 1),
                    right = std::max(lit->column + lit->columns, at->second + 1);
        lit->row = std::min(lit->row, at->first);
        lit->column = std::min(lit->column, at->second);
        lit->rows = bottom - lit->row;
        lit->columns = right - lit->column;
    };
    for (const Line& line : explanation.lines) {
        for (const Term& term : line.terms) std::for_each(term.factors.begin(), term.factors.end(), add);
        std::for_each(line.given.begin(), line.given.end(), add);
    }
    return lit;
}

// ---- the arrow between operands and result

void draw_arrow_right(const Ui& ui, const Step& step, Area area) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float middle = (area.low.y + area.high.y) * 0.5F;
    const ImU32 color = color_of(step.meaning);
    list.AddLine({area.low.x + ui.px(6), middle}, {area.high.x - ui.px(14), middle}, color, ui.px(2));
    list.AddTriangleFilled({area.high.x - ui.px(6), middle}, {area.high.x - ui.px(15), middle - ui.px(5)},
                           {area.high.x - ui.px(15), middle + ui.px(5)}, color);
    const auto measure = [&](const std::string& text) { return compat::text_size(ui.fonts.caption, text).x; };
    const std::vector<std::string> lines = wrapped(step.operation.about().name, area.width() - ui.px(8), measure);
    const float line = compat::font_size(ui.fonts.caption) + ui.px(2);
    float y = middle - ui.px(8) - line * static_cast<float>(lines.size());
    for (const std::string& text : lines) {
        const float width = compat::text_size(ui.fonts.caption, text).x;
        draw_text(ui, ui.fonts.caption, {(area.low.x + area.high.x - width) * 0.5F, y}, ui.theme.text, text,
                  area.width());
        y += line;
    }
}

void draw_arrow_down(const Ui& ui, const Step& step, Area area) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float x = area.low.x + area.width() * 0.5F;
    const ImU32 color = color_of(step.meaning);
    list.AddLine({x, area.low.y + ui.px(4)}, {x, area.high.y - ui.px(14)}, color, ui.px(2));
    list.AddTriangleFilled({x, area.high.y - ui.px(6)}, {x - ui.px(5), area.high.y - ui.px(15)},
                           {x + ui.px(5), area.high.y - ui.px(15)}, color);
    draw_text(ui, ui.fonts.caption,
              {x + ui.px(14), (area.low.y + area.high.y - compat::font_size(ui.fonts.caption)) * 0.5F - ui.px(2)},
              ui.theme.text, step.operation.about().name);
}

// What to press, in as many lines as it needs; nothing once it was done.
std::vector<std::string> hint_lines(const Ui& ui, const ViewState& state, float width) {
    if (state.settings.hint_done) return {};
    const auto measure = [&](const std::string& text) { return compat::text_size(ui.fonts.caption, text).x; };
    return wrapped(tr("→ next step   ·   click any number   ·   right-drag paints the mask   ·   F1 keys"), width,
                   measure);
}

float hint_line(const Ui& ui) { return compat::font_size(ui.fonts.caption) + ui.px(5); }

void draw_hint(const Ui& ui, const std::vector<std::string>& lines, ImVec2 at) {
    for (const std::string& line : lines) {
        draw_text(ui, ui.fonts.caption, at, ui.theme.accent, line);
        at.y += hint_line(ui);
    }
}

// The cards and the arrow between them.
void draw_cards(const Ui& ui, const Session& session, ViewState& state, const Arrangement& arrangement,
                Commands& commands) {
    const Step& result = session.step();
    Hovered hovered;
    const auto cell = explained_cell(session, state, result);
    const auto explanation =
        cell ? shown_explanation(session.derived(), session.shown(), result, *cell) : Value<Explanation>();
    const Index heads = session.shown().scenario.config().nhead;
    for (const Card& card : arrangement.operands) {
        std::optional<CellRect> lit;
        for (std::size_t i = 0; explanation && i < result.operands.size() && !lit; ++i)
            if (result.operands[i] == card.step.id)
                lit =
                    lit_cells(*explanation, i, slice_of(card.step, card.place.value_or(session.cursor().place), heads));
        draw_card(ui, session, state, card, lit, hovered, commands);
    }
    if (!arrangement.operands.empty()) {
        if (arrangement.downwards)
            draw_arrow_down(ui, result, arrangement.operation);
        else
            draw_arrow_right(ui, result, arrangement.operation);
    }
    draw_card(ui, session, state, {result, arrangement.result, true}, std::nullopt, hovered, commands);
    state.hovered = hovered;
}

// The cards in an area; they are scrolled where they need more height than it has.
void draw_pictures(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands) {
    const float bar = ImGui::GetStyle().ScrollbarSize;
    ImGui::SetCursorScreenPos(area.low);
    compat::begin_child("pictures", {std::max(area.width() + bar, 1.0F), std::max(area.height(), 1.0F)});
    const ImVec2 start = ImGui::GetCursorScreenPos();
    Arrangement arrangement =
        arrange(ui, session, session.step(), {start, {start.x + area.width(), start.y + area.height()}});
    draw_cards(ui, session, state, arrangement, commands);
    ImGui::SetCursorScreenPos(start);
    ImGui::Dummy({1, std::max(arrangement.bottom - start.y, 1.0F)});
    ImGui::EndChild();
}

// For a lecture hall: the result alone, as large as the screen.
void draw_alone(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands) {
    Hovered hovered;
    const float pad = ui.px(16);
    const Area inner = {{area.low.x + pad, area.low.y + pad}, {area.high.x - pad, area.high.y - pad}};
    draw_card(ui, session, state, {session.step(), inner, true}, std::nullopt, hovered, commands);
    state.hovered = hovered;
}

}  // namespace

void draw_step_tab(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands) {
    if (state.presenting && !sheet_is_open(state)) return draw_alone(ui, session, state, area, commands);
    const float pad = ui.px(16), left = area.low.x + pad, right = area.high.x - pad;
    const float choices = choices_height(ui, session, state, right - left);
    const std::vector<std::string> hint = hint_lines(ui, state, right - left);
    const float bottom = area.high.y - choices - hint_line(ui) * static_cast<float>(hint.size());
    const Area pictures = {{left, area.low.y + ui.px(6)}, {right, bottom - ui.px(2)}};
    if (sheet_is_open(state))
        draw_spreadsheet(ui, session, state, pictures, commands);
    else
        draw_pictures(ui, session, state, pictures, commands);
    draw_choices(ui, session, state, {{left, area.high.y - choices}, {right, area.high.y}}, commands);
    draw_hint(ui, hint, {left, bottom});
}

}  // namespace decoderscope

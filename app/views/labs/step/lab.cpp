#include "app/views/labs/step/lab.h"

#include "app/core/labs/heads/shown_heads.h"
#include "app/core/labs/step/shown_step.h"
#include "app/core/text/text_layout.h"
#include "app/views/frame/cards.h"
#include "app/views/frame/choices.h"
#include "app/views/labs/step/arrangement.h"
#include "app/views/labs/step/spreadsheet_view.h"
#include "app/views/widgets/heatmap_layout.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"
#include "engine/graph/explanation.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope::views::step {

namespace {

// The strongest weight of the first pattern that is worth seeing.
std::optional<Suggestion> suggest(const core::Session& session) {
    const core::Snapshot& shown = session.shown();
    const Ref opening = shown.run->plan().find(core::opening_cursor(shown.scenario, shown.run->plan()).step);
    if (opening == nullptr || opening->attention.empty()) return std::nullopt;
    const core::Value<core::heads::ShownStrongestWeight> strongest =
        core::heads::shown_strongest_weight(session.derived(), shown, opening->attention, session.cursor().place.batch);
    if (!strongest->found) return std::nullopt;
    const core::heads::StrongestWeight& weight = *strongest->found;
    return Suggestion{
        .title = tr("See where position {query} looks", {{"query", weight.cell[2]}}),
        .commands = {
            core::command::Follow{weight.pattern, weight.cell},
            core::command::Tell{message("The highlighted cell is the largest weight of this attention: {weight} of "
                                        "query {query} on key {key}. On the right you see how the softmax computed it.",
                                        {{"weight", short_number(static_cast<double>(weight.weight))},
                                         {"query", weight.cell[2]},
                                         {"key", weight.cell[3]}}),
                                false}}};
}

void draw_step_tab(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

}  // namespace

// Adds no exports: every tab exports the step.
Lab step_lab() {
    return {.id = core::files::kStepLab,
            .title = message("Step"),
            .question = message("How is this tensor computed?"),
            .key = Key::s,
            .term = "step",
            .draw = draw_step_tab,
            .suggest = suggest,
            .first_hour = true};
}

namespace {

// The cell that the pictures are lit for: the one under the mouse, else the selected one, if it belongs to the result.
std::optional<Cell> explained_cell(const core::Session& session, const ViewState& state, const Step& result) {
    const auto& cursor = session.cursor();
    const auto fits = [&](const Cell& cell) { return session.shown().run->value(result.id).contains(cell); };
    if (state.hovered && state.hovered->first == result.name && fits(state.hovered->second))
        return state.hovered->second;
    if (cursor.cell && fits(*cursor.cell)) return cursor.cell;
    return std::nullopt;
}

// The cells of operand number `operand` that a cell of the result was computed from, as one block of the operand's
// picture.
std::optional<core::CellRect> lit_cells(const Explanation& explanation, std::size_t operand, const core::Slice& slice) {
    std::optional<core::CellRect> lit;
    const auto add = [&](const Factor& factor) {
        if (!factor.cell || factor.cell->operand != operand) return;
        const auto at = slice.find(factor.cell->cell);
        if (!at) return;
        if (!lit) {
            lit = core::CellRect{at->first, at->second, 1, 1};
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

// ---- the arrows between operands and result

// A line with its head at `to`.
void draw_arrow(const Ui& ui, ImU32 color, ImVec2 from, ImVec2 to) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float length = std::hypot(to.x - from.x, to.y - from.y);
    const ImVec2 along = {(to.x - from.x) / length, (to.y - from.y) / length};
    const ImVec2 neck = {to.x - along.x * ui.px(9), to.y - along.y * ui.px(9)};
    const ImVec2 across = {-along.y * ui.px(5), along.x * ui.px(5)};
    list.AddLine(from, neck, color, ui.px(2));
    list.AddTriangleFilled(to, {neck.x - across.x, neck.y - across.y}, {neck.x + across.x, neck.y + across.y}, color);
}

// `says`: the operation, above the line.
void draw_arrow_across(const Ui& ui, const Step& step, Area area, bool to_right, bool says) {
    const float middle = std::floor((area.low.y + area.high.y) * 0.5F), edge = ui.px(6);
    const ImVec2 left = {area.low.x + edge, middle}, right = {area.high.x - edge, middle};
    draw_arrow(ui, color_of(step.meaning), to_right ? left : right, to_right ? right : left);
    if (!says) return;
    const auto measure = [&](const std::string& text) { return compat::text_size(ui.fonts.caption, text).x; };
    const std::vector<std::string> lines = core::wrapped(step.operation.about().name, area.width() - ui.px(8), measure);
    const float line = compat::font_size(ui.fonts.caption) + ui.px(2);
    float y = middle - ui.px(8) - line * static_cast<float>(lines.size());
    for (const std::string& text : lines) {
        draw_text(ui, ui.fonts.caption, {(area.low.x + area.high.x - measure(text)) * 0.5F, y}, ui.theme.text, text,
                  area.width());
        y += line;
    }
}

void draw_arrow_upright(const Ui& ui, const Step& step, Area area, bool down, bool says) {
    const float x = std::floor(area.low.x + area.width() * 0.5F);
    const ImVec2 top = {x, area.low.y + ui.px(4)}, bottom = {x, area.high.y - ui.px(4)};
    draw_arrow(ui, color_of(step.meaning), down ? top : bottom, down ? bottom : top);
    if (!says) return;
    draw_text(ui, ui.fonts.caption,
              {x + ui.px(14), (area.low.y + area.high.y - compat::font_size(ui.fonts.caption)) * 0.5F - ui.px(2)},
              ui.theme.text, step.operation.about().name);
}

void draw_arrows(const Ui& ui, const Step& step, const std::vector<Arrow>& arrows) {
    for (const Arrow& arrow : arrows) {
        const bool says = &arrow == &arrows.front();
        if (arrow.way == Arrow::Way::left || arrow.way == Arrow::Way::right)
            draw_arrow_across(ui, step, arrow.area, arrow.way == Arrow::Way::right, says);
        else
            draw_arrow_upright(ui, step, arrow.area, arrow.way == Arrow::Way::down, says);
    }
}

// What to press, in as many lines as it needs; nothing once it was done.
std::vector<std::string> hint_lines(const Ui& ui, const ViewState& state, float width) {
    if (state.settings.hint_done) return {};
    const auto measure = [&](const std::string& text) { return compat::text_size(ui.fonts.caption, text).x; };
    return core::wrapped(tr("→ next step   ·   click any number   ·   right-drag paints the mask   ·   F1 keys"), width,
                         measure);
}

float hint_line(const Ui& ui) { return compat::font_size(ui.fonts.caption) + ui.px(5); }

void draw_hint(const Ui& ui, const std::vector<std::string>& lines, ImVec2 at) {
    for (const std::string& line : lines) {
        draw_text(ui, ui.fonts.caption, at, ui.theme.accent, line);
        at.y += hint_line(ui);
    }
}

// The cards and the arrows between them.
void draw_cards(const Ui& ui, const core::Session& session, ViewState& state, const Arrangement& arrangement,
                Commands& commands) {
    const Step& result = session.step();
    Hovered hovered;
    const auto cell = explained_cell(session, state, result);
    const auto explanation = cell ? core::step::shown_explanation(session.derived(), session.shown(), result, *cell)
                                  : core::Value<Explanation>();
    const Index heads = session.shown().scenario.query_heads();
    for (const Card& card : arrangement.operands) {
        std::optional<core::CellRect> lit;
        for (std::size_t i = 0; explanation && i < result.operands.size() && !lit; ++i)
            if (result.operands[i] == card.step.id)
                lit = lit_cells(*explanation, i,
                                core::slice_of(card.step, card.place.value_or(session.cursor().place), heads));
        draw_card(ui, session, state, card, lit, hovered, commands);
    }
    draw_arrows(ui, result, arrangement.arrows);
    draw_card(ui, session, state, {result, arrangement.result, true}, std::nullopt, hovered, commands);
    state.hovered = hovered;
}

// The cards in an area; they are scrolled where they need more height than it has.
void draw_pictures(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    const float bar = ImGui::GetStyle().ScrollbarSize;
    ImGui::SetCursorScreenPos(area.low);
    compat::begin_child("pictures", {std::max(area.width() + bar, 1.0F), std::max(area.height(), 1.0F)});
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const Area stage = {start, {start.x + area.width(), start.y + area.height()}};
    PicturePlaces& places = state.part<PicturePlaces>();
    const Step& step = session.step();
    const Arrangement arrangement =
        arrange(ui, session, step, stage, places.kept(ui, session.shown().run->plan(), step, stage));
    places.remember(ui, session, step, arrangement, stage);
    draw_cards(ui, session, state, arrangement, commands);
    ImGui::SetCursorScreenPos(start);
    ImGui::Dummy({1, std::max(arrangement.bottom - start.y, 1.0F)});
    ImGui::EndChild();
}

// What a lecture hall must be told of the picture, which no panel beside it says: "softmax, head 3, batch row 0".
Sentence said_below(const core::Session& session, const Step& step) {
    const auto several = [&](std::string_view name) {
        return std::ranges::any_of(step.axes, [&](const Axis& along) { return along.name == name && along.size > 1; });
    };
    const core::Place place = session.cursor().place;
    const Arguments arguments = {
        {"operation", step.operation.about().name}, {"head", place.head}, {"row", place.batch}};
    if (several(axis::head) && several(axis::batch))
        return message("{operation}, head {head}, batch row {row}", arguments);
    if (several(axis::head)) return message("{operation}, head {head}", arguments);
    if (several(axis::batch)) return message("{operation}, batch row {row}", arguments);
    return Sentence::verbatim(step.operation.about().name);
}

// The part of an area that a picture fills, in its middle.
Area centred(const Ui& ui, const core::Heatmap& heatmap, Area area) {
    const HeatmapNeeds needs = needs_of(ui, heatmap, area.width());
    const ImVec2 room = {std::max(area.width() - needs.around.x, 1.0F), std::max(area.height() - needs.around.y, 1.0F)};
    const ImVec2 cell = fitted_cell(ui, needs.rows, needs.columns, room);
    const float width = std::min(area.width(), needs.around.x + cell.x * static_cast<float>(needs.columns));
    const float height = std::min(area.height(), needs.around.y + cell.y * static_cast<float>(needs.rows));
    const ImVec2 low = {std::floor((area.low.x + area.high.x - width) * 0.5F),
                        std::floor((area.low.y + area.high.y - height) * 0.5F)};
    return {low, {low.x + width, low.y + height}};
}

// For a lecture hall: the result alone, as large as the screen, and a line that says what it is.
void draw_alone(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    Hovered hovered;
    const Step& step = session.step();
    const float pad = ui.px(16), line = compat::font_size(ui.fonts.text) + ui.px(8);
    const Area inner = {{area.low.x + pad, area.low.y + pad}, {area.high.x - pad, area.high.y - pad - line}};
    Area picture = inner;
    if (!session.shown().run->value(step.id).empty())
        picture = centred(
            ui, core::step::shown_heatmap(session.derived(), session.shown(), step, session.cursor().place)->heatmap,
            inner);
    draw_card(ui, session, state, {step, picture, true}, std::nullopt, hovered, commands);
    const std::string below = fitted(ui.fonts.text, tr(said_below(session, step)), inner.width());
    const float middle = (inner.low.x + inner.high.x - compat::text_size(ui.fonts.text, below).x) * 0.5F;
    draw_text(ui, ui.fonts.text, {middle, inner.high.y + ui.px(4)}, ui.theme.text, below);
    state.hovered = hovered;
}

void draw_step_tab(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
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

}  // namespace

}  // namespace decoderscope::views::step

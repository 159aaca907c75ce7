#include "app/core/step/shown_step.h"
#include "app/core/text/wrapping.h"
#include "app/views/shell/panels.h"
#include "app/views/widgets/cards.h"
#include "app/views/widgets/heatmap_layout.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <cmath>

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

// ---- the layout of the cards

// How the cards are laid out on the stage: operands, the operation between, the result.
struct Arrangement {
    std::vector<Card> operands;
    Area operation, result;
    bool downwards = false;
};

// The operands, each once.
std::vector<Ref> distinct_operands(const Plan& plan, const Step& result) {
    std::vector<Ref> operands;
    for (const StepId id : result.operands)
        if (std::find(operands.begin(), operands.end(), &plan[id]) == operands.end()) operands.push_back(&plan[id]);
    return operands;
}

// The height of a step's picture.
float height_of(const Ui& ui, const Session& session, const Step& step, float width, float most) {
    if (session.shown().run->value(step.id).empty()) return std::min(most, ui.px(60));
    return fitted_height(ui, shown_heatmap(session.derived(), session.shown(), step, session.cursor().place)->heatmap,
                         width, most);
}

// Whether a step's picture is a narrow strip, drawn next to another.
bool is_strip(const Step& step) { return step.axes.size() >= 2 && step.axes.back().size <= 2; }

// Stacks cards in a column, centred, each at its own height.
void stack_cards(const Ui& ui, const Session& session, const std::vector<Ref>& steps, Area column,
                 std::vector<Card>& cards) {
    const float gap = ui.px(14);
    const float room = column.height() - gap * static_cast<float>(steps.size() - 1);
    std::vector<float> heights;
    float sum = 0.0F;
    for (const Ref step : steps) sum += heights.emplace_back(height_of(ui, session, *step, column.width(), room));
    // If they don't fit, the tallest shrink first.
    while (sum > room + 1.0F) {
        const auto highest = std::max_element(heights.begin(), heights.end());
        const float less = std::min(*highest - room / static_cast<float>(heights.size()), sum - room);
        if (less <= 1.0F) break;
        *highest -= less;
        sum -= less;
    }
    float y = column.low.y + std::max(0.0F, (room - sum) * 0.5F);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        cards.push_back({*steps[i], {{column.low.x, y}, {column.high.x, y + heights[i]}}, false});
        y += heights[i] + gap;
    }
}

Arrangement side_by_side(const Ui& ui, const Session& session, const Step& result, const std::vector<Ref>& operands,
                         Area area) {
    const float arrow = std::min(ui.px(104), area.width() * 0.16F);
    const float column = std::floor((area.width() - arrow) * 0.5F);
    Arrangement a;
    stack_cards(ui, session, operands, {area.low, {area.low.x + column, area.high.y}}, a.operands);
    std::vector<Card> right;
    stack_cards(ui, session, {&result}, {{area.high.x - column, area.low.y}, area.high}, right);
    a.result = right.front().area;
    a.operation = {{area.low.x + column, area.low.y}, {area.high.x - column, area.high.y}};
    return a;
}

// Operands above the result: two in a row, a strip next to its neighbour.
Arrangement one_above_the_other(const Ui& ui, const Session& session, const Step& result,
                                const std::vector<Ref>& operands, Area area) {
    const float gap = ui.px(14), arrow = ui.px(34), strip = ui.px(190);
    const std::size_t rows = (operands.size() + 1) / 2;
    const float result_height = height_of(ui, session, result, area.width(), area.height() * 0.5F);
    float room = area.height() - result_height - arrow - gap * static_cast<float>(rows);
    Arrangement a;
    a.downwards = true;
    float y = area.low.y;
    for (std::size_t row = 0; row < rows; ++row) {
        const Step& first = *operands[row * 2];
        const Ref second = row * 2 + 1 < operands.size() ? operands[row * 2 + 1] : nullptr;
        const float half = (area.width() - gap * 2) * 0.5F;
        const float second_width = second == nullptr ? 0.0F : is_strip(*second) ? strip : half;
        const float first_width = second == nullptr ? area.width() : area.width() - gap * 2 - second_width;
        const float most = room / static_cast<float>(rows - row);
        float height = height_of(ui, session, first, first_width, most);
        if (second != nullptr) height = std::max(height, height_of(ui, session, *second, second_width, most));
        a.operands.push_back({first, {{area.low.x, y}, {area.low.x + first_width, y + height}}, false});
        if (second != nullptr)
            a.operands.push_back({*second, {{area.high.x - second_width, y}, {area.high.x, y + height}}, false});
        y += height + gap;
        room -= height;
    }
    a.operation = {{area.low.x, y - gap}, {area.high.x, y - gap + arrow}};
    a.result = {{area.low.x, y - gap + arrow}, {area.high.x, std::min(area.high.y, y - gap + arrow + result_height)}};
    return a;
}

// Wide results (rows of d_model numbers) go below their operands, square ones next to them.
Arrangement arrange(const Ui& ui, const Session& session, const Step& result, Area area) {
    const std::vector<Ref> operands = distinct_operands(session.shown().run->plan(), result);
    if (operands.empty()) return {{}, {}, area, false};
    const Index columns = result.axes.empty() ? 1 : result.axes.back().size;
    const Index rows = result.axes.size() < 2 ? 1 : result.axes[result.axes.size() - 2].size;
    const bool wide = columns > 12 && columns > 2 * rows;
    return wide ? one_above_the_other(ui, session, result, operands, area)
                : side_by_side(ui, session, result, operands, area);
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

void draw_hint(const Ui& ui, const ViewState& state, Area area) {
    if (state.settings.hint_done) return;
    draw_text(ui, ui.fonts.caption, {area.low.x, area.low.y}, ui.theme.accent,
              tr("→ next step   ·   click any number   ·   right-drag paints the mask   ·   F1 keys"), area.width());
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
    if (state.presenting) return draw_alone(ui, session, state, area, commands);
    const Step& result = session.step();
    const float pad = ui.px(16), choices = ui.px(72), hint = ui.px(20);
    const Area inner = {{area.low.x + pad, area.low.y + ui.px(12)},
                        {area.high.x - pad, area.high.y - choices - hint - ui.px(8)}};
    Hovered hovered;
    const Arrangement arrangement = arrange(ui, session, result, inner);
    const auto cell = explained_cell(session, state, result);
    const auto explanation =
        cell ? shown_explanation(session.derived(), session.shown(), result, *cell) : Value<Explanation>();
    const Index heads = session.shown().scenario.config().nhead;
    for (const Card& card : arrangement.operands) {
        std::optional<CellRect> lit;
        for (std::size_t i = 0; explanation && i < result.operands.size() && !lit; ++i)
            if (result.operands[i] == card.step.id)
                lit = lit_cells(*explanation, i, slice_of(card.step, session.cursor().place, heads));
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
    draw_choices(ui, session, state, {{inner.low.x, area.high.y - choices}, {inner.high.x, area.high.y}}, commands);
    draw_hint(ui, state, {{inner.low.x, area.high.y - choices - hint}, {inner.high.x, area.high.y - choices}});
}

}  // namespace decoderscope

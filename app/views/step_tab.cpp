#include "app/core/labels.h"
#include "app/views/imgui_compat.h"
#include "app/views/panels.h"

#include <algorithm>
#include <cmath>

namespace decoderscope {

namespace {

// A step with the picture of it and where that lies.
struct Card {
    const Step& step;
    Area area;
    bool is_result = false;
};

// The cell that everything is lit for: the one under the mouse, else the selected one, if it is of the result.
std::optional<Cell> explained_cell(const Session& session, const ViewState& state, const Step& result) {
    const auto& cursor = session.cursor();
    const auto fits = [&](const Cell& cell) { return session.shown().run->value(result.id).contains(cell); };
    if (state.hovered && state.hovered->first == result.name && fits(state.hovered->second)) return state.hovered->second;
    if (cursor.cell && fits(*cursor.cell)) return cursor.cell;
    return std::nullopt;
}

// The cells of operand number `operand` that a cell of the result was made from, as one block of the operand's picture.
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
        const Index bottom = std::max(lit->row + lit->rows, at->first + 1), right = std::max(lit->column + lit->columns, at->second + 1);
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

// Whether painting here means painting the mask: a picture of queries against keys.
bool shows_mask(const Session& session, const Step& step) {
    return step.axes.size() == 4 && step.axes[3].name == axis::key &&
           session.shown().run->plan().find(attention_of(step) + ".mask") != nullptr;
}

// The cells that a stroke passes between two frames, the first one left out.
std::vector<Spot> stroke(Spot from, Spot to) {
    const Index down = to.first - from.first, right = to.second - from.second;
    const Index steps = std::max(std::abs(down), std::abs(right));
    std::vector<Spot> spots;
    for (Index i = 1; i <= steps; ++i) {
        const double part = static_cast<double>(i) / static_cast<double>(steps);
        spots.emplace_back(from.first + std::llround(part * static_cast<double>(down)),
                           from.second + std::llround(part * static_cast<double>(right)));
    }
    return spots;
}

void paint(const Session& session, ViewState& state, const Step& step, const Slice& slice, const HeatmapGesture& gesture, Commands& commands) {
    const std::string attention = attention_of(step);
    const bool all_heads = ImGui::GetIO().KeyShift;
    const auto ask = [&](Spot spot, bool continues) {
        const Cell cell = slice.cell(spot.first, spot.second);
        commands.push_back(command::PaintMask{attention, cell[0], all_heads ? std::nullopt : std::optional(cell[1]), cell[2], cell[3],
                                              state.paint_keeps, continues});
    };
    const Spot now = *gesture.painted;
    if (gesture.paint_begins) {
        const Tensor& mask = session.shown().run->value(attention + ".mask");
        state.paint_keeps = mask.at(slice.cell(now.first, now.second)) == 0.0F;  // the first cell is turned over, the others follow it
        ask(now, false);
    } else {
        for (const Spot& spot : stroke(state.last_painted, now)) ask(spot, true);
    }
    state.last_painted = now;
}

void cell_tooltip(const Ui& ui, const Session& session, const Step& step, const ShownHeatmap& shown, const Slice& slice, Spot spot) {
    if (!compat::begin_tooltip()) return;
    const Heatmap& h = shown.heatmap;
    const Cell cell = slice.cell(spot.first, spot.second);
    text_line(ui.fonts.mono_small, ui.theme.muted, cell_name(step.name, cell));
    text_line(ui.fonts.mono, ui.theme.text, short_number(static_cast<double>(h.at(spot.first, spot.second))));
    const auto place = [&](const std::string& axis, const std::string& label, Index at) {
        if (axis.empty()) return;
        const std::string number = std::to_string(at);
        text_line(ui.fonts.caption, ui.theme.muted, axis + " " + number + (label != number ? "  “" + label + "”" : ""));
    };
    place(h.row_axis, h.row_labels[static_cast<std::size_t>(spot.first)], spot.first);
    place(h.column_axis, h.column_labels[static_cast<std::size_t>(spot.second)], spot.second);
    const auto offset = static_cast<std::size_t>(spot.first * h.columns + spot.second);
    if (!h.hidden.empty() && h.hidden[offset] != 0) text_line(ui.fonts.caption, ui.theme.warning, hidden_text(h.hidden[offset]));
    if (!shown.changed.empty() && shown.changed[offset] != 0) {
        const Tensor& before = session.shown().unedited->value(step.name);
        text_line(ui.fonts.caption, ui.theme.accent, "without edits " + short_number(static_cast<double>(before.at(cell))));
    }
    ImGui::EndTooltip();
}

// Draws one card and turns gestures into commands.
void draw_card(const Ui& ui, const Session& session, ViewState& state, const Card& card, const std::optional<CellRect>& lit,
               std::optional<std::pair<std::string, Cell>>& hovered, Commands& commands) {
    const Step& step = card.step;
    if (session.shown().run->value(step.id).empty()) {
        draw_text(ui, ui.fonts.caption, card.area.low, ui.theme.muted, step.name + ": being computed …", card.area.width());
        return;
    }
    const Place place = session.cursor().place;
    const ShownHeatmap& shown = state.heatmaps.get(session.shown(), step, place);
    const Slice slice = slice_of(step, place, session.shown().scenario.config().nhead);
    HeatmapDrawing drawing{.heatmap = shown.heatmap,
                           .key = step.id + 1,
                           .version = shown.version,
                           .color = color_of(step.meaning),
                           .lit = lit,
                           .changed = &shown.changed,
                           .stale = session.stale(),
                           .paintable = shows_mask(session, step),
                           .painting = state.painting && shows_mask(session, step)};
    if (card.is_result && session.cursor().cell) drawing.selected = slice.find(*session.cursor().cell);
    const HeatmapGesture gesture = draw_heatmap(ui, drawing, state.viewports[drawing.key], card.area);
    if (gesture.hovered) {
        const Cell cell = slice.cell(gesture.hovered->first, gesture.hovered->second);
        hovered = {step.name, cell};
        if (!gesture.painted) cell_tooltip(ui, session, step, shown, slice, *gesture.hovered);
        if (gesture.painted) paint(session, state, step, slice, gesture, commands);
    }
    if (!gesture.clicked) return;
    const Cell cell = slice.cell(gesture.clicked->first, gesture.clicked->second);
    if (card.is_result) commands.push_back(command::SelectCell{cell});
    else commands.push_back(command::Follow{step.name, cell});
}

// ---- where the cards lie

// How the cards lie on the stage: operands, the operation between, the result.
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

// How high a step's picture comes out.
float height_of(const Ui& ui, const Session& session, ViewState& state, const Step& step, float width, float most) {
    if (session.shown().run->value(step.id).empty()) return std::min(most, ui.px(60));
    return fitted_height(ui, state.heatmaps.get(session.shown(), step, session.cursor().place).heatmap, width, most);
}

// A step whose picture is a narrow strip beside another.
bool is_strip(const Step& step) { return step.axes.size() >= 2 && step.axes.back().size <= 2; }

// Cards under one another in a column, as high as they come out, centred.
void stack_cards(const Ui& ui, const Session& session, ViewState& state, const std::vector<Ref>& steps, Area column, std::vector<Card>& cards) {
    const float gap = ui.px(14);
    const float room = column.height() - gap * static_cast<float>(steps.size() - 1);
    std::vector<float> heights;
    float sum = 0.0F;
    for (const Ref step : steps) sum += heights.emplace_back(height_of(ui, session, state, *step, column.width(), room));
    // Where they don't fit, the high ones give way first.
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

Arrangement side_by_side(const Ui& ui, const Session& session, ViewState& state, const Step& result, const std::vector<Ref>& operands, Area area) {
    const float arrow = std::min(ui.px(104), area.width() * 0.16F);
    const float column = std::floor((area.width() - arrow) * 0.5F);
    Arrangement a;
    stack_cards(ui, session, state, operands, {area.low, {area.low.x + column, area.high.y}}, a.operands);
    std::vector<Card> right;
    stack_cards(ui, session, state, {&result}, {{area.high.x - column, area.low.y}, area.high}, right);
    a.result = right.front().area;
    a.operation = {{area.low.x + column, area.low.y}, {area.high.x - column, area.high.y}};
    return a;
}

// Rows of operands over the result: two in a row, a strip beside its neighbour.
Arrangement one_above_the_other(const Ui& ui, const Session& session, ViewState& state, const Step& result, const std::vector<Ref>& operands, Area area) {
    const float gap = ui.px(14), arrow = ui.px(34), strip = ui.px(190);
    const std::size_t rows = (operands.size() + 1) / 2;
    const float result_height = height_of(ui, session, state, result, area.width(), area.height() * 0.5F);
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
        float height = height_of(ui, session, state, first, first_width, most);
        if (second != nullptr) height = std::max(height, height_of(ui, session, state, *second, second_width, most));
        a.operands.push_back({first, {{area.low.x, y}, {area.low.x + first_width, y + height}}, false});
        if (second != nullptr) a.operands.push_back({*second, {{area.high.x - second_width, y}, {area.high.x, y + height}}, false});
        y += height + gap;
        room -= height;
    }
    a.operation = {{area.low.x, y - gap}, {area.high.x, y - gap + arrow}};
    a.result = {{area.low.x, y - gap + arrow}, {area.high.x, std::min(area.high.y, y - gap + arrow + result_height)}};
    return a;
}

// Wide results (rows of d_model numbers) lie below their operands, square ones beside them.
Arrangement arrange(const Ui& ui, const Session& session, ViewState& state, const Step& result, Area area) {
    const std::vector<Ref> operands = distinct_operands(session.shown().run->plan(), result);
    if (operands.empty()) return {{}, {}, area, false};
    const Index columns = result.axes.empty() ? 1 : result.axes.back().size;
    const Index rows = result.axes.size() < 2 ? 1 : result.axes[result.axes.size() - 2].size;
    const bool wide = columns > 12 && columns > 2 * rows;
    return wide ? one_above_the_other(ui, session, state, result, operands, area)
                : side_by_side(ui, session, state, result, operands, area);
}

// ---- the arrow between operands and result

// The operation's name in as many lines as the width takes.
std::vector<std::string> wrapped(const Ui& ui, std::string_view text, float width) {
    std::vector<std::string> lines(1);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string word(text.substr(at, end - at));
        const std::string longer = lines.back().empty() ? word : lines.back() + " " + word;
        if (!lines.back().empty() && compat::text_size(ui.fonts.caption, longer).x > width) lines.push_back(word);
        else lines.back() = longer;
        at = end + 1;
    }
    return lines;
}

void draw_arrow_right(const Ui& ui, const Step& step, Area area) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float middle = (area.low.y + area.high.y) * 0.5F;
    const ImU32 color = color_of(step.meaning);
    list.AddLine({area.low.x + ui.px(6), middle}, {area.high.x - ui.px(14), middle}, color, ui.px(2));
    list.AddTriangleFilled({area.high.x - ui.px(6), middle}, {area.high.x - ui.px(15), middle - ui.px(5)}, {area.high.x - ui.px(15), middle + ui.px(5)}, color);
    const std::vector<std::string> lines = wrapped(ui, step.operation.about().name, area.width() - ui.px(8));
    const float line = compat::font_size(ui.fonts.caption) + ui.px(2);
    float y = middle - ui.px(8) - line * static_cast<float>(lines.size());
    for (const std::string& text : lines) {
        const float width = compat::text_size(ui.fonts.caption, text).x;
        draw_text(ui, ui.fonts.caption, {(area.low.x + area.high.x - width) * 0.5F, y}, ui.theme.text, text, area.width());
        y += line;
    }
}

void draw_arrow_down(const Ui& ui, const Step& step, Area area) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float x = area.low.x + area.width() * 0.5F;
    const ImU32 color = color_of(step.meaning);
    list.AddLine({x, area.low.y + ui.px(4)}, {x, area.high.y - ui.px(14)}, color, ui.px(2));
    list.AddTriangleFilled({x, area.high.y - ui.px(6)}, {x - ui.px(5), area.high.y - ui.px(15)}, {x + ui.px(5), area.high.y - ui.px(15)}, color);
    draw_text(ui, ui.fonts.caption, {x + ui.px(14), (area.low.y + area.high.y - compat::font_size(ui.fonts.caption)) * 0.5F - ui.px(2)},
              ui.theme.text, step.operation.about().name);
}

// ---- below the cards: head, batch, layer

// The attention whose heads the chips stand for: the step's own, else the self-attention of its block.
std::string attention_for_chips(const Session& session) {
    const Step& step = session.step();
    const std::string own = attention_of(step);
    if (!own.empty()) return own;
    if (!step.block.empty()) return step.block + ".attn";
    return {};
}

float head_factor(const Scenario& scenario, const std::string& attention, Index head) {
    float factor = 1.0F;
    for (const Edit& edit : scenario.edits)
        if (const auto* scale = std::get_if<ScaleHead>(&edit); scale && scale->attention == attention && scale->head == head)
            factor *= scale->factor;
    return factor;
}

// A head: its number chooses it, the dot before it switches it off and on.
void head_chip(const Ui& ui, const Session& session, const std::string& attention, Index head, Commands& commands) {
    const bool chosen = session.cursor().place.head == head;
    const bool off = head_factor(session.scenario(), attention, head) == 0.0F;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float height = ImGui::GetFrameHeight();
    const std::string number = std::to_string(head);
    const float dot = ui.px(20), width = dot + compat::text_size(ui.fonts.mono, number).x + ui.px(8);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::PushID(static_cast<int>(head));
    if (ImGui::InvisibleButton("switch", {dot, height}))
        commands.push_back(command::ScaleHeadTo{attention, head, off ? 1.0F : 0.0F});
    const bool on_dot = ImGui::IsItemHovered();
    tooltip(off ? "Switch this head on" : "Switch this head off: its z becomes 0");
    ImGui::SameLine(0, 0);
    if (ImGui::InvisibleButton("choose", {width - dot, height})) commands.push_back(command::ChooseHead{head});
    const bool on_number = ImGui::IsItemHovered();
    ImGui::PopID();
    if (chosen || on_number) list.AddRectFilled(at, {at.x + width, at.y + height}, chosen ? ui.theme.accent_soft : ui.theme.raised, ui.px(4));
    const ImVec2 middle = {at.x + ui.px(11), at.y + height * 0.5F};
    const ImU32 color = on_dot ? ui.theme.accent : color_of(Meaning::attention);
    if (off) list.AddCircle(middle, ui.px(4.5F), color, 16, ui.px(1.5F));
    else list.AddCircleFilled(middle, ui.px(5), color, 16);
    draw_text(ui, ui.fonts.mono, {at.x + dot, at.y + (height - compat::font_size(ui.fonts.mono)) * 0.5F}, off ? ui.theme.muted : ui.theme.text, number);
}

// "batch  ◀ 0 ▶"
void counter(const Ui& ui, const char* id, const char* label, Index value, Index count, int& moved) {
    moved = 0;
    ImGui::PushID(id);
    ImGui::AlignTextToFramePadding();
    text_line(ui.fonts.caption, ui.theme.muted, label);
    ImGui::SameLine(0, ui.px(4));
    if (icon_button(ui, "less", Icon::back, value > 0, nullptr)) moved = -1;
    ImGui::SameLine(0, ui.px(2));
    ImGui::AlignTextToFramePadding();
    text_line(ui.fonts.mono, ui.theme.text, std::to_string(value));
    ImGui::SameLine(0, ui.px(2));
    if (icon_button(ui, "more", Icon::forward, value + 1 < count, nullptr)) moved = 1;
    ImGui::PopID();
}

Index blocks_in_stack(const Session& session, const Step& step) {
    Index count = 0;
    while (session.shown().run->plan().find(name_in_block(step, count)) != nullptr) ++count;
    return count;
}

void draw_choices(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands) {
    ImGui::SetCursorScreenPos({area.low.x, area.low.y + ui.px(4)});
    ImGui::BeginGroup();
    const std::string attention = attention_for_chips(session);
    if (!attention.empty()) {
        ImGui::AlignTextToFramePadding();
        text_line(ui.fonts.caption, ui.theme.muted, "head");
        const Index heads = session.shown().scenario.config().nhead;
        for (Index head = 0; head < heads; ++head) {
            ImGui::SameLine(0, ui.px(head == 0 ? 6 : 2));
            if (ImGui::GetCursorScreenPos().x > area.high.x - ui.px(190) && head + 1 < heads) {
                ImGui::AlignTextToFramePadding();
                text_line(ui.fonts.caption, ui.theme.muted, "… " + std::to_string(heads - head) + " more: keys 1–9");
                break;
            }
            head_chip(ui, session, attention, head, commands);
        }
    }
    int moved = 0;
    const Index batch = session.cursor().place.batch;
    counter(ui, "batch", "batch", batch, session.shown().scenario.inputs.batch(), moved);
    if (moved != 0) commands.push_back(command::ChooseBatch{batch + moved});
    const Step& step = session.step();
    if (const Index block = block_number(step); block >= 0) {
        ImGui::SameLine(0, ui.px(16));
        counter(ui, "layer", "layer", block, blocks_in_stack(session, step), moved);
        if (moved != 0) commands.push_back(command::MoveLayer{moved});
    }
    if (shows_mask(session, step)) {
        ImGui::SameLine(0, ui.px(16));
        if (toggle_button(ui, "Paint mask", state.painting, "Paint the mask with the left button (P). The right button always paints; Shift paints all heads."))
            state.painting = !state.painting;
    }
    ImGui::EndGroup();
}

void draw_hint(const Ui& ui, const ViewState& state, Area area) {
    if (state.hint_done) return;
    draw_text(ui, ui.fonts.caption, {area.low.x, area.low.y}, ui.theme.accent,
              "→ next step   ·   click any number   ·   right-drag paints the mask   ·   F1 keys", area.width());
}

}  // namespace

void draw_step_tab(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands) {
    const Step& result = session.step();
    const float pad = ui.px(16), choices = ui.px(72), hint = ui.px(20);
    const Area inner = {{area.low.x + pad, area.low.y + ui.px(12)}, {area.high.x - pad, area.high.y - choices - hint - ui.px(8)}};
    std::optional<std::pair<std::string, Cell>> hovered;
    const Arrangement arrangement = arrange(ui, session, state, result, inner);
    const auto cell = explained_cell(session, state, result);
    const Explanation* explanation = cell ? &state.explanations.get(session.shown(), result, *cell) : nullptr;
    const Index heads = session.shown().scenario.config().nhead;
    for (const Card& card : arrangement.operands) {
        std::optional<CellRect> lit;
        for (std::size_t i = 0; explanation != nullptr && i < result.operands.size() && !lit; ++i)
            if (result.operands[i] == card.step.id) lit = lit_cells(*explanation, i, slice_of(card.step, session.cursor().place, heads));
        draw_card(ui, session, state, card, lit, hovered, commands);
    }
    if (!arrangement.operands.empty()) {
        if (arrangement.downwards) draw_arrow_down(ui, result, arrangement.operation);
        else draw_arrow_right(ui, result, arrangement.operation);
    }
    draw_card(ui, session, state, {result, arrangement.result, true}, std::nullopt, hovered, commands);
    state.hovered = hovered;
    draw_choices(ui, session, state, {{inner.low.x, area.high.y - choices}, {inner.high.x, area.high.y}}, commands);
    draw_hint(ui, state, {{inner.low.x, area.high.y - choices - hint}, {inner.high.x, area.high.y - choices}});
}

}  // namespace decoderscope

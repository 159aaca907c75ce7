
#include "app/core/text/numbers.h"
#include "app/views/frame/place_choices.h"
#include "app/views/tabs/heads/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>

namespace decoderscope::views::heads {

namespace {

// ---- the choices above the grid

float width_of(std::span<const char* const> labels, const Ui& ui) {
    float width = 0.0F;
    for (const char* label : labels) width += button_width(label) + ui.px(2);
    return width;
}

// The choice of the kind of attention; for a model with a single kind, its name instead.
FlowItem kind_item(const Ui& ui, const core::Session& session, HeadsTabState& heads) {
    std::vector<core::heads::AttentionKind> kinds;
    std::vector<const char*> names;
    const std::array<const char*, 3> all_names = {tr("Self"), tr("Cross"), tr("Encoder")};
    for (const core::heads::AttentionKind kind : core::heads::kAttentionKinds) {
        if (core::heads::attentions_of_kind(session.shown().run->plan(), kind).empty()) continue;
        kinds.push_back(kind);
        names.push_back(all_names[static_cast<std::size_t>(kind)]);
    }
    if (kinds.size() < 2)
        return {compat::text_size(ui.fonts.caption, tr("self-attention only")).x, 0.0F,
                [&ui] { word_beside(ui, tr("self-attention only")); }};
    return {width_of(names, ui), 0.0F, [&ui, &heads, kinds, names] {
                const auto chosen = std::find(kinds.begin(), kinds.end(), heads.kind) - kinds.begin();
                const int clicked = segmented(ui, "kind", names, static_cast<int>(chosen));
                if (clicked >= 0) heads.kind = kinds[static_cast<std::size_t>(clicked)];
            }};
}

FlowItem order_item(const Ui& ui, HeadsTabState& heads) {
    const std::array<const char*, 3> orders = {tr("By layer"), tr("Highest first"), tr("Lowest first")};
    return {width_of(orders, ui), ui.px(16), [&ui, &heads, orders] {
                const int clicked = segmented(ui, "order", orders, static_cast<int>(heads.order));
                if (clicked >= 0) heads.order = static_cast<core::heads::HeadOrder>(clicked);
            }};
}

void add_measures(std::vector<FlowItem>& items, const Ui& ui, HeadsTabState& heads) {
    for (std::size_t i = 0; i < core::heads::kPatternMeasures.size(); ++i) {
        const core::heads::PatternMeasure measure = core::heads::kPatternMeasures[i];
        items.push_back(toggle_item(ui, std::string(core::heads::measure_name(measure)), std::to_string(i),
                                    heads.measure == measure, std::string(core::heads::measure_sentence(measure)),
                                    ui.px(i == 0 ? 16 : 2), [&heads, measure] { heads.measure = measure; }));
    }
}

// "≥ ──▮──── 0.50"
void choose_threshold(const Ui& ui, HeadsTabState& heads, double top) {
    if (toggle_button(ui, heads.at_most ? "≤" : "≥", false,
                      tr("Which heads stay bright: those from the threshold up, or down from it"))) {
        heads.at_most = !heads.at_most;
        heads.threshold = 1.0F - heads.threshold;
    }
    ImGui::SameLine(0, ui.px(2));
    const bool all = heads.at_most ? heads.threshold >= 1.0F : heads.threshold <= 0.0F;
    const std::string text = core::fixed_text(static_cast<double>(heads.threshold) * top, 2);
    ImGui::SetNextItemWidth(ui.px(88));
    ImGui::SliderFloat("##threshold", &heads.threshold, 0.0F, 1.0F, "", ImGuiSliderFlags_NoInput);
    if (!ImGui::IsItemActive()) tooltip(tr("Dims the heads on the other side of this value of the measure"));
    ImGui::SameLine(0, ui.px(8));
    ImGui::AlignTextToFramePadding();
    text_line({ui.fonts.caption, all ? ui.theme.muted : ui.theme.text}, all ? tr("all heads") : text);
}

// Returns the height used.
float draw_choices_of_grid(const Ui& ui, const core::Session& session, HeadsTabState& heads, double top, Area area,
                           Commands& commands) {
    std::vector<FlowItem> items = {kind_item(ui, session, heads), order_item(ui, heads),
                                   batch_item(ui, session, ui.px(16), commands)};
    add_measures(items, ui, heads);
    items.push_back({ui.px(190), ui.px(14), [&ui, &heads, top] { choose_threshold(ui, heads, top); }});
    const std::size_t lines = control_lines(ui, area.height());
    return draw_flow(ui, items, area, lines);
}

// What the measure tells, and what the colours mean: in one line, or one below the other; without room for that in a
// low page, the colours alone. Returns the y below.
float draw_caption(const Ui& ui, const HeadsTabState& heads, core::Range weights, Area line, bool low) {
    const std::string most = core::short_number_text(static_cast<double>(weights.high), 3);
    const auto number = [&](const std::string& text) { return compat::text_size(ui.fonts.mono_small, text).x; };
    const float bar = ui.px(64), word = compat::text_size(ui.fonts.caption, tr("weight")).x;
    const float start = line.high.x - bar - number("0") - number(most) - word - ui.px(18);
    const std::string sentence(core::heads::measure_sentence(heads.measure));
    const float room = start - line.low.x - ui.px(12);
    // The longest of the sentences has room: another measure moves nothing.
    bool beside = true;
    std::size_t lines = 1;
    for (const core::heads::PatternMeasure measure : core::heads::kPatternMeasures) {
        const std::string any(core::heads::measure_sentence(measure));
        beside = beside && compat::text_size(ui.fonts.caption, any).x <= room;
        lines = std::max(lines, lines_of(ui.fonts.caption, any, line.width()).size());
    }
    if (beside) {
        draw_text(ui, ui.note(), line.low, sentence);
    } else if (!low) {
        constexpr std::size_t kMost = 3;
        draw_prose(ui, line.low, line.width(), ui.theme.muted, sentence, kMost);
        const float height =
            (compat::font_size(ui.fonts.caption) + ui.px(4)) * static_cast<float>(std::min(lines, kMost));
        line = {{line.low.x, line.low.y + height}, {line.high.x, line.high.y + height}};
    }
    float x = start;
    x += draw_text(ui, ui.note(), {x, line.low.y}, tr("weight")) + ui.px(8);
    x += draw_text(ui, {ui.fonts.mono_small, ui.theme.muted}, {x, line.low.y}, "0") + ui.px(5);
    const float middle = (line.low.y + line.high.y) * 0.5F;
    draw_color_bar(ui, {{x, middle - ui.px(4)}, {x + bar, middle + ui.px(4)}}, {0.0F, 1.0F}, core::Scale::sequential,
                   ui.theme.sequential, 32);
    draw_text(ui, {ui.fonts.mono_small, ui.theme.muted}, {x + bar + ui.px(5), line.low.y}, most);
    click_at("legend", {{start, line.low.y}, line.high});
    tooltip(
        tr("The colours of all heads span the same weights, from 0 to the largest of this grid, so that heads can be "
           "compared"));
    return line.high.y;
}

// ---- the grid

// Where the heads are: one column per head of a layer; those of a single layer in as many lines as make them largest.
struct Grid {
    Index columns = 1, rows = 1;
    bool in_layers = false;  // a line is a layer
    ImVec2 cell, origin;
    CellStyle style;
};

Index lines(Index count, Index columns) { return (count + columns - 1) / columns; }

// How many of a single layer's heads stand in a line.
Index most_legible_columns(const Ui& ui, Index count, CellStyle style, Area area) {
    const auto side = [&](Index columns) {
        return std::min(area.width() / static_cast<float>(columns),
                        area.height() / static_cast<float>(lines(count, columns)) - cell_text_height(ui, style));
    };
    Index best = count;
    for (Index columns = count - 1; columns >= 1; --columns)
        if (side(columns) > side(best)) best = columns;
    return best;
}

Grid lay_out(const Ui& ui, const std::vector<core::heads::HeadScore>& scores, core::Range weights, bool by_layer,
             Area area) {
    Grid grid;
    const auto count = static_cast<Index>(scores.size());
    for (const core::heads::HeadScore& score : scores) grid.columns = std::max(grid.columns, score.head + 1);
    grid.in_layers = by_layer;
    if (grid.columns == count) {
        const Index columns = most_legible_columns(ui, count, {true, weights, false}, area);
        grid.in_layers = by_layer && columns == count;
        grid.columns = columns;
    }
    grid.rows = lines(count, grid.columns);
    const float left = grid.in_layers ? ui.px(44) : 0.0F, top = grid.in_layers ? ui.px(18) : 0.0F;
    const float room = area.height() - top, height = room / static_cast<float>(grid.rows);
    grid.style = {!grid.in_layers, weights, height < ui.px(grid.in_layers ? 72 : 88)};
    constexpr Index kMany = 24;
    const bool alone = count > kMany && height - cell_text_height(ui, grid.style) < ui.px(30);
    if (alone) grid.style = {false, weights, true, true};
    const float text = cell_text_height(ui, grid.style), least = text + ui.px(grid.in_layers || alone ? 15 : 36);
    const float width = std::min((area.width() - left) / static_cast<float>(grid.columns),
                                 std::max(ui.px(alone ? 24 : 220), height - text));
    // In a narrow window patterns are higher than they are wide, rather than leave the height free.
    constexpr float kHighest = 1.5F;
    grid.cell = {width, std::clamp(height, least, std::max(least, width * kHighest + text))};
    if (least > height)
        grid.cell.x = (area.width() - left - ImGui::GetStyle().ScrollbarSize) / static_cast<float>(grid.columns);
    grid.origin = {area.low.x + left, area.low.y + top};
    return grid;
}

void draw_head_numbers(const Ui& ui, const Grid& grid, float left) {
    draw_text(ui, ui.note(), {left, grid.origin.y - ui.px(17)}, tr("layer"));
    for (Index head = 0; head < grid.columns; ++head) {
        const std::string text = tr("head {head}", {{"head", head}});
        const float middle = grid.origin.x + (static_cast<float>(head) + 0.5F) * grid.cell.x;
        const std::string fits =
            compat::text_size(ui.fonts.caption, text).x < grid.cell.x - ui.px(4) ? text : std::to_string(head);
        draw_text(ui, ui.note(),
                  {middle - compat::text_size(ui.fonts.caption, fits).x * 0.5F, grid.origin.y - ui.px(17)}, fits);
    }
}

void draw_grid(const Ui& ui, const core::Session& session, ViewState& state, const core::heads::MeasuredHeads& measured,
               Area area, Commands& commands) {
    const std::vector<core::heads::HeadScore>& scores = measured.scores;
    const HeadsTabState& heads = state.part<HeadsTabState>();
    const bool by_layer = heads.order == core::heads::HeadOrder::by_layer;
    const Grid grid = lay_out(ui, scores, measured.weights, by_layer, area);
    if (grid.in_layers) draw_head_numbers(ui, grid, area.low.x);
    const std::vector<std::size_t> order = core::heads::ordered(scores, heads.measure, heads.order);
    const float edge = ui.px(2);  // room for the first row's outline
    const float half_line = compat::font_size(ui.fonts.mono_small) * 0.5F;
    scrolled("heads", {{area.low.x, grid.origin.y - edge}, area.high}, [&](ImVec2 start) {
        const ImVec2 origin = {grid.origin.x, start.y + edge};
        for (std::size_t place = 0; place < order.size(); ++place) {
            const auto row = static_cast<Index>(place) / grid.columns,
                       column = static_cast<Index>(place) % grid.columns;
            const ImVec2 low = {origin.x + static_cast<float>(column) * grid.cell.x,
                                origin.y + static_cast<float>(row) * grid.cell.y};
            const Area box = {low, {low.x + grid.cell.x, low.y + grid.cell.y}};
            if (!ImGui::IsRectVisible(box.low, box.high)) continue;
            if (grid.in_layers && column == 0)
                draw_text(ui, ui.number(),
                          {area.low.x + ui.px(10),
                           box.low.y + (grid.cell.y - cell_text_height(ui, grid.style)) * 0.5F - half_line},
                          std::to_string(scores[order[place]].layer));
            draw_head_cell(ui, session, state, scores[order[place]], grid.style, box, commands);
        }
        return origin.y + grid.cell.y * static_cast<float>(grid.rows);
    });
}

}  // namespace

void draw_heads_grid(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    HeadsTabState& heads = state.part<HeadsTabState>();
    const core::Snapshot& shown = session.shown();
    const core::Value<core::heads::MeasuredHeads> known = core::heads::measured_heads(
        session.derived(), shown.scenario, shown.run, heads.kind, session.cursor().place.batch);
    if (!known) {
        draw_text(ui, ui.hint(), area.low, tr("Measuring the heads …"));
        return;
    }
    const core::heads::MeasuredHeads& measured = *known;
    heads.painted = 0;
    const double top =
        measured.scores.empty() ? 1.0 : core::heads::highest_possible(heads.measure, measured.scores.front().keys);
    const float least = ui.px(96);
    const auto draw_from = [&](ImVec2 start) {
        const Area whole = {start, {start.x + area.width(), start.y + area.height()}};
        float y = start.y + draw_choices_of_grid(ui, session, heads, top, whole, commands) + ui.px(2);
        const float line = compat::font_size(ui.fonts.caption);
        y = draw_caption(ui, heads, measured.weights, {{start.x, y}, {whole.high.x, y + line}},
                         control_lines(ui, area.height()) == 1) +
            ui.px(12);
        heads.choices = y - start.y;
        const float bottom = std::max(whole.high.y, y + least);
        draw_grid(ui, session, state, measured, {{start.x, y}, {whole.high.x, bottom}}, commands);
        return bottom;
    };
    if (heads.choices > area.height() - least)  // in a low window the choices scroll with the grid
        scrolled("heads-tab", with_scroll_bar(area), draw_from);
    else
        static_cast<void>(draw_from(area.low));
    state.hovered.reset();
}

}  // namespace decoderscope::views::heads

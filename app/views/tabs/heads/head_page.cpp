
#include "app/core/run/edits.h"
#include "app/core/run/labels.h"
#include "app/core/tabs/step/shown_step.h"
#include "app/core/text/numbers.h"
#include "app/views/frame/cards.h"
#include "app/views/frame/place_choices.h"
#include "app/views/tabs/heads/tab.h"
#include "app/views/widgets/heatmap_layout.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace decoderscope::views::heads {

namespace {

constexpr float kSteps = 20.0F;  // steps of the slider per 1.0 of the factor

// The head that fills the stage: the cursor's.
struct OpenHead {
    std::string attention;
    const Step& pattern;
    Index head, heads;
    float factor;  // requested factor of its z
};

OpenHead open_head(const core::Session& session, const ViewState& state) {
    const std::string& attention = state.part<HeadsTabState>().attention;
    const Step& pattern = *session.shown().run->plan().step_of(attention, AttentionStep::pattern);
    const Index head = session.cursor().place.head;
    return {attention, pattern, head, pattern.axes[1].size,
            core::head_factor(session.fitting_scenario().edits, attention, head)};
}

// ---- the current place

std::vector<FlowItem> heading(const Ui& ui, const core::Session& session, ViewState& state, const OpenHead& open,
                              Commands& commands) {
    const float gap = ui.px(16);
    const Index layer = core::block_number(open.pattern);
    return {{compat::text_size(ui.fonts.text, tr("← All heads")).x, 0.0F,
             [&ui, &state] {
                 ImGui::SetCursorPosY(ImGui::GetCursorPosY() + ImGui::GetStyle().FramePadding.y);
                 if (link(ui, {ui.fonts.text, ui.theme.accent}, tr("← All heads"), 7001))
                     state.part<HeadsTabState>().opened = false;
                 tooltip(tr("Back to the grid (Esc)"));
             }},
            counter_item(ui, tr("head"), open.head, open.heads, gap,
                         [&commands](Index head) { commands.push_back(core::command::ChooseHead{head}); }),
            counter_item(ui, tr("layer"), layer, blocks_in_stack(session, open.pattern), gap,
                         [&open, &session, &commands](Index chosen) {
                             if (const Ref twin = session.shown().run->plan().twin_in(open.pattern, chosen))
                                 commands.push_back(core::command::GoTo{twin->name});
                         }),
            batch_item(ui, session, gap, commands)};
}

// "entropy 0.93 bits", "spread 0.8", …: in as many lines as they need. Returns the y below them.
float draw_measures(const Ui& ui, const core::Session& session, ViewState& state, const OpenHead& open, Area area) {
    const float line = compat::font_size(ui.fonts.caption) + ui.px(4);
    const core::Snapshot& shown = session.shown();
    const core::Value<core::heads::MeasuredHeads> measured = core::heads::measured_heads(
        session.derived(), shown.scenario, shown.run, state.part<HeadsTabState>().kind, session.cursor().place.batch);
    if (!measured) {
        draw_text(ui, ui.note(), area.low, tr("Measuring …"));
        return area.low.y + line;
    }
    ImVec2 at = area.low;
    for (const core::heads::HeadScore& score : measured->scores) {
        if (score.attention != open.attention || score.head != open.head) continue;
        for (std::size_t i = 0; i < core::heads::kPatternMeasures.size(); ++i) {
            const core::heads::PatternMeasure measure = core::heads::kPatternMeasures[i];
            const std::string value =
                measure == core::heads::PatternMeasure::entropy
                    ? tr("{number} bits", {{"number", core::number_text(score.value(measure), 3)}})
                    : core::number_text(score.value(measure), 3);
            const float name = compat::text_size(ui.fonts.caption, core::heads::measure_name(measure)).x;
            const float width = name + ui.px(5) + compat::text_size(ui.fonts.mono_small, value).x;
            if (at.x > area.low.x && at.x + width > area.high.x) at = {area.low.x, at.y + line};
            draw_text(ui, ui.note(), at, core::heads::measure_name(measure));
            draw_text(ui, ui.number(), {at.x + name + ui.px(5), at.y}, value);
            click_at("measure", {at, {at.x + width, at.y + line}}, static_cast<Index>(i));
            tooltip(std::string(core::heads::measure_sentence(measure)).c_str());
            at.x += width + ui.px(14);
        }
    }
    return at.y + line;
}

// ---- its switches

void draw_slider(const Ui& ui, ViewState& state, const OpenHead& open, Commands& commands) {
    float factor = open.factor;
    ImGui::SetNextItemWidth(ui.px(168));
    const bool moved = ImGui::SliderFloat("##factor", &factor, 0.0F, 2.0F, "", ImGuiSliderFlags_NoInput);
    const bool held = ImGui::IsItemActive();
    if (!held) tooltip(tr("Scale this head's z: 0 is off, 1 as the model has it, 2 twice as strong"));
    factor = std::round(factor * kSteps) / kSteps;
    if (moved && factor != open.factor) {
        commands.push_back(
            core::command::ScaleHeadTo{open.attention, open.head, factor, state.part<HeadsTabState>().scaling});
        state.part<HeadsTabState>().scaling = true;
    }
    if (!held) state.part<HeadsTabState>().scaling = false;
    ImGui::SameLine(0, ui.px(8));
    ImGui::AlignTextToFramePadding();
    text_line({ui.fonts.mono, open.factor == 1.0F ? ui.theme.muted : ui.theme.text},
              "z × " + core::fixed_text(static_cast<double>(open.factor), 2));
}

std::vector<FlowItem> switches(const Ui& ui, const core::Session& session, ViewState& state, const OpenHead& open,
                               Commands& commands) {
    const bool off = open.factor == 0.0F,
               solo = core::is_solo(session.fitting_scenario().edits, open.attention, open.head, open.heads);
    const float factor = compat::text_size(ui.fonts.mono, "z × 0.00").x;
    std::vector<FlowItem> items = {
        toggle_item(ui, tr("Off"), "off", off,
                    off ? tr("Switch this head on again") : tr("Switch this head off: its z becomes 0"), 0.0F,
                    [&open, &commands, off] {
                        commands.push_back(core::command::ScaleHeadTo{open.attention, open.head, off ? 1.0F : 0.0F});
                    }),
        toggle_item(ui, tr("Solo"), "solo", solo,
                    solo ? tr("Switch the other heads on again")
                         : tr("Only this head: switches off all the others of this attention"),
                    ui.px(4),
                    [&open, &commands, solo] {
                        commands.push_back(core::command::SoloHead{open.attention, open.head, !solo});
                    }),
        {ui.px(176) + factor, ui.px(8), [&ui, &state, &open, &commands] { draw_slider(ui, state, open, commands); }}};
    if (open.factor != 1.0F)
        items.push_back({button_width(tr("Reset")), ui.px(10), [&open, &commands] {
                             if (button(tr("Reset"), "reset"))
                                 commands.push_back(core::command::ScaleHeadTo{open.attention, open.head, 1.0F});
                             tooltip(tr("As the model has it: z × 1"));
                         }});
    return items;
}

// ---- its pictures

// The pattern's cell under the mouse, by query and key: all pictures are lit for it.
std::optional<std::pair<Index, Index>> pointed_at(const ViewState& state, const OpenHead& open) {
    if (!state.hovered || state.hovered->first != open.pattern.name) return std::nullopt;
    const Cell& cell = state.hovered->second;
    return std::pair{cell[2], cell[3]};
}

// The row or column of the pattern that belongs to a token.
std::optional<core::CellRect> lit_in_pattern(const core::Heatmap& pattern, const std::optional<PatternToken>& token) {
    if (!token) return std::nullopt;
    if (token->is_key) return core::CellRect{0, token->index, pattern.rows, 1};
    return core::CellRect{token->index, 0, 1, pattern.columns};
}

// q, k and v side by side, or in a column; the rows that belong to the pointed-at weight are lit.
void draw_operands(const Ui& ui, const core::Session& session, ViewState& state, const OpenHead& open, Area area,
                   bool in_a_column, Hovered& hovered, Commands& commands) {
    const views::Grid grid = {area, in_a_column ? 1U : 3U, in_a_column ? 3U : 1U, {ui.px(16), ui.px(12)}};
    const auto at = pointed_at(state, open);
    std::size_t number = 0;
    for (const AttentionStep which : {AttentionStep::query, AttentionStep::key, AttentionStep::value}) {
        const Area cell = grid.cell(number++);
        const Ref step = session.shown().run->plan().step_of(open.attention, which);
        if (step == nullptr) continue;
        std::optional<core::CellRect> lit;
        if (at)
            lit = core::CellRect{which == AttentionStep::query ? at->first : at->second, 0, 1, step->axes.back().size};
        draw_card(ui, session, state, {*step, cell, session.step().id == step->id}, lit, hovered, commands);
    }
}

// ---- the pictures' heights

// A step's picture, without numbers if it comes by tiles.
core::Value<core::step::ShownHeatmap> picture_of(const core::Session& session, const Step& step) {
    return core::step::shown_card(session.derived(), session.shown(), step, session.cursor().place);
}

std::vector<float> row_of(const core::Session& session, const Step& step, Index row) {
    return core::step::shown_row(session.derived(), session.shown(), step, session.cursor().place, row)->numbers;
}

HeatmapNeeds needs_of(const Ui& ui, const core::Session& session, const Step& step, float width) {
    return views::needs_of(ui, picture_of(session, step)->heatmap, width);
}

// How the pictures share the page.
enum class Arrangement {
    stacked,  // pattern, lines, and q, k and v, one below the other
    below,    // pattern and lines, below them q, k and v
    rows,     // the same, if there is no room for q, k and v: between them the rows of one query and key
    beside,   // pattern, lines, and a column of q, k and v: wide windows
};

// The heights of the pattern, of its lines, and of q, k and v: they share the room, or are scrolled in it.
struct PageHeights {
    float pattern, lines, operands;
    Arrangement arrangement;

    [[nodiscard]] bool stacked() const { return arrangement == Arrangement::stacked; }
    [[nodiscard]] float upper() const { return stacked() ? pattern + lines : pattern; }
};

// A row of q, of k and of v: their title, their columns' labels, their cells.
float rows_height(const Ui& ui) { return compat::font_size(ui.fonts.mono_small) * 2.0F + ui.px(12 + 3 * 17); }

PageHeights page_heights(const Ui& ui, const core::Session& session, const OpenHead& open, ImVec2 room) {
    const bool stacked = room.x < ui.px(540);
    const float width = stacked ? room.x : std::floor(room.x * 0.5F);
    const HeatmapNeeds needs = needs_of(ui, session, open.pattern, width);
    const SizeHint pattern = wanted_height(ui, needs, width);
    const Axes& axes = open.pattern.axes;
    const float lines =
        ui.px(76) + ui.px(16) * static_cast<float>(std::min<Index>(kFew, std::max(axes[2].size, axes[3].size)));
    const Ref query = session.shown().run->plan().step_of(open.attention, AttentionStep::query);
    const float third = (room.x - ui.px(32)) / 3;
    const SizeHint operands =
        query == nullptr ? SizeHint{} : wanted_height(ui, needs_of(ui, session, *query, third), third);
    const float free = room.y - ui.px(12);
    if (stacked) return {height_in_view(ui, needs, pattern, room.y), lines, operands.least, Arrangement::stacked};
    if (query != nullptr && room.x >= ui.px(1000) && 3.0F * operands.least + ui.px(24) <= room.y)
        return {room.y, room.y, room.y, Arrangement::beside};
    if (pattern.least + operands.least <= free) {
        const std::array wants = {pattern, operands};
        const std::vector<float> shared = shares(free, wants);
        return {shared[0], lines, shared[1], Arrangement::below};
    }
    const float rows = rows_height(ui) + ui.px(8);
    const float seen = std::max(room.y - rows, std::min(room.y, pattern.least));
    return {height_in_view(ui, needs, pattern, seen), lines, operands.least, Arrangement::rows};
}

// The query and the key whose rows of q, k and v are shown: pointed at, selected, or kept; otherwise what the first
// query attends to most.
std::pair<Index, Index> pair_shown(const core::Session& session, const ViewState& state, const OpenHead& open,
                                   const core::Heatmap& pattern) {
    if (const auto at = pointed_at(state, open)) return *at;
    const std::optional<Cell>& cell = session.cursor().cell;
    if (cell && session.step().axes == open.pattern.axes) return {(*cell)[2], (*cell)[3]};
    const std::optional<PatternToken>& kept = state.part<HeadsTabState>().pinned;
    const Index query = kept && !kept->is_key ? std::min(kept->index, pattern.rows - 1) : 0;
    const Index keys = pattern.own_columns();
    if (kept && kept->is_key) return {query, std::min(kept->index, keys - 1)};
    const std::vector<float> weights = row_of(session, open.pattern, query);
    Index key = 0;
    for (Index i = 1; i < keys; ++i)
        if (weights[static_cast<std::size_t>(i)] > weights[static_cast<std::size_t>(key)]) key = i;
    return {query, key};
}

// The rows of q, k and v of one query and one key, one below the other.
struct Rows {
    core::Heatmap heatmap;
    std::vector<Ref> steps;      // of each row
    std::vector<Index> at;       // which row of it
    std::uint64_t version = 17;  // of all that they were read from
};

Rows rows_of_pair(const core::Session& session, const OpenHead& open, Index query, Index key) {
    Rows rows;
    const core::Snapshot& shown = session.shown();
    for (const auto& [which, letter] :
         {std::pair{AttentionStep::query, "q"}, {AttentionStep::key, "k"}, {AttentionStep::value, "v"}}) {
        const Ref step = shown.run->plan().step_of(open.attention, which);
        if (step == nullptr) continue;
        const auto whole = picture_of(session, *step);
        const core::Heatmap& from = whole->heatmap;
        if (rows.heatmap.rows > 0 && from.columns != rows.heatmap.columns) continue;  // v may be of another width
        const Index row = std::min(which == AttentionStep::query ? query : key, from.rows - 1);
        const std::vector<float> numbers = row_of(session, *step, row);
        rows.heatmap.columns = from.columns;
        rows.heatmap.column_labels = from.column_labels;
        rows.heatmap.column_axis = from.column_axis;
        rows.heatmap.row_labels.push_back(std::string(letter) + " " + std::to_string(row) + " " +
                                          from.row_labels[static_cast<std::size_t>(row)]);
        rows.heatmap.values.insert(rows.heatmap.values.end(), numbers.begin(), numbers.end());
        ++rows.heatmap.rows;
        rows.steps.push_back(step);
        rows.at.push_back(row);
        rows.version = (rows.version * 1000003 + whole.number()) * 4099 + static_cast<std::uint64_t>(row);
    }
    rows.heatmap.range = core::range_of(rows.heatmap.values, rows.heatmap.scale);
    return rows;
}

// As above, as a picture with its numbers; a click goes to the cell.
void draw_rows(const Ui& ui, const core::Session& session, ViewState& state, const OpenHead& open, Area area,
               Commands& commands) {
    const std::uint64_t picture_key = heatmap_key("heads");
    const core::Snapshot& shown = session.shown();
    const core::Place place = session.cursor().place;
    const auto [query, key] = pair_shown(session, state, open, picture_of(session, open.pattern)->heatmap);
    Rows rows = rows_of_pair(session, open, query, key);
    if (rows.heatmap.rows == 0) return;
    rows.heatmap.title = tr("q of query {query}, k and v of key {key}", {{"query", query}, {"key", key}});
    const HeatmapGesture gesture = draw_heatmap(ui,
                                                {.heatmap = rows.heatmap,
                                                 .key = picture_key,
                                                 .version = rows.version,
                                                 .color = color_of(Meaning::query),
                                                 .stale = session.stale(),
                                                 .legend = Legend::none,
                                                 .grid = true,
                                                 .scrolls_with = true},
                                                state.viewports[picture_key], area);
    const auto cell_of = [&](Spot spot) {
        const auto row = static_cast<std::size_t>(spot.first);
        const Step& step = *rows.steps[row];
        return std::pair{step.name,
                         core::slice_of(step, place, shown.scenario.query_heads()).cell(rows.at[row], spot.second)};
    };
    if (gesture.hovered && begin_tooltip_beside(gesture.cell)) {
        const auto [tensor, cell] = cell_of(*gesture.hovered);
        const float value = rows.heatmap.at(gesture.hovered->first, gesture.hovered->second);
        text_line(ui.number(), cell_name(tensor, cell) + " = " + short_number(static_cast<double>(value)));
        ImGui::EndTooltip();
    }
    if (!gesture.clicked) return;
    const auto [tensor, cell] = cell_of(*gesture.clicked);
    commands.push_back(core::command::Follow{tensor, cell});
}

void draw_pattern(const Ui& ui, const core::Session& session, ViewState& state, const OpenHead& open, Area area,
                  const PageHeights& heights, Hovered& hovered, Commands& commands) {
    const float gap = ui.px(20), share = heights.arrangement == Arrangement::beside ? 0.64F : 0.5F;
    const float half = std::floor(area.width() * share);
    const Area picture = {area.low,
                          {heights.stacked() ? area.high.x : area.low.x + half, area.low.y + heights.pattern}};
    const Area lines_area = heights.stacked() ? Area{{area.low.x, picture.high.y + ui.px(8)}, area.high}
                                              : Area{{picture.high.x + gap, area.low.y}, area.high};
    const auto shown = picture_of(session, open.pattern);
    const core::Heatmap& heatmap = shown->heatmap;
    std::optional<PatternToken> lit;
    if (const auto at = pointed_at(state, open)) lit = PatternToken{false, at->first};
    const core::Place place = session.cursor().place;
    const auto lines = core::heads::shown_pattern_lines(session.derived(), session.shown(), open.pattern, place);
    const auto weights_of = [&](PatternToken of) {
        if (!of.is_key) return row_of(session, open.pattern, of.index);
        const auto on_key =
            core::heads::shown_weights_on(session.derived(), session.shown(), open.pattern, place, of.index);
        return on_key ? on_key->weights : std::vector<float>();
    };
    const auto token = draw_bipartite(ui, heatmap, lines ? *lines : core::PatternLines(), weights_of, lit,
                                      state.part<HeadsTabState>().pinned, lines_area);
    const auto row = lit_in_pattern(heatmap, token ? token : state.part<HeadsTabState>().pinned);
    const bool is_result = session.step().id == open.pattern.id;
    draw_card(ui, session, state, {open.pattern, picture, is_result}, row, hovered, commands);
}

}  // namespace

void draw_head_page(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    const OpenHead open = open_head(session, state);
    const std::size_t lines = control_lines(ui, area.height());
    std::vector<FlowItem> items = heading(ui, session, state, open, commands);
    std::vector<FlowItem> more = switches(ui, session, state, open, commands);
    float y = area.low.y;
    if (lines == kAnyLines) {
        y += draw_flow(ui, items, area);
        items.clear();
    } else {
        more.front().gap = ui.px(16);
    }
    items.insert(items.end(), more.begin(), more.end());
    y += draw_flow(ui, items, {{area.low.x, y}, area.high}, lines);
    if (lines == kAnyLines)  // else the inspector alone says them
        y = draw_measures(ui, session, state, open, {{area.low.x, y + ui.px(2)}, {area.high.x, y + ui.px(20)}}) +
            ui.px(6);
    const Area below = {{area.low.x, y}, area.high};
    Hovered hovered;
    scrolled("head-pictures", with_scroll_bar(below), [&](ImVec2 start) {
        const PageHeights heights = page_heights(ui, session, open, {below.width(), below.height()});
        const float right = start.x + below.width();
        if (heights.arrangement == Arrangement::beside) {
            const float column = std::floor(below.width() * 0.34F);
            draw_pattern(ui, session, state, open, {start, {right - column - ui.px(24), start.y + heights.pattern}},
                         heights, hovered, commands);
            draw_operands(ui, session, state, open, {{right - column, start.y}, {right, start.y + heights.operands}},
                          true, hovered, commands);
            return start.y;
        }
        float y_below = start.y + heights.upper() + ui.px(8);
        draw_pattern(ui, session, state, open, {start, {right, start.y + heights.upper()}}, heights, hovered, commands);
        if (heights.arrangement == Arrangement::rows) {
            draw_rows(ui, session, state, open, {{start.x, y_below}, {right, y_below + rows_height(ui)}}, commands);
            y_below += rows_height(ui);
        }
        y_below += ui.px(4);
        draw_operands(ui, session, state, open, {{start.x, y_below}, {right, y_below + heights.operands}}, false,
                      hovered, commands);
        return y_below + heights.operands;
    });
    state.hovered = hovered;
}

}  // namespace decoderscope::views::heads

#include "app/views/labs/heads/head_page.h"

#include "app/core/labs/heads/shown_heads.h"
#include "app/core/labs/step/shown_step.h"
#include "app/core/run/edits.h"
#include "app/core/run/labels.h"
#include "app/core/text/numbers.h"
#include "app/views/frame/cards.h"
#include "app/views/labs/heads/head_patterns.h"
#include "app/views/labs/heads/lab.h"
#include "app/views/widgets/heatmap_layout.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/row_layout.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

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
            core::head_factor(session.scenario().edits, attention, head)};
}

// ---- the current place

Index layers_of(const core::Session& session, const Step& pattern) {
    Index count = 0;
    while (session.shown().run->plan().twin_in(pattern, count) != nullptr) ++count;
    return count;
}

std::vector<FlowItem> heading(const Ui& ui, const core::Session& session, ViewState& state, const OpenHead& open,
                              Commands& commands) {
    const float gap = ui.px(16);
    const Index layer = core::block_number(open.pattern), batch = session.cursor().place.batch;
    return {{compat::text_size(ui.fonts.text, tr("← All heads")).x, 0.0F,
             [&ui, &state] {
                 ImGui::SetCursorPosY(ImGui::GetCursorPosY() + ImGui::GetStyle().FramePadding.y);
                 if (link(ui, ui.fonts.text, ui.theme.accent, tr("← All heads"), 7001))
                     state.part<HeadsTabState>().opened = false;
                 tooltip(tr("Back to the grid (Esc)"));
             }},
            {counter_width(ui, tr("head"), open.head), gap,
             [&ui, &open, &commands] {
                 if (const int moved = counter(ui, tr("head"), open.head, open.heads); moved != 0)
                     commands.push_back(core::command::ChooseHead{open.head + moved});
             }},
            {counter_width(ui, tr("layer"), layer), gap,
             [&ui, &open, &session, &commands, layer] {
                 if (const int moved = counter(ui, tr("layer"), layer, layers_of(session, open.pattern)); moved != 0)
                     if (const Ref twin = session.shown().run->plan().twin_in(open.pattern, layer + moved))
                         commands.push_back(core::command::GoTo{twin->name});
             }},
            {counter_width(ui, tr("batch"), batch), gap, [&ui, &session, &commands, batch] {
                 const Index rows = session.shown().scenario.batch();
                 if (const int moved = counter(ui, tr("batch"), batch, rows); moved != 0)
                     commands.push_back(core::command::ChooseBatch{batch + moved});
             }}};
}

// "entropy 0.93 bits", "spread 0.8", …: in as many lines as they need. Returns the y below them.
float draw_measures(const Ui& ui, const core::Session& session, ViewState& state, const OpenHead& open, Area area) {
    const float line = compat::font_size(ui.fonts.caption) + ui.px(4);
    const core::Snapshot& shown = session.shown();
    const core::Value<core::heads::MeasuredHeads> measured = core::heads::measured_heads(
        session.derived(), shown.scenario, shown.run, state.part<HeadsTabState>().kind, session.cursor().place.batch);
    if (!measured) {
        draw_text(ui, ui.fonts.caption, area.low, ui.theme.muted, tr("Measuring …"));
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
            draw_text(ui, ui.fonts.caption, at, ui.theme.muted, core::heads::measure_name(measure));
            draw_text(ui, ui.fonts.mono_small, {at.x + name + ui.px(5), at.y}, ui.theme.text, value);
            ImGui::SetCursorScreenPos(at);
            ImGui::PushID(static_cast<int>(i));
            ImGui::InvisibleButton("measure", {width, line});
            ImGui::PopID();
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
    text_line(ui.fonts.mono, open.factor == 1.0F ? ui.theme.muted : ui.theme.text,
              "z × " + core::fixed_text(static_cast<double>(open.factor), 2));
}

std::vector<FlowItem> switches(const Ui& ui, const core::Session& session, ViewState& state, const OpenHead& open,
                               Commands& commands) {
    const bool off = open.factor == 0.0F,
               solo = core::is_solo(session.scenario().edits, open.attention, open.head, open.heads);
    const float factor = compat::text_size(ui.fonts.mono, "z × 0.00").x;
    std::vector<FlowItem> items = {
        {button_width(tr("Off")), 0.0F,
         [&ui, &open, &commands, off] {
             if (toggle_button(ui, labelled(tr("Off"), "off").c_str(), off,
                               off ? tr("Switch this head on again") : tr("Switch this head off: its z becomes 0")))
                 commands.push_back(core::command::ScaleHeadTo{open.attention, open.head, off ? 1.0F : 0.0F});
         }},
        {button_width(tr("Solo")), ui.px(4),
         [&ui, &open, &commands, solo] {
             if (toggle_button(ui, labelled(tr("Solo"), "solo").c_str(), solo,
                               solo ? tr("Switch the other heads on again")
                                    : tr("Only this head: all the others of this attention off")))
                 commands.push_back(core::command::SoloHead{open.attention, open.head, !solo});
         }},
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

// q, k and v side by side; the rows that belong to the pointed-at weight are lit.
void draw_operands(const Ui& ui, const core::Session& session, ViewState& state, const OpenHead& open, Area area,
                   Hovered& hovered, Commands& commands) {
    const float gap = ui.px(16), width = std::floor((area.width() - gap * 2) / 3);
    const auto at = pointed_at(state, open);
    float x = area.low.x;
    for (const AttentionStep which : {AttentionStep::query, AttentionStep::key, AttentionStep::value}) {
        if (const Ref step = session.shown().run->plan().step_of(open.attention, which)) {
            std::optional<core::CellRect> lit;
            if (at)
                lit = core::CellRect{which == AttentionStep::query ? at->first : at->second, 0, 1,
                                     step->axes.back().size};
            const bool is_result = session.step().id == step->id;
            draw_card(ui, session, state, {*step, {{x, area.low.y}, {x + width, area.high.y}}, is_result}, lit, hovered,
                      commands);
        }
        x += width + gap;
    }
}

// ---- the pictures' heights

Want height_of(const Ui& ui, const core::Session& session, const Step& step, float width) {
    const core::Heatmap& heatmap =
        core::step::shown_heatmap(session.derived(), session.shown(), step, session.cursor().place)->heatmap;
    const HeatmapNeeds needs = needs_of(ui, heatmap, width);
    const HeatmapSizes sizes = sizes_of(ui, needs);
    const float most = fitted_height(ui, needs, width, 1e6F);
    return {std::min(sizes.least.y, most), std::min(sizes.good.y, most), most};
}

// The heights of the pattern, of its lines, and of q, k and v: they share the room, or are scrolled in it.
struct PageHeights {
    float pattern, lines, operands;
    bool stacked;  // the lines are below the pattern, else beside it

    [[nodiscard]] float upper() const { return stacked ? pattern + lines : pattern; }
};

PageHeights page_heights(const Ui& ui, const core::Session& session, const OpenHead& open, ImVec2 room) {
    const bool stacked = room.x < ui.px(540);
    const Want pattern = height_of(ui, session, open.pattern, stacked ? room.x : std::floor(room.x * 0.5F));
    const Axes& axes = open.pattern.axes;
    const float lines =
        ui.px(76) + ui.px(16) * static_cast<float>(std::min<Index>(kFew, std::max(axes[2].size, axes[3].size)));
    const Ref query = session.shown().run->plan().step_of(open.attention, AttentionStep::query);
    const Want operands = query == nullptr ? Want{} : height_of(ui, session, *query, (room.x - ui.px(32)) / 3);
    const float free = room.y - ui.px(12);
    if (stacked || pattern.good + operands.least > free)
        return {std::max(pattern.least, std::min(pattern.good, room.y)), lines, operands.least, stacked};
    const std::array wants = {pattern, operands};
    const std::vector<float> shared = shares(free, wants);
    return {shared[0], lines, shared[1], stacked};
}

void draw_pattern(const Ui& ui, const core::Session& session, ViewState& state, const OpenHead& open, Area area,
                  const PageHeights& heights, Hovered& hovered, Commands& commands) {
    const float gap = ui.px(20), half = std::floor(area.width() * 0.5F);
    const Area picture = {area.low, {heights.stacked ? area.high.x : area.low.x + half, area.low.y + heights.pattern}};
    const Area lines_area = heights.stacked ? Area{{area.low.x, picture.high.y + ui.px(8)}, area.high}
                                            : Area{{picture.high.x + gap, area.low.y}, area.high};
    const core::Heatmap& heatmap =
        core::step::shown_heatmap(session.derived(), session.shown(), open.pattern, session.cursor().place)->heatmap;
    std::optional<PatternToken> lit;
    if (const auto at = pointed_at(state, open)) lit = PatternToken{false, at->first};
    const core::heads::PatternLines lines =
        *core::heads::shown_pattern_lines(session.derived(), session.shown(), open.pattern, session.cursor().place);
    const auto token = draw_bipartite(ui, heatmap, lines, lit, state.part<HeadsTabState>().pinned, lines_area);
    const auto row = lit_in_pattern(heatmap, token ? token : state.part<HeadsTabState>().pinned);
    const bool is_result = session.step().id == open.pattern.id;
    draw_card(ui, session, state, {open.pattern, picture, is_result}, row, hovered, commands);
}

}  // namespace

void draw_head_page(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    const OpenHead open = open_head(session, state);
    float y = area.low.y;
    for (const std::vector<FlowItem>& items :
         {heading(ui, session, state, open, commands), switches(ui, session, state, open, commands)}) {
        const float height = flow_height(ui, items, area.width());
        draw_flow(ui, items, {{area.low.x, y}, {area.high.x, y + height}});
        y += height;
    }
    y = draw_measures(ui, session, state, open, {{area.low.x, y + ui.px(2)}, {area.high.x, y + ui.px(20)}}) + ui.px(6);
    const Area below = {{area.low.x, y}, area.high};
    const float bar = ImGui::GetStyle().ScrollbarSize;
    ImGui::SetCursorScreenPos(below.low);
    compat::begin_child("head-pictures", {std::max(below.width() + bar, 1.0F), std::max(below.height(), 1.0F)});
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const PageHeights heights = page_heights(ui, session, open, {below.width(), below.height()});
    const float middle = start.y + heights.upper(), right = start.x + below.width();
    Hovered hovered;
    draw_pattern(ui, session, state, open, {start, {right, middle}}, heights, hovered, commands);
    draw_operands(ui, session, state, open,
                  {{start.x, middle + ui.px(12)}, {right, middle + ui.px(12) + heights.operands}}, hovered, commands);
    ImGui::SetCursorScreenPos(start);
    ImGui::Dummy({1, heights.upper() + ui.px(12) + heights.operands});
    ImGui::EndChild();
    state.hovered = hovered;
}

}  // namespace decoderscope::views::heads

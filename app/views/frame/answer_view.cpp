#include "app/views/frame/answer_view.h"

#include "app/views/frame/curves_view.h"
#include "app/views/frame/table_view.h"
#include "app/views/widgets/heatmap_view.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace decoderscope::views {

namespace {

constexpr int kDigits = 5;

// What is drawn in one frame.
struct Drawing {
    const Ui& ui;
    const char* id;
    std::uint64_t version;
    ViewState& state;
    Commands& commands;
    std::optional<std::size_t> chosen = std::nullopt;
};

void go_to_step(const std::string& step, ViewState& state, Commands& commands) {
    state.tab = core::files::kStepTab;
    commands.push_back(core::command::GoTo{step});
}

// Leads to a row's step, to the head or the cell of it that it names.
void follow(const core::TableRow& row, ViewState& state, Commands& commands) {
    state.tab = core::files::kStepTab;
    if (row.cell.empty())
        commands.push_back(core::command::GoTo{row.step});
    else
        commands.push_back(core::command::Follow{row.step, row.cell});
    if (row.head) commands.push_back(core::command::ChooseHead{*row.head});
}

// ---- pictures

void say_cell(const Ui& ui, const core::AnswerPart& part, const core::Heatmap& picture, const HeatmapGesture& gesture,
              const std::string& step) {
    if (!begin_tooltip_beside(gesture.cell)) return;
    const auto [row, column] = *gesture.hovered;
    text_line(ui.fonts.mono_small, ui.theme.text, step);
    text_line(ui.fonts.caption, ui.theme.muted,
              tr("position {position} “{token}”",
                 {{"position", column}, {"token", picture.column_labels[static_cast<std::size_t>(column)]}}));
    const auto number = static_cast<double>(picture.at(row, column));
    text_line(ui.fonts.text, ui.theme.text, tr(part.says, {{"number", core::text_of(number, core::Unit::number)}}));
    text_line(ui.fonts.caption, ui.theme.muted, tr("Click to go there"));
    ImGui::EndTooltip();
}

AnswerGesture draw_picture(const Drawing& d, const core::AnswerPart& part, std::size_t number, Area area,
                           bool in_flow) {
    const core::Heatmap& picture = part.pictures[number];
    const std::uint64_t key = heatmap_key(d.id, number);
    const HeatmapGesture gesture = draw_heatmap(d.ui,
                                                {.heatmap = picture,
                                                 .key = key,
                                                 .version = d.version,
                                                 .color = color_of(part.meaning),
                                                 .legend = Legend::bar,
                                                 .grid = !in_flow,
                                                 .scrolls_with = in_flow},
                                                d.state.viewports[key], area);
    const auto step = [&](Index row) { return part.steps[number][static_cast<std::size_t>(row)]; };
    if (gesture.hovered && !part.steps.empty()) say_cell(d.ui, part, picture, gesture, step(gesture.hovered->first));
    if (!gesture.clicked) return {};
    if (part.steps.empty()) return {true, number, gesture.clicked->first, gesture.clicked->second};
    go_to_step(step(gesture.clicked->first), d.state, d.commands);
    return {};
}

// Small multiples, in as many columns as keep each readable.
AnswerGesture draw_pictures(const Drawing& d, const core::AnswerPart& part, Area area) {
    AnswerGesture made;
    const std::size_t count = part.pictures.size();
    const float least = d.ui.px(260), gap = d.ui.px(10);
    const auto most = static_cast<std::size_t>(std::max(1.0F, std::floor(area.width() / least)));
    const std::size_t columns = std::clamp<std::size_t>(count, 1, most), rows = (count + columns - 1) / columns;
    const float width = (area.width() - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
    const float height = rows == 1 ? area.height() : std::max(least, area.height() / static_cast<float>(rows) - gap);
    begin_part("pictures", area);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    for (std::size_t i = 0; i < count; ++i) {
        const ImVec2 low = {start.x + static_cast<float>(i % columns) * (width + gap),
                            start.y + static_cast<float>(i / columns) * (height + gap)};
        const AnswerGesture gesture = draw_picture(d, part, i, {low, {low.x + width, low.y + height}}, false);
        if (gesture.clicked) made = gesture;
    }
    ImGui::SetCursorScreenPos(start);
    ImGui::Dummy({1, static_cast<float>(rows) * (height + (rows == 1 ? 0.0F : gap))});
    ImGui::EndChild();
    return made;
}

// ---- curves

// Which curve is which, with its number at the chosen place.
void draw_legend(const Drawing& d, const core::Chart& chart, Area area) {
    const Ui& ui = d.ui;
    const float line = compat::font_size(ui.fonts.mono_small) + ui.px(5);
    float y = area.low.y + ui.px(36);
    for (const core::ChartCurve& curve : chart.curves) {
        if (curve.dashed || y + line > area.high.y) continue;
        draw_line_sample(ui, {area.low.x, y + line * 0.4F}, ui.px(18), to_imgui(curve.color), false);
        std::string text = curve.run;
        if (d.chosen && *d.chosen < curve.curve.points.size())
            text = core::text_of(curve.curve.points[*d.chosen].value, core::Unit::number, kDigits) + "  " + text;
        draw_text(ui, ui.fonts.mono_small, {area.low.x + ui.px(24), y}, ui.theme.text, text, area.width() - ui.px(24));
        y += line;
    }
}

AnswerGesture draw_chart(const Drawing& d, const core::Chart& chart, Area area) {
    if (chart.curves.size() > 2) {
        const float legend = std::min(d.ui.px(210), area.width() * 0.35F);
        draw_legend(d, chart, {{area.high.x - legend + d.ui.px(12), area.low.y}, area.high});
        area.high.x -= legend;
    }
    const std::optional<double> marked = d.chosen ? std::optional(static_cast<double>(*d.chosen)) : std::nullopt;
    const ChartGesture gesture = draw_curves(d.ui, chart, marked, area);
    if (!gesture.clicked || !gesture.depth) return {};
    return {.clicked = true, .column = std::lround(*gesture.depth)};
}

AnswerGesture draw_part(const Drawing& d, const core::AnswerPart& part, Area area) {
    if (part.chart) return draw_chart(d, *part.chart, area);
    if (!part.table) return draw_pictures(d, part, area);
    const TableGesture gesture = draw_table(d.ui, part.name.c_str(), *part.table, area, {.chosen = d.chosen});
    AnswerGesture made{.sort = gesture.sort};
    if (!gesture.row) return made;
    if (const core::TableRow& row = part.table->rows[*gesture.row]; !row.step.empty()) {
        follow(row, d.state, d.commands);
        return made;
    }
    made.clicked = true;
    made.row = static_cast<Index>(*gesture.row);
    return made;
}

// The parts that are aside, or those that aren't, one below the other, as high as they are.
void draw_in_flow(const Drawing& d, const core::Answer& answer, bool aside, float width) {
    const Ui& ui = d.ui;
    ImGui::BeginGroup();
    for (const Sentence& said : answer.said)
        if (!aside && !said.empty()) paragraph(ui.fonts.text, ui.theme.text, tr(said), width);
    for (const core::AnswerPart& part : answer.parts) {
        if (part.aside != aside) continue;
        ImGui::Dummy({1, ui.px(4)});
        text_line(ui.fonts.text, ui.theme.text, tr(part.heading));
        paragraph(ui.fonts.caption, ui.theme.muted, tr(part.note), width);
        const auto draw = [&](float height, const auto& draw_into) {
            const ImVec2 at = ImGui::GetCursorScreenPos();
            static_cast<void>(draw_into(Area{at, {at.x + width, at.y + height}}));
            ImGui::SetCursorScreenPos({at.x, at.y + height + ui.px(4)});
            ImGui::Dummy({1, 1});
        };
        if (part.table) draw(table_height(ui, *part.table), [&](Area area) { return draw_part(d, part, area); });
        for (std::size_t i = 0; i < part.pictures.size(); ++i)
            draw(std::min(ui.px(70) + static_cast<float>(part.pictures[i].rows) * ui.px(15), ui.px(330)),
                 [&](Area area) { return draw_picture(d, part, i, area, true); });
    }
    ImGui::EndGroup();
}

}  // namespace

AnswerGesture draw_answer_parts(const Ui& ui, const char* id, const core::Answer& answer, std::uint64_t version,
                                Area area, ViewState& state, Commands& commands, std::optional<std::size_t> chosen) {
    const Drawing d{ui, id, version, state, commands, chosen};
    if (answer.parts.size() <= 1) {
        for (std::size_t i = 0; i < answer.said.size(); ++i)
            area.low.y +=
                text_block(ui, ui.fonts.text, i == 0 ? ui.theme.text : ui.theme.muted, area, tr(answer.said[i])) +
                ui.px(8);
        AnswerGesture gesture;
        if (!answer.parts.empty()) gesture = draw_part(d, answer.parts.front(), area);
        gesture.end = area.low.y;
        return gesture;
    }
    begin_part(id, {area.low, {area.high.x + ui.px(8), area.high.y}});
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float room = ImGui::GetContentRegionAvail().x - ui.px(12), gap = ui.px(24);
    const bool two = room > ui.px(640);
    const float left = two ? std::floor(room * 0.62F) : room;
    draw_in_flow(d, answer, false, left);
    if (two) ImGui::SetCursorScreenPos({start.x + left + gap, start.y});
    draw_in_flow(d, answer, true, two ? room - left - gap : room);
    ImGui::EndChild();
    return {};
}

}  // namespace decoderscope::views

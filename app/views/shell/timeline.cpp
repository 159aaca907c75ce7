#include "app/core/diff/transformer_lens.h"
#include "app/views/shell/panels.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope {

namespace {

void transport(const Ui& ui, ViewState& state, Commands& commands) {
    if (icon_button(ui, "first", Icon::first, true, tr("First step (Home)"))) commands.push_back(command::GoFirst{});
    ImGui::SameLine(0, ui.px(2));
    if (icon_button(ui, "back", Icon::back, true, tr("Step back (←)"))) commands.push_back(command::Move{-1});
    ImGui::SameLine(0, ui.px(2));
    if (icon_button(ui, "forward", Icon::forward, true, tr("Next step (→)"))) commands.push_back(command::Move{1});
    ImGui::SameLine(0, ui.px(2));
    if (icon_button(ui, "last", Icon::last, true, tr("Last step (End)"))) commands.push_back(command::GoLast{});
    ImGui::SameLine(0, ui.px(8));
    if (icon_button(ui, "play", state.playing ? Icon::pause : Icon::play, true, tr("Play (Space)")))
        state.playing = !state.playing;
}

// One mark per step, coloured by its meaning; the current one is taller.
void marks(const Ui& ui, const Session& session, Area area, std::size_t here) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Plan& plan = session.shown().run->plan();
    const std::vector<StepId>& steps = session.timeline();
    const float pitch = area.width() / static_cast<float>(steps.size());
    const float gap = pitch > ui.px(4) ? ui.px(1) : 0.0F;
    const float base = area.high.y - ui.px(16);
    std::string block;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const Step& step = plan[steps[i]];
        const float x = area.low.x + pitch * static_cast<float>(i);
        const bool lit = i == here;
        const float height =
            lit ? base - area.low.y : (base - area.low.y) * (step.meaning == Meaning::residual ? 0.35F : 0.6F);
        const ImU32 color = lit ? color_of(step.meaning) : with_alpha(color_of(step.meaning), 0.6F);
        list.AddRectFilled({x, base - height}, {std::max(x + pitch - gap, x + 1), base}, color,
                           pitch > ui.px(6) ? ui.px(1.5F) : 0.0F);
        if (lit)
            list.AddTriangleFilled({x + pitch * 0.5F, base + ui.px(2)}, {x + pitch * 0.5F - ui.px(4), base + ui.px(8)},
                                   {x + pitch * 0.5F + ui.px(4), base + ui.px(8)}, ui.theme.text);
        if (step.block == block) continue;
        block = step.block;
        if (block.empty()) continue;
        list.AddLine({std::floor(x), area.low.y}, {std::floor(x), area.high.y}, ui.theme.line);
        const auto ends = std::find_if(steps.begin() + static_cast<std::ptrdiff_t>(i), steps.end(),
                                       [&](StepId id) { return plan[id].block != block; });
        const float room = pitch * static_cast<float>(ends - steps.begin() - static_cast<std::ptrdiff_t>(i)) - ui.px(8);
        draw_text(ui, ui.fonts.caption, {x + ui.px(4), base + ui.px(1)}, ui.theme.muted, block, room);
    }
}

void hover_mark(const Session& session, const Ui& ui, std::size_t index) {
    const Step& step = session.shown().run->plan()[session.timeline()[index]];
    if (!compat::begin_tooltip()) return;
    text_line(ui.fonts.mono_small, ui.theme.text, step.name);
    text_line(ui.fonts.caption, ui.theme.muted,
              std::string(step.operation.about().name) + "   " + axes_text(step.axes) + " " + shape_text(step.axes));
    const std::string hook = transformer_lens_name(session.shown().run->plan(), step);
    if (!hook.empty()) text_line(ui.fonts.caption, ui.theme.muted, tr("TransformerLens: {name}", {{"name", hook}}));
    ImGui::EndTooltip();
}

}  // namespace

void draw_timeline(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands) {
    ImGui::GetWindowDrawList()->AddRectFilled(area.low, area.high, ui.theme.panel);
    ImGui::SetCursorScreenPos({area.low.x + ui.px(8), area.low.y + (area.height() - ImGui::GetFrameHeight()) * 0.5F});
    transport(ui, state, commands);

    const std::size_t here = session.timeline_position();
    const std::string count = std::to_string(here + 1) + " / " + std::to_string(session.timeline().size());
    const float count_width = compat::text_size(ui.fonts.mono, std::string(count.size() + 1, '0')).x;
    const float right_width = std::max(count_width, checks_mark_width(ui));
    draw_text(ui, ui.fonts.mono, {area.high.x - right_width - ui.px(4), area.low.y + ui.px(12)}, ui.theme.muted, count);
    draw_checks_mark(ui, session, state, {area.high.x - right_width - ui.px(4), area.low.y + ui.px(37)});

    const Area bars = {{area.low.x + ui.px(180), area.low.y + ui.px(8)},
                       {area.high.x - right_width - ui.px(20), area.high.y - ui.px(4)}};
    if (bars.width() < ui.px(40)) return;
    marks(ui, session, bars, here);
    ImGui::SetCursorScreenPos(bars.low);
    ImGui::InvisibleButton("scrub", {bars.width(), bars.height()});
    const float part = (ImGui::GetIO().MousePos.x - bars.low.x) / bars.width();
    const auto index =
        static_cast<std::size_t>(std::clamp(part, 0.0F, 0.99999F) * static_cast<float>(session.timeline().size()));
    if (ImGui::IsItemHovered() || ImGui::IsItemActive()) hover_mark(session, ui, index);
    if (ImGui::IsItemActive() && index != here)
        commands.push_back(command::GoTo{session.shown().run->plan()[session.timeline()[index]].name});
}

}  // namespace decoderscope

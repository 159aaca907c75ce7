#include "app/core/run/passes_of_text.h"
#include "app/core/tabs/diff/effect_of_edits.h"
#include "app/core/tabs/diff/transformer_lens.h"
#include "app/core/tabs/step/gradients.h"
#include "app/views/frame/overlay_colors.h"
#include "app/views/frame/window_layout.h"
#include "app/views/map/map.h"
#include "app/views/tabs/checks/checks.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

namespace decoderscope::views::map {

namespace {

void transport(const Ui& ui, ViewState& state, Commands& commands) {
    if (icon_button(ui, "first", Icon::first, true, tr("First step (Home)")))
        commands.push_back(core::command::GoFirst{});
    ImGui::SameLine(0, ui.px(2));
    if (icon_button(ui, "back", Icon::back, true, tr("Step back (←)"))) commands.push_back(core::command::Move{-1});
    ImGui::SameLine(0, ui.px(2));
    if (icon_button(ui, "forward", Icon::forward, true, tr("Next step (→)")))
        commands.push_back(core::command::Move{1});
    ImGui::SameLine(0, ui.px(2));
    if (icon_button(ui, "last", Icon::last, true, tr("Last step (End)"))) commands.push_back(core::command::GoLast{});
    ImGui::SameLine(0, ui.px(8));
    if (icon_button(ui, "play", state.playing ? Icon::pause : Icon::play, true, tr("Play (Space)")))
        state.playing = !state.playing;
}

struct TimelineStretches {
    std::vector<core::step::Stretch> all;
};

// The encoder, the decoder and the backward pass, where the timeline has several of them.
core::Value<TimelineStretches> shown_stretches(const core::Session& session) {
    const core::Snapshot& shown = session.shown();
    return session.derived().get<TimelineStretches>({shown.run}, std::tuple<>(), [&] {
        return TimelineStretches{
            core::step::stretches_of(shown.run->plan(), session.timeline(), shown.scenario.gradient_target)};
    });
}

// "Encoder", "Decoder" and "The backward pass" over their steps, where there is room.
void stretch_names(const Ui& ui, const core::Session& session, std::span<const core::step::Stretch> stretches,
                   Area area) {
    const float pitch = area.width() / static_cast<float>(session.timeline().size());
    for (const core::step::Stretch& stretch : stretches) {
        const float x = area.low.x + pitch * static_cast<float>(stretch.from);
        draw_text(ui, ui.fonts.caption, {x, area.low.y}, ui.theme.muted, tr(stretch.name),
                  pitch * static_cast<float>(stretch.to - stretch.from) - ui.px(8));
    }
}

// The backward pass has another background than the forward pass.
void ground_of_way_back(const Ui& ui, const core::Session& session, std::span<const core::step::Stretch> stretches,
                        Area area) {
    const float pitch = area.width() / static_cast<float>(session.timeline().size());
    for (const core::step::Stretch& stretch : stretches) {
        if (!stretch.is_back) continue;
        const float x = std::floor(area.low.x + pitch * static_cast<float>(stretch.from));
        ImDrawList& list = *ImGui::GetWindowDrawList();
        list.AddRectFilled({x, area.low.y}, {area.high.x, area.high.y - ui.px(16)}, ui.theme.accent_soft);
        list.AddLine({x, area.low.y}, {x, area.high.y}, ui.theme.accent, ui.px(1.5F));
    }
}

// A bar over the steps that the edits reach.
void changed_bar(const Ui& ui, const core::Session& session, const core::diff::Reach& reach, Area area) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const std::vector<StepId>& steps = session.timeline();
    const float pitch = area.width() / static_cast<float>(steps.size());
    for (std::size_t from = 0; from < steps.size(); ++from) {
        if (!reach.has(steps[from])) continue;
        std::size_t to = from;
        while (to < steps.size() && reach.has(steps[to])) ++to;
        list.AddRectFilled({std::floor(area.low.x + pitch * static_cast<float>(from)), area.low.y},
                           {std::max(area.low.x + pitch * static_cast<float>(to) - ui.px(1),
                                     area.low.x + pitch * static_cast<float>(from) + 1),
                            area.high.y},
                           ui.theme.accent);
        from = to;
    }
}

// One mark per step, coloured by its meaning or by a file's number; the current one is taller.
void marks(const Ui& ui, const core::Session& session, Area area, std::size_t here) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Plan& plan = session.shown().run->plan();
    const StepColors colors(ui, session);
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
        const ImU32 full = colors.of(step);
        const ImU32 color = lit || colors.are_of_file() ? full : with_alpha(full, 0.6F);
        list.AddRectFilled({x, base - height}, {std::max(x + pitch - gap, x + 1), base}, color,
                           pitch > ui.px(6) ? ui.px(1.5F) : 0.0F);
        // The lowest colours are nearly those of the ground.
        if (colors.are_of_file())
            list.AddRectFilled({x, base - height}, {std::max(x + pitch - gap, x + 1), base - height + 1},
                               ui.theme.muted);
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

bool is_edited(const core::Session& session) {
    const core::Snapshot& shown = session.shown();
    return core::is_edited(shown.scenario) && shown.run != shown.unedited;
}

// What the edits did to the output, and how many steps they reach.
void reach_line(const Ui& ui, const core::Session& session, Area area) {
    float x = area.low.x;
    const auto write = [&](ImU32 color, const std::string& text) {
        if (area.high.x - x < ui.px(40)) return;
        x += draw_text(ui, ui.fonts.caption, {x, area.low.y}, color, text, area.high.x - x) + ui.px(16);
    };
    const core::Snapshot& shown = session.shown();
    const core::Value<core::diff::Reach> reach = core::diff::shown_reach(session.derived(), shown);
    if (!reach) return write(ui.theme.muted, tr("Comparing with the unedited run …"));
    const std::string sentence = tr(core::diff::reach_sentence(shown.scenario, *reach));
    std::string steps;
    if (reach->first)
        steps = kChangedMark + std::string(" ") + tr(core::diff::changed_tensors_sentence(*shown.run, *reach));
    write(ui.theme.text, sentence);
    write(ui.theme.muted, steps);
    ImGui::SetCursorScreenPos(area.low);
    ImGui::InvisibleButton("reach", {area.width(), area.height()});
    tooltip((sentence + "\n" + steps).c_str());
}

// Calm: two buttons, and one line.
void calm_line(const Ui& ui, const core::Session& session, Area area, Commands& commands) {
    const float frame = ImGui::GetFrameHeight();
    ImGui::SetCursorScreenPos({area.low.x + ui.px(8), area.low.y + (area.height() - frame) * 0.5F});
    if (icon_button(ui, "back", Icon::back, true, tr("Step back (←)"))) commands.push_back(core::command::Move{-1});
    ImGui::SameLine(0, ui.px(2));
    if (icon_button(ui, "forward", Icon::forward, true, tr("Next step (→)")))
        commands.push_back(core::command::Move{1});
    const float x = ImGui::GetItemRectMax().x + ui.px(16), line = compat::font_size(ui.fonts.caption);
    const Area text = {{x, area.low.y + (area.height() - line) * 0.5F}, {area.high.x - ui.px(12), area.high.y}};
    if (is_edited(session)) return reach_line(ui, session, {text.low, {text.high.x, text.low.y + line + ui.px(2)}});
    draw_text(ui, ui.fonts.caption, text.low, ui.theme.muted,
              tr("step {number} of {all}: {step}, {operation}", {{"number", session.timeline_position() + 1},
                                                                 {"all", session.timeline().size()},
                                                                 {"step", session.step().name},
                                                                 {"operation", session.step().operation.about().name}}),
              text.width());
}

std::string first_sentence(std::string_view text) {
    constexpr std::string_view end = ". ";
    return std::string(text.substr(0, text.find(end)));
}

}  // namespace

float timeline_height(const Ui& ui, const core::Session& session, const ViewState& state) {
    const float passes = passes_height(ui, session);
    if (state.is_calm()) return passes + ui.px(40);
    if (is_low_window(ui)) return passes + ui.px(56);
    return passes + ui.px(shown_stretches(session)->all.size() > 1 ? 70 : 64);
}

void draw_timeline(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    const float passes = passes_height(ui, session);
    draw_passes_line(ui, session, {area.low, {area.high.x, area.low.y + passes}}, commands);
    area.low.y += passes;
    ImGui::GetWindowDrawList()->AddRectFilled(area.low, area.high, ui.theme.panel);
    if (state.is_calm()) return calm_line(ui, session, area, commands);
    ImGui::SetCursorScreenPos({area.low.x + ui.px(8), area.low.y + (area.height() - ImGui::GetFrameHeight()) * 0.5F});
    transport(ui, state, commands);

    const std::size_t here = session.timeline_position();
    const std::string count = std::to_string(here + 1) + " / " + std::to_string(session.timeline().size());
    const float count_width = compat::text_size(ui.fonts.mono, std::string(count.size() + 1, '0')).x;
    const float right_width = std::max(count_width, checks::checks_mark_width(ui, session));
    draw_text(ui, ui.fonts.mono, {area.high.x - right_width - ui.px(4), area.low.y + ui.px(12)}, ui.theme.muted, count);
    checks::draw_checks_mark(ui, session, state, {area.high.x - right_width - ui.px(4), area.low.y + ui.px(37)});

    Area bars = {{area.low.x + ui.px(180), area.low.y + ui.px(8)},
                 {area.high.x - right_width - ui.px(20), area.high.y - ui.px(4)}};
    if (bars.width() < ui.px(40)) return;
    // The marks make room for a line above them; the panel stays as high as it is, so that the first edit moves nothing
    // that is being clicked.
    const Area above = {{bars.low.x, bars.low.y - ui.px(5)}, {bars.high.x, bars.low.y + ui.px(10)}};
    const core::Value<TimelineStretches> stretches = shown_stretches(session);
    const bool edited = is_edited(session), several = stretches->all.size() > 1 && !is_low_window(ui);
    if (edited)
        reach_line(ui, session, above);
    else if (several)
        stretch_names(ui, session, stretches->all, above);
    if (edited || several) bars.low.y += ui.px(12);
    ground_of_way_back(ui, session, stretches->all, bars);
    if (const core::Value<core::diff::Reach> reach = core::diff::shown_reach(session.derived(), session.shown())) {
        changed_bar(ui, session, *reach, {bars.low, {bars.high.x, bars.low.y + ui.px(3)}});
        bars.low.y += ui.px(5);
    }
    marks(ui, session, bars, here);
    ImGui::SetCursorScreenPos(bars.low);
    ImGui::InvisibleButton("scrub", {bars.width(), bars.height()});
    const float part = (ImGui::GetIO().MousePos.x - bars.low.x) / bars.width();
    const auto index =
        static_cast<std::size_t>(std::clamp(part, 0.0F, 0.99999F) * static_cast<float>(session.timeline().size()));
    const Step& touched = session.shown().run->plan()[session.timeline()[index]];
    if (ImGui::IsItemHovered() || ImGui::IsItemActive()) {
        place_tooltip_above(ui, area);
        step_tooltip(ui, session, touched);
    }
    if (ImGui::IsItemActive() && index != here) commands.push_back(core::command::GoTo{touched.name});
}

void place_tooltip_beside(const Ui& ui, Area row) {
    const bool upper = row.low.y < ImGui::GetIO().DisplaySize.y * 0.5F;
    ImGui::SetNextWindowPos({row.high.x + ui.px(14), upper ? row.low.y : row.high.y}, ImGuiCond_Always,
                            {0.0F, upper ? 0.0F : 1.0F});
}

void place_tooltip_above(const Ui& ui, Area timeline) {
    const float x = ImGui::GetIO().MousePos.x;
    ImGui::SetNextWindowPos({x, timeline.low.y - ui.px(4)}, ImGuiCond_Always, {x / ImGui::GetIO().DisplaySize.x, 1.0F});
}

void step_tooltip(const Ui& ui, const core::Session& session, const Step& step) {
    if (!compat::begin_tooltip()) return;
    const float width = ui.px(340);
    const OpDescription about = step.operation.about();
    text_line(ui.fonts.mono_small, ui.theme.text, step.name);
    paragraph(ui.fonts.mono_small, ui.theme.text, about.formula, width);
    text_line(ui.fonts.caption, ui.theme.muted,
              std::string(about.name) + "   " + axes_text(step.axes) + " " + shape_text(step.axes));
    paragraph(ui.fonts.caption, ui.theme.text, first_sentence(about.teaches), width);
    const std::string hook = core::diff::transformer_lens_name(session.shown().run->plan(), step);
    if (!hook.empty()) text_line(ui.fonts.caption, ui.theme.muted, tr("TransformerLens: {name}", {{"name", hook}}));
    const core::Value<core::diff::Reach> reach = core::diff::shown_reach(session.derived(), session.shown());
    if (reach && reach->has(step.id))
        text_line(ui.fonts.caption, ui.theme.accent, tr("{mark} changed by the edits", {{"mark", kChangedMark}}));
    const core::Notes notes = session.seen_notes();
    for (const core::Note* note : core::notes_of(notes, step.name))
        if (note->cell.empty()) paragraph(ui.fonts.caption, ui.theme.accent, note->text, width);
    if (const auto& overlay = session.overlay())
        if (const core::OverlayValue* number = core::number_of(*overlay, step.name)) {
            paragraph(ui.fonts.caption, ui.theme.text, core::overlay_sentence(*overlay, step.name, *number), width);
            if (!number->text.empty()) paragraph(ui.fonts.caption, ui.theme.accent, number->text, width);
        }
    ImGui::EndTooltip();
}

}  // namespace decoderscope::views::map

#include "app/core/compare/effect_of_edits.h"
#include "app/core/compare/transformer_lens.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/tabs/step/shown_step.h"
#include "app/views/frame/tab.h"
#include "app/views/frame/window_layout.h"
#include "app/views/strip/strip.h"
#include "app/views/tabs/checks/checks.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace decoderscope::views::strip {

namespace {

void transport(const Ui& ui, ViewState& state, Commands& commands) {
    if (icon_button(ui, "first", Icon::first, true, tr("First step (Home)")))
        commands.push_back(core::command::GoFirst{});
    ImGui::SameLine(0, ui.px(4));
    if (icon_button(ui, "back", Icon::back, true, tr("Step back (←)"))) commands.push_back(core::command::Move{-1});
    ImGui::SameLine(0, ui.px(4));
    // The one thing to press that is meant for everybody.
    ImGui::PushStyleColor(ImGuiCol_Button, ui.theme.accent);
    ImGui::PushStyleColor(ImGuiCol_Text, ui.theme.background);
    if (button(state.playing ? tr("Pause") : tr("Play"), "play", ui.px(96))) state.playing = !state.playing;
    ImGui::PopStyleColor(2);
    tooltip(tr("The whole pass in twelve seconds (Space)"));
    ImGui::SameLine(0, ui.px(4));
    if (icon_button(ui, "forward", Icon::forward, true, tr("Next step (→)")))
        commands.push_back(core::command::Move{1});
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

// What the current step does, or, in a tab that isn't about steps, what that answers.
void step_line(const Ui& ui, const core::Session& session, const ViewState& state, Area area) {
    const Tab* open = find_tab(state.tab);
    if (open != nullptr && !open->about_steps) {
        draw_text(ui, ui.fonts.text, area.low, ui.theme.text, tr(open->question), area.width());
        return;
    }
    const Step& step = session.step();
    const std::string title = core::step::title_of(step) + "  ";
    const float width = draw_text(ui, ui.fonts.text, area.low, ui.theme.text, title, area.width());
    draw_text(ui, ui.fonts.text, {area.low.x + width, area.low.y}, ui.theme.muted, core::step::sentence_of(step),
              area.width() - width);
}

}  // namespace

float foot_height(const Ui& ui) { return ui.px(is_low_window(ui) ? 40 : 56); }

void draw_foot(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(area.low, area.high, ui.theme.panel);
    list.AddLine(area.low, {area.high.x, area.low.y}, ui.theme.line);
    const float middle = (area.low.y + area.high.y) * 0.5F;
    ImGui::SetCursorScreenPos({area.low.x + ui.px(16), middle - ImGui::GetFrameHeight() * 0.5F});
    transport(ui, state, commands);
    const float begin = ImGui::GetItemRectMax().x + ui.px(16), end = area.high.x - ui.px(16);
    const std::string number =
        tr("step {number} of {all}", {{"number", session.timeline_position() + 1}, {"all", session.timeline().size()}});
    const float mark = checks::checks_mark_width(ui, session);
    const float right = end - std::max(compat::text_size(ui.fonts.mono_small, number).x, mark);
    const float small = compat::font_size(ui.fonts.mono_small);
    draw_text(ui, ui.fonts.mono_small, {right, middle - small - ui.px(2)}, ui.theme.muted, number);
    checks::draw_checks_mark(ui, session, state, {right, middle + ui.px(2)});
    const float line = compat::font_size(ui.fonts.text);
    const Area text = {{begin, middle - line * 0.5F}, {right - ui.px(16), middle + line * 0.5F + ui.px(2)}};
    if (text.width() < ui.px(40)) return;
    if (is_edited(session)) return reach_line(ui, session, text);
    step_line(ui, session, state, text);
}

void step_tooltip(const Ui& ui, const core::Session& session, const Step& step) {
    if (!compat::begin_tooltip()) return;
    const float width = ui.px(340);
    const OpDescription about = step.operation.about();
    text_line(ui.fonts.mono_small, ui.theme.text, step.name);
    paragraph(ui.fonts.mono_small, ui.theme.text, about.formula, width);
    text_line(ui.fonts.caption, ui.theme.muted,
              std::string(about.name) + "   " + axes_text(step.axes) + " " + shape_text(step.axes));
    paragraph(ui.fonts.caption, ui.theme.text, core::step::sentence_of(step), width);
    const std::string hook = core::diff::transformer_lens_name(session.shown().run->plan(), step);
    if (!hook.empty()) text_line(ui.fonts.caption, ui.theme.muted, tr("TransformerLens: {name}", {{"name", hook}}));
    const core::Value<core::diff::Reach> reach = core::diff::shown_reach(session.derived(), session.shown());
    if (reach && reach->has(step.id))
        text_line(ui.fonts.caption, ui.theme.text, tr("{mark} changed by the edits", {{"mark", kChangedMark}}));
    const core::Notes notes = session.seen_notes();
    for (const core::Note* note : core::notes_of(notes, step.name))
        if (note->cell.empty()) paragraph(ui.fonts.caption, ui.theme.text, note->text, width);
    if (const auto& overlay = session.overlay())
        if (const core::OverlayValue* number = core::number_of(*overlay, step.name)) {
            paragraph(ui.fonts.caption, ui.theme.text, core::overlay_sentence(*overlay, step.name, *number), width);
            if (!number->text.empty()) paragraph(ui.fonts.caption, ui.theme.text, number->text, width);
        }
    ImGui::EndTooltip();
}

}  // namespace decoderscope::views::strip

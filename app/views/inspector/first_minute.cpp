#include "app/core/session/first_minute.h"
#include "app/views/inspector/inspector.h"
#include "app/views/strip/strip.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <string>
#include <utility>

// The first minute in the inspector: a sentence a stop, with a ring around what is to be clicked.
namespace decoderscope::views::inspector {

namespace {

void ring(const Ui& ui, Area area) {
    const float away = ui.px(4);
    compat::add_rect(*ImGui::GetForegroundDrawList(), {area.low.x - away, area.low.y - away},
                     {area.high.x + away, area.high.y + away}, ui.theme.accent, ui.px(5), ui.px(3));
}

// Whether the learner has clicked what a stop asks for.
bool is_done(const core::Session& session, const core::MinuteStop& stop) {
    if (!stop.then_step.empty()) return session.cursor().step == stop.then_step;
    return !stop.then_cell.empty() && session.cursor().cell == stop.then_cell;
}

}  // namespace

void begin_first_minute(const core::Session& session, ViewState& state) {
    FirstMinute& minute = state.part<FirstMinute>();
    minute.stops = core::first_minute(session.shown(), session.step(), session.cursor().place);
    minute.at = 0;
    minute.goes = true;
    state.playing = false;
}

bool next_stop(ViewState& state) {
    FirstMinute& minute = state.part<FirstMinute>();
    if (minute.stops.empty()) return false;
    minute.goes = ++minute.at < minute.stops.size();
    if (!minute.goes) minute = {};
    return true;
}

bool leave_first_minute(ViewState& state) {
    const bool was_on = !state.part<FirstMinute>().stops.empty();
    state.part<FirstMinute>() = {};
    state.ringed.reset();
    return was_on;
}

bool draw_first_minute(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    FirstMinute& minute = state.part<FirstMinute>();
    state.ringed.reset();
    if (minute.stops.empty()) return false;
    const core::MinuteStop stop = minute.stops[minute.at];
    if (session.shown().run->plan().find(stop.step) == nullptr) return !leave_first_minute(state);  // another model
    if (std::exchange(minute.goes, false)) {
        state.tab = core::files::kStepTab;
        commands.push_back(core::command::Deselect{});
        commands.push_back(core::command::GoTo{stop.step});
    }
    const bool done = is_done(session, stop);
    if (!done && !stop.then_cell.empty()) state.ringed = {stop.step, stop.then_cell};
    if (const Ref then = session.shown().run->plan().find(stop.then_step); then != nullptr && !done)
        if (const auto place = strip::place_on_strip(state, then->id)) ring(ui, *place);
    paragraph(ui.fonts.caption, ui.theme.muted,
              tr("The first minute, {number} of {all}", {{"number", minute.at + 1}, {"all", minute.stops.size()}}));
    paragraph(ui.fonts.text, ui.theme.text, (done ? "✓ " : "") + std::string(tr(stop.sentence)));
    ImGui::Dummy({1, ui.px(2)});
    const bool is_last = minute.at + 1 == minute.stops.size();
    ImGui::PushStyleColor(ImGuiCol_Button, ui.theme.accent_soft);
    const bool goes_on = button(is_last ? tr("Done") : tr("Go on (Space)"), "minute-on");
    ImGui::PopStyleColor();
    ImGui::SameLine();
    if (button(tr("Leave (Esc)"), "minute-off")) return leave_first_minute(state);
    if (goes_on) next_stop(state);
    section_line(ui);
    return true;
}

}  // namespace decoderscope::views::inspector

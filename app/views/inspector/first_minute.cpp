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

std::vector<core::MinuteStop> stops_of(const core::Session& session) {
    return core::first_minute(session.shown(), session.step(), session.cursor().place);
}

// Whether one looks at what a stop shows, or asks for.
bool is_at(const core::Session& session, const ViewState& state, const core::MinuteStop& stop) {
    const std::string& step = session.cursor().step;
    return state.tab == core::files::kStepTab && (step == stop.step || step == stop.then_step);
}

void end(ViewState& state) {
    FirstMinute& minute = state.part<FirstMinute>();
    minute = {.of = minute.of};
    state.ringed.reset();
    state.settings.introduction_closed = true;
}

}  // namespace

void say_which_stop(const Ui& ui, const FirstMinute& minute) {
    paragraph(ui.fonts.caption, ui.theme.muted,
              tr("The first minute, {number} of {all}", {{"number", minute.at + 1}, {"all", minute.stops.size()}}));
}

void follow_first_minute(const core::Session& session, ViewState& state) {
    FirstMinute& minute = state.part<FirstMinute>();
    if (std::shared_ptr<const load::ModelInfo> model = load::about(session.shown().scenario.opened());
        minute.of != model)
        minute = {.of = std::move(model), .introduced_at = session.cursor().step};
    state.ringed.reset();
    if (minute.begun) {
        if (!minute.goes && !is_at(session, state, minute.stops[minute.at])) end(state);
        return;
    }
    if (minute.introduced_at.empty() || state.settings.introduction_closed) return;
    if (session.cursor().step != minute.introduced_at || state.tab != core::files::kStepTab) {
        minute.introduced_at.clear();
        return;
    }
    minute.stops = stops_of(session);
    const bool is_first = !minute.stops.empty() && minute.stops.front().step == minute.introduced_at;
    minute.begun = is_first && is_done(session, minute.stops.front());
}

void begin_first_minute(const core::Session& session, ViewState& state) {
    FirstMinute& minute = state.part<FirstMinute>();
    minute.stops = stops_of(session);
    if (minute.stops.empty()) return;
    minute.at = minute.stops.front().step == session.cursor().step ? 1 : 0;
    minute.begun = minute.goes = true;
    state.playing = false;
}

bool next_stop(ViewState& state) {
    FirstMinute& minute = state.part<FirstMinute>();
    if (!minute.begun) return false;
    minute.goes = ++minute.at < minute.stops.size();
    if (!minute.goes) end(state);
    return true;
}

bool leave_first_minute(const core::Session& session, ViewState& state) {
    const bool introduces = introduces_model(session, state), was_on = state.part<FirstMinute>().begun;
    if (was_on || introduces) end(state);
    return was_on || introduces;
}

bool draw_first_minute(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    FirstMinute& minute = state.part<FirstMinute>();
    if (!minute.begun) return false;
    const core::MinuteStop stop = minute.stops[minute.at];
    if (std::exchange(minute.goes, false)) {
        state.tab = core::files::kStepTab;
        commands.push_back(core::command::Deselect{});
        commands.push_back(core::command::GoTo{stop.step});
    }
    const bool done = is_done(session, stop);
    if (!done && !stop.then_cell.empty()) state.ringed = {stop.step, stop.then_cell};
    if (const Ref then = session.shown().run->plan().find(stop.then_step); then != nullptr && !done)
        if (const auto place = strip::place_on_strip(state, then->id)) ring(ui, *place);
    say_which_stop(ui, minute);
    // What was asked for explains itself below.
    if (!done || stop.then_cell.empty())
        paragraph(ui.fonts.text, ui.theme.text, (done ? "✓ " : "") + std::string(tr(stop.sentence)));
    ImGui::Dummy({1, ui.px(2)});
    const bool is_last = minute.at + 1 == minute.stops.size();
    ImGui::PushStyleColor(ImGuiCol_Button, ui.theme.accent_soft);
    const bool goes_on = button(is_last ? tr("Done") : tr("Go on (Space)"), "minute-on");
    ImGui::PopStyleColor();
    ImGui::SameLine();
    if (button(tr("Leave (Esc)"), "minute-off")) return leave_first_minute(session, state);
    if (goes_on) next_stop(state);
    section_line(ui);
    return true;
}

}  // namespace decoderscope::views::inspector

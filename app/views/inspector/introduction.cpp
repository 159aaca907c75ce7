// At the first start: what is seen, and what to click first.
// The first minute in the inspector: a sentence a stop, with a ring around what is to be clicked.
#include "app/core/session/introduction.h"
#include "app/core/run/cursor.h"
#include "app/views/frame/answer_view.h"
#include "app/views/inspector/inspector.h"
#include "app/views/lessons/lessons_panel.h"
#include "app/views/strip/strip.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/tables.h"
#include "engine/base/translate.h"

#include <algorithm>

namespace decoderscope::views::inspector {

namespace {

constexpr std::size_t kMost = 3;

Suggestion suggestion_of(const core::FittingTrial& fitting, const core::Scenario& scenario) {
    const load::Trial& trial = fitting.trial;
    const std::vector<core::Command> commands = core::commands_of(trial, scenario);
    return {.title = tr(asset_text(trial.title)),
            .tab = trial.tab,
            .commands = {commands.begin(), commands.end()},
            .done = fitting.done};
}

// What the tabs offer with any model: the first two, and the last for contrast.
std::vector<Suggestion> suggestions_of_tabs(const core::Session& session) {
    std::vector<Suggestion> all;
    for (const Tab& tab : tabs())
        if (tab.suggest != nullptr && has_something(tab, session))
            if (std::optional<Suggestion> suggestion = tab.suggest(session)) {
                if (suggestion->tab.empty()) suggestion->tab = tab.id;
                all.push_back(std::move(*suggestion));
            }
    if (all.size() > kMost) all.erase(all.begin() + kMost - 1, all.end() - 1);
    return all;
}

// The first thing to do, with a ring around it where the picture is an attention's weights.
void ask_for_a_click(const Ui& ui, const core::Session& session, ViewState& state) {
    const Step& step = session.step();
    const bool is_seen = step.is_pattern && state.tab == core::files::kStepTab;
    const Cell cell = is_seen ? core::strongest_weight(session.shown(), step, session.cursor().place) : Cell();
    std::string text =
        tr("Click any number: it says where it comes from, term by term. Nothing can break: Ctrl+Z takes "
           "back what you do.");
    if (!cell.empty()) {
        const float weight = session.shown().run_of(step).value(step.id).at(cell);
        state.ringed = {step.name, cell};
        text =
            tr("Click the ringed cell: it says where its {number} comes from, term by term. Nothing can break: Ctrl+Z "
               "takes back what you do.",
               {{"number", core::short_number_text(static_cast<double>(weight), 2)}});
    }
    const float pad = ui.px(12), width = ImGui::GetContentRegionAvail().x;
    const ImVec2 low = ImGui::GetCursorScreenPos();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    // The text says how high its ground is, and is above it.
    list.ChannelsSplit(2);
    list.ChannelsSetCurrent(1);
    const float height =
        ui.px(16) +
        text_block(ui, ui.body(), {{low.x + pad, low.y + ui.px(8)}, {low.x + width - pad, low.y + ui.px(400)}}, text);
    list.ChannelsSetCurrent(0);
    list.AddRectFilled(low, {low.x + width, low.y + height}, ui.theme.accent_soft, ui.px(2));
    list.AddRectFilled(low, {low.x + ui.px(4), low.y + height}, ui.theme.accent, ui.px(2));
    list.ChannelsMerge();
    ImGui::Dummy({width, height + ui.px(4)});
}

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

void end(ViewState& state) {
    FirstMinute& minute = state.part<FirstMinute>();
    minute = {.of = minute.of};
    state.ringed.reset();
    state.settings.introduction_closed = true;
}

// "The first minute, 1 of 7"
void say_which_stop(const Ui& ui, const FirstMinute& minute) {
    paragraph(ui.note(),
              tr("The first minute, {number} of {all}", {{"number", minute.at + 1}, {"all", minute.stops.size()}}));
}

}  // namespace

std::vector<Suggestion> suggestions(const core::Session& session) {
    std::vector<Suggestion> all;
    for (const core::FittingTrial& fitting : core::shown_trials(session.derived(), session.shown())->all)
        all.push_back(suggestion_of(fitting, session.shown().scenario));
    for (Suggestion& suggestion : suggestions_of_tabs(session)) {
        if (all.size() >= kMost) break;
        all.push_back(std::move(suggestion));
    }
    if (all.size() > kMost) all.resize(kMost);
    return all;
}

void follow(const Suggestion& suggestion, ViewState& state, Commands& commands) {
    if (find_tab(suggestion.tab) != nullptr) state.tab = suggestion.tab;
    commands.insert(commands.end(), suggestion.commands.begin(), suggestion.commands.end());
}

bool introduces_model(const core::Session& session, const ViewState& state) {
    const FirstMinute& minute = state.part<FirstMinute>();
    return !state.settings.introduction_closed && !minute.introduced_at.empty() && !minute.begun &&
           !session.opening() && !session.cursor().cell;
}

void introduce_model(const Ui& ui, const core::Session& session, ViewState& state) {
    const FirstMinute& minute = state.part<FirstMinute>();
    const bool guides = !minute.stops.empty();
    if (guides) say_which_stop(ui, minute);
    paragraph(ui.title(), tr("What you are looking at"));
    ImGui::Dummy({1, ui.px(2)});
    paragraph(ui.body(), tr(core::introduction_of(session.shown().scenario)));
    ImGui::Dummy({1, ui.px(2)});
    const core::Snapshot& shown = session.shown();
    answer_box(ui, session.derived(), shown.scenario, shown.run, session.cursor().place.batch);
    paragraph(ui.body(),
              session.step().is_pattern
                  ? tr("The picture is one of its {count} steps: each row is a token, and its bright cells are the "
                       "tokens that it looks at.",
                       {{"count", session.timeline().size()}})
                  : tr("The picture is one of its {count} steps.", {{"count", session.timeline().size()}}));
    ImGui::Dummy({1, ui.px(2)});
    ask_for_a_click(ui, session, state);
    ImGui::PushID("introduction");
    if (guides) {
        ImGui::PushStyleColor(ImGuiCol_Button, ui.theme.accent_soft);
        if (button(tr("Show me how it works, in a minute"), "minute", ImGui::GetContentRegionAvail().x))
            begin_first_minute(session, state);
        ImGui::PopStyleColor();
        ImGui::Dummy({1, ui.px(2)});
    }
    ImGui::PopID();
    paragraph(ui.hint(),
              tr("Or press Play: all of it in twelve seconds. Learn goes step by step; Try has more to do."));
    paragraph(ui.note(), tr("Esc closes this; Try ▾ brings it back."));
}

void introduce_again(const core::Session& session, ViewState& state, Commands& commands) {
    const core::Snapshot& shown = session.shown();
    state.settings.introduction_closed = false;
    state.tab = core::files::kStepTab;
    lesson_panel::close_lessons(state);
    FirstMinute& minute = state.part<FirstMinute>();
    minute = {.of = minute.of, .introduced_at = core::opening_cursor(shown.scenario, shown.run->plan()).step};
    commands.push_back(core::command::Deselect{});
    commands.push_back(core::command::GoTo{minute.introduced_at});
}

void begin_first_minute(const core::Session& session, ViewState& state) {
    FirstMinute& minute = state.part<FirstMinute>();
    minute.stops = stops_of(session);
    if (minute.stops.empty()) return;
    minute.at = minute.stops.front().step == session.cursor().step ? 1 : 0;
    minute.begun = minute.goes = true;
    state.playing = false;
}

void follow_first_minute(const core::Session& session, ViewState& state) {
    FirstMinute& minute = state.part<FirstMinute>();
    if (std::shared_ptr<const load::ModelInfo> model = load::about(session.shown().scenario.opened());
        minute.of != model)
        minute = {.of = std::move(model), .introduced_at = session.cursor().step};
    state.ringed.reset();
    if (minute.begun) {
        const std::string& step = session.cursor().step;
        const core::MinuteStop& stop = minute.stops[minute.at];
        const bool is_there = state.tab == core::files::kStepTab && (step == stop.step || step == stop.then_step);
        if (!minute.goes && !is_there) end(state);
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
    if (!done || stop.then_cell.empty()) paragraph(ui.body(), (done ? "✓ " : "") + std::string(tr(stop.sentence)));
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

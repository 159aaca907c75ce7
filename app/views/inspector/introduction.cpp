// At the first start: what is seen, and what to click first.
#include "app/core/session/introduction.h"
#include "app/core/run/cursor.h"
#include "app/core/session/first_minute.h"
#include "app/views/frame/answer_box.h"
#include "app/views/inspector/inspector.h"
#include "app/views/lessons/lessons_panel.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/keyboard_focus.h"
#include "engine/base/tables.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>
#include <string>

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
        ui.px(16) + text_block(ui, ui.fonts.text, ui.theme.text,
                               {{low.x + pad, low.y + ui.px(8)}, {low.x + width - pad, low.y + ui.px(400)}}, text);
    list.ChannelsSetCurrent(0);
    list.AddRectFilled(low, {low.x + width, low.y + height}, ui.theme.accent_soft, ui.px(2));
    list.AddRectFilled(low, {low.x + ui.px(4), low.y + height}, ui.theme.accent, ui.px(2));
    list.ChannelsMerge();
    ImGui::Dummy({width, height + ui.px(4)});
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
    paragraph(ui.fonts.heading, ui.theme.text, tr("What you are looking at"));
    ImGui::Dummy({1, ui.px(2)});
    paragraph(ui.fonts.text, ui.theme.text, tr(core::introduction_of(session.shown().scenario)));
    ImGui::Dummy({1, ui.px(2)});
    const core::Snapshot& shown = session.shown();
    answer_box(ui, session.derived(), shown.scenario, shown.run, session.cursor().place.batch);
    paragraph(ui.fonts.text, ui.theme.text,
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
    paragraph(ui.fonts.text, ui.theme.muted,
              tr("Or press Play: all of it in twelve seconds. Learn goes step by step; Try has more to do."));
    paragraph(ui.fonts.caption, ui.theme.muted, tr("Esc closes this; Try ▾ brings it back."));
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

}  // namespace decoderscope::views::inspector

#include "app/core/files/saved_session.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"

#include <algorithm>

namespace decoderscope::views::dialogs {

namespace {

constexpr float kTalkWidth = 640.0F;

// What is open, with this sentence.
core::TalkState state_now(const core::Session& session, const ViewState& state, std::string sentence) {
    return core::files::talk_state(session.work(saved_view(state)), std::move(sentence));
}

// What the picture shows, as far as a sentence for an audience goes.
std::string first_sentence(const core::Session& session, const ViewState& state) {
    try {
        const std::vector<Sentence> words = shown_in_words(session, state);
        return words.empty() ? session.step().name : tr(words.front());
    } catch (const Error&) {
        return session.step().name;
    }
}

// Its run, if another one is open, and its tab; the cursor follows when the run is there.
void show_state(const core::Session& session, ViewState& state, std::size_t number, Commands& commands) {
    TalkPlace& place = state.part<TalkPlace>();
    const core::TalkState& shown = session.talk()[number];
    place.at = place.to_go = place.last = number;
    const std::string heading = std::to_string(number + 1) + " / " + std::to_string(session.talk().size());
    commands.push_back(
        request::PrintNotes{heading + "  " + shown.sentence + (shown.notes.empty() ? "" : "\n    " + shown.notes)});
    try {
        core::files::ShownState wanted = core::files::shown_state(shown, session.scenario());
        const core::files::WorkMark now{session.scenario(), {}, nullptr}, then{wanted.scenario, {}, nullptr};
        if (!session.scenario().same_model(wanted.scenario) || !core::files::changed_parts(now, then).empty())
            commands.push_back(core::command::OpenScenario{
                std::make_shared<const core::Scenario>(std::move(wanted.scenario)), wanted.cursor.step});
    } catch (const Error& error) {
        place.to_go.reset();
        commands.push_back(core::command::Tell{error.sentence()});
    }
}

// The run of the state is there: its tab opens, and the cursor goes to its place.
void arrive(const core::Session& session, ViewState& state, std::size_t number, Commands& commands) {
    try {
        const core::files::ShownState wanted = core::files::shown_state(session.talk()[number], session.scenario());
        for (auto& told : show_saved(state, wanted.view)) commands.push_back(std::move(told));
        const core::Cursor& cursor = wanted.cursor;
        if (!cursor.step.empty()) commands.push_back(core::command::GoTo{cursor.step});
        commands.push_back(core::command::ChooseBatch{cursor.place.batch});
        commands.push_back(core::command::ChooseHead{cursor.place.head});
        commands.push_back(core::command::ChooseOuter{cursor.place.outer});
        if (cursor.cell)
            commands.push_back(core::command::SelectCell{*cursor.cell});
        else
            commands.push_back(core::command::Deselect{});
    } catch (const Error& error) {
        commands.push_back(core::command::Tell{error.sentence()});
    }
}

// What a line of the dialog asks for.
struct Change {
    core::Talk talk;
    bool made = false, typed = false;
};

void draw_line(const Ui& ui, const core::Session& session, ViewState& state, std::size_t number, Change& change,
               Commands& commands) {
    core::TalkState& one = change.talk[number];
    ImGui::PushID(static_cast<int>(number));
    const float gap = ui.px(6), left = ImGui::GetCursorPosX(), index = ui.px(28);
    text_line({ui.fonts.mono_small, ui.theme.muted}, std::to_string(number + 1));
    ImGui::SameLine();
    ImGui::SetCursorPosX(left + index);
    ImGui::SetNextItemWidth(ui.px(kTalkWidth) - index);
    change.typed |= text_field("##say", one.sentence, 0, tr("What the audience reads"));
    ImGui::SetCursorPosX(left + index);
    ImGui::SetNextItemWidth(ui.px(kTalkWidth) - index);
    change.typed |= text_field("##notes", one.notes, 0, tr("Notes for the speaker, printed in the terminal"));
    ImGui::SetCursorPosX(left + index);
    if (button(tr("Show"), "show")) show_state(session, state, number, commands);
    ImGui::SameLine(0, gap);
    if (button(tr("Replace by what is open"), "replace")) {
        one.work = state_now(session, state, {}).work;
        change.made = true;
    }
    ImGui::SameLine(0, gap);
    ImGui::BeginDisabled(number == 0);
    const bool earlier = button(tr("Earlier"), "earlier");
    ImGui::EndDisabled();
    ImGui::SameLine(0, gap);
    ImGui::BeginDisabled(number + 1 == change.talk.size());
    const bool later = button(tr("Later"), "later");
    ImGui::EndDisabled();
    ImGui::SameLine(0, gap);
    const bool removed = button(tr("Remove"), "remove");
    ImGui::PopID();
    if (earlier) std::swap(change.talk[number], change.talk[number - 1]);
    if (later) std::swap(change.talk[number], change.talk[number + 1]);
    if (removed) change.talk.erase(change.talk.begin() + static_cast<std::ptrdiff_t>(number));
    change.made |= earlier || later || removed;
}

// At the end of the dialog: the file that the talk is written to.
void draw_writing(const Ui& ui, ViewState& state, Commands& commands) {
    TalkPlace& place = state.part<TalkPlace>();
    ImGui::SetNextItemWidth(ui.px(kTalkWidth - 120));
    text_field("##path", place.path, 0, "talk.html, talk.pdf");  // not a message: names of files
    ImGui::SameLine();
    const std::string path = place.path.empty() ? std::string() : core::path_of(place.path);
    const bool written = may_write(state, path, button(replacing(state, path) ? tr("Replace") : tr("Write"), "write"));
    draw_replacing(ui, state, path, ui.px(kTalkWidth));
    if (!written) return;
    close_dialog(state);
    commands.push_back(request::WriteTalk{path});
}

}  // namespace

void add_talk_state(const core::Session& session, ViewState& state, Commands& commands) {
    core::Talk talk = session.talk();
    if (talk.size() >= core::kMostTalkStates)
        return commands.push_back(core::command::Tell{
            message("Not added: a talk has at most {most} states.", {{"most", core::kMostTalkStates}})});
    talk.push_back(state_now(session, state, first_sentence(session, state)));
    const std::size_t count = talk.size();
    commands.push_back(core::command::ChangeTalk{std::move(talk)});
    commands.push_back(
        core::command::Tell{message_n("The talk has {count} state. Shift+F10 lists them; F11 begins.",
                                      "The talk has {count} states. Shift+F10 lists them; F11 begins.", count),
                            false});
}

void draw_talk_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    text_line(ui.title(), tr("Talk"));
    paragraph(
        ui.note(),
        tr("States of the window, with a sentence each. While presenting (F11), → goes on, ← goes back, and Enter "
           "returns to the state after edits. The session keeps them."),
        ui.px(kTalkWidth));
    Change change{session.talk()};
    for (std::size_t i = 0; i < change.talk.size(); ++i) draw_line(ui, session, state, i, change, commands);
    if (change.made || change.typed)
        commands.push_back(core::command::ChangeTalk{std::move(change.talk), !change.made});
    if (button(tr("Add what is open (F10)"), "add")) add_talk_state(session, state, commands);
    if (!session.talk().empty()) {
        ImGui::SameLine();
        if (button(tr("Present (F11)"), "present")) {
            close_dialog(state);
            state.presenting = true;
            state.presentation = {};
        }
        draw_writing(ui, state, commands);
    }
    if (!state.dialog_opens && pressed(Key::escape)) close_dialog(state);
}

bool run_talk_keys(const core::Session& session, ViewState& state, Commands& commands) {
    const TalkPlace& place = state.part<TalkPlace>();
    if (!state.presenting || !place.at || *place.at >= session.talk().size()) return false;
    const bool on = pressed(Key::right) || pressed(Key::page_down), back = pressed(Key::left) || pressed(Key::page_up);
    if (on || back) {
        const std::size_t end = session.talk().size() - 1;
        const std::size_t next = on ? std::min(*place.at + 1, end) : *place.at - std::min<std::size_t>(*place.at, 1);
        if (next != *place.at) show_state(session, state, next, commands);
        return true;
    }
    if (!pressed(Key::enter)) return false;
    show_state(session, state, *place.at, commands);
    return true;
}

float draw_talk(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    TalkPlace& place = state.part<TalkPlace>();
    const core::Talk& talk = session.talk();
    if (place.to_go && *place.to_go < talk.size() && !session.stale())
        arrive(session, state, *std::exchange(place.to_go, std::nullopt), commands);
    if (!state.presenting || talk.empty()) {
        place.at.reset();
        return 0.0F;
    }
    if (!place.at || *place.at >= talk.size()) {
        show_state(session, state, std::min(place.last, talk.size() - 1), commands);
        if (!place.at) return 0.0F;
    }
    const float pad = ui.px(16), gap = ui.px(8);
    const std::string count = std::to_string(*place.at + 1) + " / " + std::to_string(talk.size());
    const float right = compat::text_size(ui.fonts.text, count).x;
    const Area text = {{area.low.x + pad, area.low.y}, {area.high.x - 2 * pad - right, area.high.y}};
    const std::string& sentence = talk[*place.at].sentence;
    const float height = compat::text_size(ui.fonts.heading, in_lines(ui.fonts.heading, sentence, text.width())).y;
    const float top = area.high.y - height - gap;
    ImGui::GetWindowDrawList()->AddLine({area.low.x, top - gap}, {area.high.x, top - gap}, ui.theme.line);
    text_block(ui, ui.title(), {{text.low.x, top}, {text.high.x, area.high.y}}, sentence);
    draw_text(ui, ui.hint(), {area.high.x - pad - right, top}, count);
    return height + 2 * gap;
}

}  // namespace decoderscope::views::dialogs

#include "app/core/work/path_list.h"
#include "app/core/work/session_file.h"
#include "app/views/shell/actions.h"
#include "app/views/shell/panels.h"
#include "app/views/shell/saved_view.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <utility>

namespace decoderscope {

namespace {

void set_text(std::span<char> buffer, const std::string& text) {
    std::fill(buffer.begin(), buffer.end(), '\0');
    std::copy_n(text.begin(), std::min(text.size(), buffer.size() - 1), buffer.begin());
}

void close(ViewState& state) {
    state.dialog = Dialog::none;
    ImGui::CloseCurrentPopup();
}

// ---- what each dialog shows

void keys_dialog(const Ui& ui, ViewState& state) {
    std::vector<std::pair<std::string, std::string>> rows;
    for (const Action& action : actions())
        if (action.listed && action.key != Key::none) rows.emplace_back(chord_text(action), tr(action.label));
    rows.insert(rows.end(), {{"1 … 9", tr("Choose head 0 … 8")},
                             {"Shift+1 … 9", tr("Switch head 0 … 8 off or on")},
                             {tr("click"), tr("Explain a cell; on an operand: follow it")},
                             {tr("right-drag"), tr("Paint the mask; with Shift for all heads")},
                             {tr("wheel, drag"), tr("Zoom at the pointer, pan; double click fits")}});
    text_line(ui.fonts.heading, ui.theme.text, tr("Keys"));
    ImGui::Dummy({ui.px(840), ui.px(4)});
    // Two columns, read downwards.
    const std::size_t half = (rows.size() + 1) / 2;
    const float start = ImGui::GetCursorPosX();
    const auto cell = [&](float x, const std::pair<std::string, std::string>& row) {
        ImGui::SetCursorPosX(x);
        text_line(ui.fonts.mono_small, ui.theme.accent, row.first);
        ImGui::SameLine();
        ImGui::SetCursorPosX(x + ui.px(110));
        text_line(ui.fonts.caption, ui.theme.text, row.second);
    };
    for (std::size_t i = 0; i < half; ++i) {
        cell(start, rows[i]);
        if (i + half >= rows.size()) continue;
        ImGui::SameLine();
        cell(start + ui.px(430), rows[i + half]);
    }
    ImGui::Dummy({1, ui.px(6)});
    const bool glossary = button(tr("Glossary"), "glossary");
    ImGui::SameLine();
    if (button(tr("What to try with this model"), "introduction")) {
        state.settings.introduction_closed = false;
        return close(state);
    }
    if (state.dialog_opens) return;  // the press that opened it is still in this frame
    if (glossary || pressed(Key::f1)) {
        close(state);
        open_glossary(state);
    } else if (pressed(Key::escape)) {
        close(state);
    }
}

void palette_dialog(const Ui& ui, const Session& session, ViewState& state, Commands& commands) {
    ImGui::SetNextItemWidth(ui.px(460));
    if (state.dialog_opens) ImGui::SetKeyboardFocusHere();
    if (ImGui::InputText("##search", state.search.data(), state.search.size())) state.chosen_action = 0;
    std::vector<std::pair<int, const Action*>> found;
    for (const Action& action : actions()) {
        const int score = fuzzy_score(tr(action.label), state.search.data());
        if (action.listed && score >= 0 && action.enabled(session)) found.emplace_back(score, &action);
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    if (found.empty()) text_line(ui.fonts.caption, ui.theme.muted, tr("No action has these letters in this order."));
    const auto move = [&](std::ptrdiff_t by) {
        const auto count = static_cast<std::ptrdiff_t>(found.size());
        if (count > 0)
            state.chosen_action =
                static_cast<std::size_t>((static_cast<std::ptrdiff_t>(state.chosen_action) + by + count) % count);
    };
    if (pressed(Key::down, {}, true)) move(1);
    if (pressed(Key::up, {}, true)) move(-1);
    const Action* run = nullptr;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const Action& action = *found[i].second;
        if (ImGui::Selectable(labelled(tr(action.label), std::to_string(i)).c_str(), i == state.chosen_action))
            run = &action;
        const std::string chord = chord_text(action);
        ImGui::SameLine();
        ImGui::SetCursorPosX(ui.px(460) - compat::text_size(ui.fonts.mono_small, chord).x);
        text_line(ui.fonts.mono_small, ui.theme.muted, chord);
    }
    if (pressed(Key::enter) && state.chosen_action < found.size()) run = found[state.chosen_action].second;
    if (run != nullptr) {
        close(state);
        run->run(session, state, commands);
    } else if (pressed(Key::escape)) {
        close(state);
    }
}

// A name for work that has none yet, in the folder that the program was started in, or in the home folder if that is
// the root.
std::string proposed_file(const Session& session) {
    namespace fs = std::filesystem;
    if (!session.file().empty()) return session.file();
    const std::string name = fs::path(session.scenario().model()->name).stem().string() + std::string(kSessionEnding);
    std::error_code failed;
    const fs::path here = fs::current_path(failed);
    return failed || here == here.root_path() ? path_of("~/" + name) : (here / name).string();
}

std::string with_session_ending(const std::string& path) {
    return is_session_path(path) ? path : path + std::string(kSessionEnding);
}

void save_dialog(const Ui& ui, const Session& session, ViewState& state, Commands& commands) {
    if (state.dialog_opens) set_text(state.path, proposed_file(session));
    text_line(ui.fonts.heading, ui.theme.text, tr("Save the session"));
    ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + ui.px(460));
    paragraph_here(
        ui.fonts.caption, ui.theme.muted,
        tr("The model, input, masks, edits, tab and pinned run in one small JSON file. The weights stay where "
           "they are; the session remembers their path and checksum."));
    ImGui::PopTextWrapPos();
    ImGui::SetNextItemWidth(ui.px(460));
    if (state.dialog_opens) ImGui::SetKeyboardFocusHere();
    const bool entered =
        ImGui::InputText("##path", state.path.data(), state.path.size(), ImGuiInputTextFlags_EnterReturnsTrue);
    const std::string path = with_session_ending(path_of(state.path.data()));
    draw_replacing(ui, state, path, ui.px(460));
    const bool own = path == session.file();  // its own file, as Ctrl+S writes it
    const bool clicked = button(replacing(state, path) ? tr("Replace") : tr("Save"), "done");
    ImGui::SameLine();
    if (button(tr("Cancel"), "cancel") || (!state.dialog_opens && pressed(Key::escape))) {
        state.close_when_saved = false;
        return close(state);
    }
    const bool again = replacing(state, path) && pressed(Key::enter);
    const bool wanted = (entered || clicked || again) && state.path[0] != '\0';
    if (own ? !wanted : !may_write(state, path, wanted)) return;
    commands.push_back(command::SaveSession{path, saved_view(state)});
    close(state);
}

void unsaved_dialog(const Ui& ui, const Session& session, ViewState& state, Commands& commands) {
    text_line(ui.fonts.heading, ui.theme.text, tr("Save the work before closing?"));
    ImGui::Dummy({ui.px(420), ui.px(4)});
    const std::size_t edits = session.scenario().edits.size();
    const std::string file =
        std::filesystem::path(session.file().empty() ? session.scenario().model()->name : session.file())
            .filename()
            .string();
    paragraph(ui.fonts.caption, ui.theme.muted,
              tr_n("{file}, {count} edit, has changes that are in no file.",
                   "{file}, {count} edits, has changes that are in no file.", edits, {{"file", file}}));
    const bool save = button(tr("Save"), "save") || pressed(Key::enter);
    ImGui::SameLine();
    const bool close_now = button(tr("Close without saving"), "close");
    ImGui::SameLine();
    if (button(tr("Cancel"), "cancel") || (!state.dialog_opens && pressed(Key::escape))) return close(state);
    if (close_now) state.close = true;
    if (!save) return;
    close(state);
    state.close_when_saved = true;
    save_session(session, state, commands);
}

void settings_dialog(const Ui& ui, ViewState& state) {
    const std::array<const char*, 2> themes = {tr("Dark"), tr("Light")}, maps = {tr("Viridis"), tr("Cividis")};
    text_line(ui.fonts.heading, ui.theme.text, tr("Settings"));
    ImGui::Dummy({ui.px(360), ui.px(4)});
    const float start = ImGui::GetCursorPosX();
    const auto row = [&](const char* label) {
        ImGui::AlignTextToFramePadding();
        text_line(ui.fonts.caption, ui.theme.muted, label);
        ImGui::SameLine();
        ImGui::SetCursorPosX(start + ui.px(120));
    };
    row(tr("Theme"));
    if (const int clicked = segmented(ui, "theme", themes, state.settings.dark ? 0 : 1); clicked >= 0)
        state.settings.dark = clicked == 0;
    row(tr("Colour map"));
    const int map = state.settings.sequential == ColorMap::viridis ? 0 : 1;
    if (const int clicked = segmented(ui, "map", maps, map); clicked >= 0)
        state.settings.sequential = clicked == 0 ? ColorMap::viridis : ColorMap::cividis;
    row(tr("Text size"));
    if (ImGui::Button("−")) state.settings.text_scale = std::max(0.6F, state.settings.text_scale / 1.1F);
    ImGui::SameLine();
    text_line(ui.fonts.mono, ui.theme.text,
              tr("{percent} %", {{"percent", std::lround(state.settings.text_scale * 100.0F)}}));
    ImGui::SameLine();
    if (ImGui::Button("+")) state.settings.text_scale = std::min(3.0F, state.settings.text_scale * 1.1F);
    ImGui::Dummy({1, ui.px(4)});
    paragraph(ui.fonts.caption, ui.theme.muted,
              tr("Kept from one start to the next. The monitor's own scale is respected."));
    if (!state.dialog_opens && pressed(Key::escape)) close(state);
}

}  // namespace

bool replacing(const ViewState& state, const std::string& path) {
    std::error_code failed;
    return !path.empty() && state.replaces == path && std::filesystem::exists(path, failed);
}

bool may_write(ViewState& state, const std::string& path, bool pressed) {
    std::error_code failed;
    if (state.replaces != path) state.replaces.clear();  // another path was typed
    if (!pressed || path.empty()) return false;
    if (!std::filesystem::exists(path, failed) || !state.replaces.empty()) {
        state.replaces.clear();
        return true;
    }
    state.replaces = path;
    return false;
}

void draw_replacing(const Ui& ui, const ViewState& state, const std::string& path, float width) {
    if (!replacing(state, path)) {
        text_line(ui.fonts.caption, ui.theme.muted, " ");
        return;
    }
    ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width);
    paragraph_here(ui.fonts.caption, ui.theme.error, tr("{path} exists already. Replace it?", {{"path", path}}));
    ImGui::PopTextWrapPos();
}

void save_session(const Session& session, ViewState& state, Commands& commands) {
    if (!session.file().empty()) return commands.push_back(command::SaveSession{session.file(), saved_view(state)});
    state.dialog = Dialog::save_session;
    state.dialog_opens = true;
}

void follow_closing(const Session& session, ViewState& state) {
    if (state.close_when_saved && !session.unsaved()) state.close = true;
    // Cancelled if saving failed and no other name is being asked for, or if the question is asked again.
    const bool failed = session.message() && session.message()->failed;
    if ((failed && state.dialog == Dialog::none) || state.dialog == Dialog::unsaved) state.close_when_saved = false;
    if (!std::exchange(state.wants_to_close, false)) return;
    // What takes a moment to type or choose isn't worth a question. Edits, a pinned run and work that has a file are.
    const bool by_hand = !session.scenario().edits.empty() || session.shown().pinned != nullptr;
    if (!session.unsaved() || (!by_hand && session.file().empty())) {
        state.close = true;
        return;
    }
    state.dialog = Dialog::unsaved;
    state.dialog_opens = true;
}

void draw_dialogs(const Ui& ui, const Session& session, ViewState& state, Commands& commands) {
    follow_opening(session, state);
    follow_closing(session, state);
    if (state.dialog == Dialog::none) return;
    const Dialog shown = state.dialog;
    if (state.dialog_opens) {
        ImGui::OpenPopup("dialog");
        state.search.fill('\0');
        state.replaces.clear();
        state.chosen_action = 0;
    }
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({screen.x * 0.5F, screen.y * 0.16F}, ImGuiCond_Always, {0.5F, 0.0F});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(ui.px(16), ui.px(16)));
    if (ImGui::BeginPopup("dialog", ImGuiWindowFlags_NoMove)) {
        switch (state.dialog) {
            case Dialog::keys:
                keys_dialog(ui, state);
                break;
            case Dialog::glossary:
                draw_glossary_dialog(ui, session, state, commands);
                break;
            case Dialog::palette:
                palette_dialog(ui, session, state, commands);
                break;
            case Dialog::export_file:
                draw_export_dialog(ui, session, state, commands);
                break;
            case Dialog::open_model:
                draw_open_dialog(ui, session, state, commands);
                break;
            case Dialog::save_session:
                save_dialog(ui, session, state, commands);
                break;
            case Dialog::unsaved:
                unsaved_dialog(ui, session, state, commands);
                break;
            case Dialog::settings:
                settings_dialog(ui, state);
                break;
            case Dialog::checks:
                draw_checks_dialog(ui, session, state, commands);
                break;
            case Dialog::none:
                break;
        }
        ImGui::EndPopup();
    } else {
        if (state.dialog == Dialog::open_model) leave_open_dialog(session, commands);
        if (state.dialog == Dialog::save_session) state.close_when_saved = false;
        state.dialog = Dialog::none;  // a click outside closes it
    }
    ImGui::PopStyleVar();
    if (state.dialog == shown) state.dialog_opens = false;  // else another one has taken its place
}

}  // namespace decoderscope

#include "app/views/dialogs/open_dialog.h"

#include "app/core/text/utf8.h"
#include "app/views/dialogs/close_dialog.h"
#include "app/views/dialogs/open_questions.h"
#include "app/views/shell/panels.h"
#include "app/views/widgets/focus.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace decoderscope {

namespace {

constexpr float kOpenWidth = 640.0F;

void set_path(OpenDialogState& open, const std::string& path) {
    open.path.fill('\0');
    std::copy_n(path.begin(), std::min(path.size(), open.path.size() - 1), open.path.begin());
}

void close_opening(ViewState& state) {
    state.open.awaited = false;
    close_dialog(state);
}

void ask_for(OpenDialogState& open, const std::string& path, Commands& commands) {
    open.awaited = true;
    open.copied = false;
    commands.push_back(opening_command(path));
}

// "212 of 498 MB"
std::string megabytes(ModelLoader::Progress progress) {
    const auto mb = [](std::size_t bytes) { return std::to_string((bytes + 500'000) / 1'000'000); };
    return mb(progress.bytes_read) + " of " + mb(progress.bytes_total) + " MB";
}

// ---- while the model is being read

void reading(const Ui& ui, const Session& session, ViewState& state, Commands& commands) {
    const Opening& opening = *session.opening();
    const ModelLoader::Progress progress = session.opening_progress();
    const float width = ui.px(kOpenWidth);
    text_line(ui.fonts.caption, ui.theme.muted,
              tr("Reading {name}", {{"name", fitted(ui.fonts.caption, opening.name, width - ui.px(60))}}));
    const float fraction = progress.bytes_total > 0
                               ? static_cast<float>(progress.bytes_read) / static_cast<float>(progress.bytes_total)
                               : 0.0F;
    ImGui::PushStyleColor(ImGuiCol_PlotHistogram, ui.theme.accent_soft);
    ImGui::ProgressBar(fraction, {width, 0.0F}, progress.bytes_total > 0 ? megabytes(progress).c_str() : "");
    ImGui::PopStyleColor();
    paragraph(ui.fonts.caption, ui.theme.muted, tr("The current model stays until the new one is ready."));
    if (button(tr("Cancel"), "cancel") || (!state.dialog_opens && pressed(Key::escape))) {
        commands.push_back(command::StopOpening{});
        close_opening(state);
    }
}

// ---- why it can't be opened

void failure(const Ui& ui, OpenDialogState& open, const Opening& opening) {
    if (opening.error.empty()) return;
    paragraph(ui.fonts.caption, ui.theme.error, valid_utf8(tr(opening.error)));
    if (opening.python.empty()) return;
    paragraph(ui.fonts.caption, ui.theme.text,
              tr("A pickle is a program, and isn't run here. These three lines of Python write the same tensors as "
                 "safetensors beside it; then open that file:"));
    const ImVec2 low = ImGui::GetCursorScreenPos();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.ChannelsSplit(2);
    list.ChannelsSetCurrent(1);
    ImGui::Dummy({1, ui.px(2)});
    ImGui::Indent(ui.px(8));
    paragraph(ui.fonts.mono_small, ui.theme.text, valid_utf8(opening.python));
    ImGui::Unindent(ui.px(8));
    list.ChannelsSetCurrent(0);
    list.AddRectFilled(low, {low.x + ui.px(kOpenWidth), ImGui::GetCursorScreenPos().y}, ui.theme.raised, ui.px(4));
    list.ChannelsMerge();
    if (button(tr("Copy the lines"), "copy")) {
        ImGui::SetClipboardText(opening.python.c_str());
        open.copied = true;
    }
    if (!open.copied) return;
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    text_line(ui.fonts.caption, ui.theme.muted, tr("Copied."));
}

// ---- the choice

int complete(ImGuiInputTextCallbackData* data) {
    const std::string typed(data->Buf, static_cast<std::size_t>(data->BufTextLen));
    const std::string completed = list_paths(typed).completed;
    if (completed == typed) return 0;
    data->DeleteChars(0, data->BufTextLen);
    data->InsertChars(0, completed.c_str());
    return 0;
}

const char* words_for(PathKind kind) {
    switch (kind) {
        case PathKind::model_folder:
            return tr("model");
        case PathKind::weights:
            return tr("weights");
        case PathKind::pickled:
            return tr("pickled");
        case PathKind::trace:
            return tr("trace");
        case PathKind::folder:
        case PathKind::other:
            return "";
    }
    return "";
}

// What the path typed so far leads to. A click on a folder enters it; a click on a model opens it.
void path_list(const Ui& ui, OpenDialogState& open, Commands& commands) {
    const std::string typed = open.path.data();
    if (!open.listed || open.listed_for != typed) {
        open.list = list_paths(typed);
        open.listed_for = typed;
        open.listed = true;
    }
    const PathList& list = open.list;
    compat::begin_child("paths", {ui.px(kOpenWidth), ui.px(190)}, {.border = true, .padded = true});
    if (list.entries.empty())
        paragraph(
            ui.fonts.caption, ui.theme.muted,
            list.error.empty() ? tr("No folder, weights or session begins like this.") : valid_utf8(tr(list.error)));
    for (const PathList::Entry& entry : list.entries) {
        const bool plain = entry.kind == PathKind::folder;
        const std::string label = fitted(ui.fonts.text, valid_utf8(entry.name), ui.px(kOpenWidth - 120));
        if (press_row((label + "##" + entry.path).c_str())) {
            set_path(open, entry.path);
            if (!plain) ask_for(open, path_of(entry.path), commands);
        }
        ImGui::SameLine(ui.px(kOpenWidth - 84));
        text_line(ui.fonts.caption, entry.kind == PathKind::pickled ? ui.theme.muted : ui.theme.accent,
                  entry.session ? tr("session") : words_for(entry.kind));
    }
    if (list.more) text_line(ui.fonts.caption, ui.theme.muted, tr("… and more: keep typing"));
    ImGui::EndChild();
}

void choose(const Ui& ui, const Session& session, ViewState& state, Commands& commands) {
    OpenDialogState& open = state.open;
    paragraph(
        ui.fonts.caption, ui.theme.muted,
        tr("A folder with config.json and model.safetensors, a state_dict saved as safetensors, a session (.dscope), a "
           "trace recorded elsewhere, a link, or a bundled model's name. Tab completes; a folder or a file can be "
           "dropped on the window, too."));
    ImGui::SetNextItemWidth(ui.px(kOpenWidth));
    if (state.dialog_opens || open.refocus) ImGui::SetKeyboardFocusHere();
    open.refocus = false;
    focusable_field("##path");
    const bool entered =
        ImGui::InputText("##path", open.path.data(), open.path.size(),
                         ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CallbackCompletion, complete);
    note_glyphs(ImGui::GetFont(), open.path.data());
    path_list(ui, open, commands);
    if (session.opening()) failure(ui, open, *session.opening());
    const std::string path = path_of(open.path.data());
    if (state.desktop.picks_files) {
        if (button(tr("Choose files …"), "pick")) {
            state.pick_files = true;
            close_opening(state);
        }
        ImGui::SameLine();
    }
    if ((button(tr("Open"), "open") || entered) && !path.empty()) ask_for(open, path, commands);
    ImGui::SameLine();
    if (button(tr("Cancel"), "cancel") || (!state.dialog_opens && pressed(Key::escape))) {
        leave_open_dialog(session, commands);
        close_opening(state);
    }
}

// Small models are loaded before the message could be read.
bool takes_long(const Opening& opening) {
    return opening.reading && std::chrono::steady_clock::now() - opening.since > std::chrono::milliseconds(200);
}

}  // namespace

void follow_opening(const Session& session, ViewState& state) {
    const std::optional<Opening>& opening = session.opening();
    if (!opening) return;
    if (!opening->reading) {
        state.open.refocus = state.open.refocus || state.open.awaited;
        state.open.awaited = false;
    }
    if (state.dialog == Dialog::open_model) return;
    if (!opening->asks && opening->python.empty() && !takes_long(*opening)) return;
    state.dialog = Dialog::open_model;
    state.dialog_opens = true;
    state.open.awaited = opening->reading;
}

void leave_open_dialog(const Session& session, Commands& commands) {
    if (session.opening() && !session.opening()->reading) commands.push_back(command::StopOpening{});
}

void draw_open_dialog(const Ui& ui, const Session& session, ViewState& state, Commands& commands) {
    const std::optional<Opening>& opening = session.opening();
    if (!opening && state.open.awaited) return close_opening(state);
    if (state.dialog_opens && !opening) {
        state.open = {};
        // The folder of the current session or model may contain others.
        const std::filesystem::path shown =
            session.file().empty() ? session.shown().scenario.model()->name : session.file();
        if (shown.is_absolute()) set_path(state.open, (shown.parent_path() / "").string());
    }
    if (state.dialog_opens && opening) set_path(state.open, opening->name);
    text_line(ui.fonts.heading, ui.theme.text, tr("Open a model or a session"));
    ImGui::Dummy({ui.px(kOpenWidth), ui.px(2)});
    if (opening && opening->reading) return reading(ui, session, state, commands);
    if (!opening || !opening->asks) return choose(ui, session, state, commands);
    switch (draw_open_questions(ui, *opening, state.open, kOpenWidth, commands)) {
        case QuestionsEnd::open:
            state.open.awaited = true;
            break;
        case QuestionsEnd::back:
            commands.push_back(command::StopOpening{});
            break;
        case QuestionsEnd::none:
            // With a list open, Esc closes that one only.
            if (!state.dialog_opens && pressed(Key::escape) && compat::open_popups() <= 1) {
                leave_open_dialog(session, commands);
                close_opening(state);
            }
            break;
    }
}

}  // namespace decoderscope

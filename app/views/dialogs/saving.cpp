#include "app/core/files/saved_session.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/lessons/lessons_panel.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <filesystem>

namespace decoderscope::views::dialogs {

core::files::SavedView saved_view(const ViewState& state) {
    core::files::SavedView saved{
        .tab = state.tab, .tabs = state.part<SavingState>().unknown_tabs, .lesson = lesson_panel::lesson_beside(state)};
    for (const Tab& tab : tabs())
        if (tab.save != nullptr) saved.tabs[std::string(tab.id)] = tab.save(state).dump();
    return saved;
}

namespace {

void restore(ViewState& state, const Tab& tab, const core::files::SavedView& saved) {
    tab.restore(state, nullptr);
    const auto read = [&](std::string_view id) {
        const auto found = saved.tabs.find(std::string(id));
        if (found == saved.tabs.end()) return;
        Json json = parse_json(found->second, message("an object"));
        if (id == core::files::kCompareTab && !saved.trace.empty()) json["file"] = saved.trace;
        JsonObject object(json, core::files::place_of_saved(id));
        tab.restore(state, &object);
        object.finish();
    };
    read(tab.id);
    for (const TabPage& page : tab.pages) read(page.id);
}

}  // namespace

Commands show_saved(ViewState& state, const core::files::SavedView& saved) {
    Commands told;
    std::map<std::string, std::string>& unknown = state.part<SavingState>().unknown_tabs;
    unknown = saved.tabs;
    for (const Tab& tab : tabs()) {
        unknown.erase(std::string(tab.id));
        for (const TabPage& page : tab.pages) unknown.erase(std::string(page.id));
        if (tab.restore == nullptr) continue;
        try {
            restore(state, tab, saved);
        } catch (const Error& error) {
            tab.restore(state, nullptr);
            told.push_back(core::command::Tell{error.sentence()});
        }
    }
    const bool known = find_tab(saved.tab) != nullptr;
    state.tab = known ? saved.tab : std::string(core::files::kStepTab);
    open_page(state);
    if (!known)
        told.push_back(core::command::Tell{
            message("This Decoderscope has no tab \"{tab}\"; a newer one does.", {{"tab", saved.tab}})});
    if (!saved.lesson.empty() && saved.lesson != lesson_panel::lesson_beside(state)) {
        try {
            lesson_panel::open_lesson_beside(state, saved.lesson);
        } catch (const Error& error) {
            told.push_back(core::command::Tell{error.sentence()});
        }
    }
    return told;
}

namespace {

// The fragment of what is open; nothing if it can't have one: then a file is offered.
std::optional<std::string> fragment(const core::Session& session, ViewState& state) {
    try {
        return core::files::link_of(core::files::session_file_of(session.work(saved_view(state))));
    } catch (const Error& error) {
        state.show(Dialog::save_session);
        state.part<SavingState>().because = error.sentence();
        return std::nullopt;
    }
}

}  // namespace

void copy_link(const core::Session& session, ViewState& state, Commands& commands) {
    const std::optional<std::string> found = fragment(session, state);
    if (!found) return;
    const std::string& address = state.link_base.address;
    ImGui::SetClipboardText(core::files::link_at(address, *found).c_str());
    if (address.empty())
        commands.push_back(core::command::Tell{
            message("Copied without an address, for this program to open. For a link that opens in a browser, give the "
                    "address of the browser version in the settings (Ctrl+,)."),
            false});
    else
        commands.push_back(core::command::Tell{message("Copied as a link."), false});
}

void copy_embedding(const core::Session& session, ViewState& state, Commands& commands) {
    const std::string& address = state.link_base.address;
    if (address.empty()) {
        commands.push_back(core::command::Tell{
            message("Not copied: another page can show the stage only from the browser version. Give its address in "
                    "the settings (Ctrl+,).")});
        return;
    }
    const std::optional<std::string> found = fragment(session, state);
    if (!found) return;
    const std::string title =
        session.scenario().about().name + " · " + session.cursor().step + " · Decoderscope";  // not a message: names
    ImGui::SetClipboardText(core::files::embedding_of(address, *found, title).c_str());
    commands.push_back(core::command::Tell{message("Copied as HTML, to be pasted into a page."), false});
}

void open_copied_link(const core::Session&, ViewState&, Commands& commands) {
    const char* text = ImGui::GetClipboardText();
    if (text != nullptr && core::files::is_link(text))
        commands.push_back(core::command::OpenLink{text});
    else
        commands.push_back(
            core::command::Tell{message("There is no link on the clipboard; expected one with #s1= in it.")});
}

bool replacing(const ViewState& state, const std::string& path) {
    std::error_code failed;
    return !path.empty() && state.part<SavingState>().replaces == path && std::filesystem::exists(path, failed);
}

bool may_write(ViewState& state, const std::string& path, bool pressed) {
    std::error_code failed;
    std::string& asked = state.part<SavingState>().replaces;
    if (asked != path) asked.clear();  // another path was typed
    if (!pressed || path.empty()) return false;
    if (!std::filesystem::exists(path, failed) || !asked.empty()) {
        asked.clear();
        return true;
    }
    asked = path;
    return false;
}

void draw_replacing(const Ui& ui, const ViewState& state, const std::string& path, float width) {
    const std::string asked = tr("{path} already exists. Replace it?", {{"path", path}});
    text_line({ui.fonts.caption, ui.theme.error},
              replacing(state, path) ? fitted_in_middle(ui.fonts.caption, asked, width) : " ");
}

bool write_button(bool replaces, const char* text, const char* id) {
    return button(replaces ? tr("Replace") : text, id, std::max(button_width(tr("Replace")), button_width(text)));
}

void save_session(const core::Session& session, ViewState& state, Commands& commands) {
    const bool changed = session.file_has_changed();
    if (!session.file().empty() && !changed)
        return commands.push_back(core::command::SaveSession{session.file(), saved_view(state)});
    state.show(Dialog::save_session);
    if (changed)
        state.part<SavingState>().because =
            message("{file} has changed since it was opened or saved here: another program has written to it.",
                    {{"file", session.file()}});
}

}  // namespace decoderscope::views::dialogs

#include "app/views/dialogs/dialogs.h"

#include "app/core/files/session_file.h"
#include "app/core/run/edit_groups.h"
#include "app/core/text/characters.h"
#include "app/views/frame/books.h"
#include "app/views/frame/guarded.h"
#include "app/views/inspector/inspector.h"
#include "app/views/tabs/checks/checks.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace decoderscope::views::dialogs {

namespace {

// ---- what each dialog shows

void keys_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    std::vector<std::pair<std::string, std::string>> rows;
    for (const Action& action : actions())
        if (action.listed && action.key != Key::none) rows.emplace_back(chord_text(action), tr(action.label));
    rows.insert(rows.end(), {{"0 … 9", tr("Choose head 0 … 9")},
                             {"Shift+0 … 9", tr("Switch head 0 … 9 off or on")},
                             {tr("click"), tr("Explain a cell; on an operand: follow it")},
                             {tr("right-drag"), tr("Paint the mask; with Shift for all heads")},
                             {tr("wheel, drag"), tr("Zoom at the pointer, pan; double click fits")}});
    text_line(ui.title(), tr("Keys"));
    ImGui::SameLine(0, ui.px(24));
    const bool glossary = button(tr("Glossary"), "glossary");
    ImGui::SameLine();
    const bool book = button(tr("Formulas"), "formulas");
    ImGui::SameLine();
    if (button(tr("What to try with this model"), "introduction")) {
        inspector::introduce_again(session, state, commands);
        return close_dialog(state);
    }
    // Two columns, read downwards, if there is room for them. What is too long for one takes two lines.
    float keys = 0.0F;
    for (const auto& [chord, text] : rows) keys = std::max(keys, compat::text_size(ui.fonts.mono_small, chord).x);
    const float gap = ui.px(24), room = ImGui::GetIO().DisplaySize.x - ui.px(24 + 32) - ImGui::GetStyle().ScrollbarSize;
    const bool two = room >= ui.px(760);
    const float column = std::min(two ? (room - gap) * 0.5F : room, keys + ui.px(16 + 400));
    const std::size_t half = two ? (rows.size() + 1) / 2 : rows.size();
    const auto list = [&](std::span<const std::pair<std::string, std::string>> some) {
        const float start = ImGui::GetCursorPosX();
        ImGui::BeginGroup();
        for (const auto& [chord, text] : some) {
            text_line(ui.number(), chord);
            ImGui::SameLine();
            ImGui::SetCursorPosX(start + keys + ui.px(16));
            ImGui::BeginGroup();
            paragraph(ui.caption(), text, column - keys - ui.px(16));
            ImGui::EndGroup();
        }
        ImGui::Dummy({column, 1.0F});
        ImGui::EndGroup();
    };
    // The whole list is seen in a window of 800 px.
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(ImGui::GetStyle().ItemSpacing.x, ui.px(1)));
    list(std::span(rows).first(half));
    ImGui::SameLine(0, gap);
    if (two) list(std::span(rows).subspan(half));
    ImGui::PopStyleVar();
    if (state.dialog_opens) return;  // the press that opened it is still in this frame
    if (glossary || pressed(Key::f1)) {
        close_dialog(state);
        open_glossary(state);
    } else if (book) {
        close_dialog(state);
        open_formulas(state);
    } else if (pressed(Key::escape)) {
        close_dialog(state);
    }
}

// A name for work that has none yet, in the folder that the program was started in, or in the home folder if that is
// the root.
std::string proposed_file(const core::Session& session) {
    namespace fs = std::filesystem;
    if (!session.file().empty()) return session.file();
    const std::string name =
        fs::path(session.scenario().about().name).stem().string() + std::string(core::files::kSessionEnding);
    std::error_code failed;
    const fs::path here = fs::current_path(failed);
    return failed || here == here.root_path() ? core::path_of("~/" + name) : (here / name).string();
}

void save_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    SavingState& saving = state.part<SavingState>();
    if (state.dialog_opens) saving.path = proposed_file(session);
    text_line(ui.title(), tr("Save the session"));
    if (!saving.because.empty())
        paragraph({ui.fonts.caption, ui.theme.error}, core::valid_utf8(tr(saving.because)), ui.px(460));
    paragraph(ui.note(),
              tr("The model, input, masks, edits, tab and pinned run in one small JSON file. The weights stay where "
                 "they are; the session remembers their path and checksum."),
              ui.px(460));
    ImGui::SetNextItemWidth(ui.px(460));
    if (state.dialog_opens) compat::take_keyboard();
    const bool entered = text_field("##path", saving.path, ImGuiInputTextFlags_EnterReturnsTrue);
    std::string path = core::path_of(saving.path);
    if (!core::files::is_session_path(path)) path += core::files::kSessionEnding;
    draw_replacing(ui, state, path, ui.px(460));
    const bool clicked = write_button(replacing(state, path), tr("Save"), "done");
    ImGui::SameLine();
    if (button(tr("Cancel"), "cancel") || (!state.dialog_opens && pressed(Key::escape))) {
        saving.then_goes_on = false;
        return close_dialog(state);
    }
    const bool again = replacing(state, path) && pressed(Key::enter);
    const bool wanted = (entered || clicked || again) && !saving.path.empty();
    // Its own file is written as Ctrl+S writes it.
    const bool own = wanted && path == session.file() && !session.file_has_changed();
    if (!own && !may_write(state, path, wanted)) return;
    commands.push_back(core::command::SaveSession{path, saved_view(state)});
    close_dialog(state);
}

// What the user was asked about: the window closes, or other work opens.
void go_on(ViewState& state, Commands& commands) {
    SavingState& saving = state.part<SavingState>();
    saving.agreed = saving.next.has_value();
    if (saving.next)
        commands.push_back(*std::exchange(saving.next, std::nullopt));
    else
        commands.push_back(request::CloseWindow{});
}

// Goes on once the work that was to be saved first is.
void follow_saving(const core::Session& session, ViewState& state, Commands& commands) {
    bool& goes_on = state.part<SavingState>().then_goes_on;
    if (!goes_on) return;
    if (!session.unsaved()) {
        goes_on = false;
        return go_on(state, commands);
    }
    // Cancelled if saving failed and no other name is being asked for, or if the question is asked again.
    const bool failed = session.message() && session.message()->failed;
    if ((failed && state.dialog == Dialog::none) || state.dialog == Dialog::unsaved) goes_on = false;
}

void unsaved_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    const bool opens = state.part<SavingState>().next.has_value();
    text_line(ui.title(),
              opens ? tr("Save the work before other work takes its place?") : tr("Save the work before closing?"));
    ImGui::Dummy({ui.px(420), ui.px(4)});
    const std::size_t edits = core::count_of_edits(session.scenario().edits);
    const std::string file =
        std::filesystem::path(session.file().empty() ? session.scenario().about().name : session.file())
            .filename()
            .string();
    paragraph(ui.note(), tr_n("{file}, {count} edit, has unsaved changes.",
                              "{file}, {count} edits, has unsaved changes.", edits, {{"file", file}}));
    const bool save = button(tr("Save"), "save") || (!focus_is_visible() && pressed(Key::enter));
    ImGui::SameLine();
    const bool now = button(opens ? tr("Open without saving") : tr("Close without saving"), "close");
    ImGui::SameLine();
    if (button(tr("Cancel"), "cancel") || (!state.dialog_opens && pressed(Key::escape))) return close_dialog(state);
    if (now) go_on(state, commands);
    if (now && opens) close_dialog(state);
    if (!save) return;
    close_dialog(state);
    state.part<SavingState>().then_goes_on = true;
    save_session(session, state, commands);
}

// Smaller, the size that is drawn, larger: the sizes that the window has room for.
void text_size_row(const Ui& ui, ViewState& state) {
    const float drawn = state.text_size();
    const auto step = [&](const char* text, std::optional<float> size, const char* none) {
        ImGui::PushStyleColor(ImGuiCol_Text, size ? ui.theme.text : ui.theme.muted);
        const bool clicked = focusable(ImGui::Button(text), text);
        ImGui::PopStyleColor();
        if (!size) tooltip(none);
        if (clicked && size) state.settings.text_scale = *size;
    };
    step("−", smaller_text_size(drawn), tr("This is the smallest size."));
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    text_line({ui.fonts.mono, ui.theme.text}, tr("{percent} %", {{"percent", std::lround(drawn * 100.0F)}}));
    ImGui::SameLine();
    step("+", larger_text_size(drawn, state.largest_text), tr("The window is too small for a larger size."));
}

std::string text_size_note(const ViewState& state) {
    const Arguments sizes = {{"wanted", std::lround(state.settings.text_scale * 100.0F)},
                             {"most", std::lround(state.largest_text * 100.0F)}};
    if (state.settings.text_scale > state.largest_text)
        return tr(
            message("The window only has room for text at {most} %. The text returns to {wanted} % once the window is "
                    "large enough.",
                    sizes));
    return tr(message("This window has room for text of up to {most} %; a larger window has room for more.", sizes));
}

// A language's own name; its code if no font has the characters of the name.
const char* drawable_name(const core::language::Language& language) {
    note_glyphs(ImGui::GetFont(), language.name);
    return lacks_glyphs(language.name) ? language.code.c_str() : language.name.c_str();
}

// Each language in itself, so that a reader of it finds it in any other.
void language_choice(const Ui& ui, ViewState& state) {
    std::vector<const char*> names = {tr("Same as the system")};
    for (const core::language::Language& language : state.languages) names.push_back(drawable_name(language));
    const auto found = std::ranges::find(state.languages, state.settings.language, &core::language::Language::code);
    const bool own = !state.settings.language.empty() && found != state.languages.end();
    const int chosen = own ? 1 + static_cast<int>(found - state.languages.begin()) : 0;
    const int clicked = segmented(ui, "language", names, chosen);
    if (clicked == 0)
        state.settings.language.clear();
    else if (clicked > 0)
        state.settings.language = state.languages[static_cast<std::size_t>(clicked) - 1].code;
}

struct TypedAddress {
    std::string text;
};

// The address of the program in a browser: copied links lead there.
void address_field(const Ui& ui, ViewState& state) {
    std::string& address = state.part<TypedAddress>().text;
    if (state.dialog_opens) address = state.settings.browser_address;
    ImGui::SetNextItemWidth(ui.px(340));
    if (text_field("##address", address, 0, "https://"))
        state.settings.browser_address = core::files::address_of(address);
    tooltip(tr("The address of Decoderscope in a browser. Copied links lead there."));
}

// What the system says, yes, or no.
void choose_or_follow(const Ui& ui, const char* id, std::span<const char* const> labels, std::optional<bool>& setting) {
    const int clicked = segmented(ui, id, labels, !setting ? 0 : *setting ? 1 : 2);
    if (clicked == 0) setting.reset();
    if (clicked > 0) setting = clicked == 1;
}

void settings_dialog(const Ui& ui, const core::Session&, ViewState& state, Commands&) {
    const std::array<const char*, 3> themes = {tr("Same as the system"), tr("Dark"), tr("Light")};
    const std::array<const char*, 2> maps = {tr("Viridis"), tr("Cividis")};
    text_line(ui.title(), tr("Settings"));
    ImGui::Dummy({ui.px(360), ui.px(4)});
    const float start = ImGui::GetCursorPosX();
    const auto row = [&](const char* label) {
        word_beside(ui, label);
        ImGui::SameLine();
        ImGui::SetCursorPosX(start + ui.px(120));
    };
    if (state.languages.size() > 1) {
        row(tr("Language"));
        language_choice(ui, state);
    }
    row(tr("Theme"));
    choose_or_follow(ui, "theme", themes, state.settings.dark);
    row(tr("Colour map"));
    const int map = state.settings.sequential == core::ColorMap::viridis ? 0 : 1;
    if (const int clicked = segmented(ui, "map", maps, map); clicked >= 0)
        state.settings.sequential = clicked == 0 ? core::ColorMap::viridis : core::ColorMap::cividis;
    row(tr("Text size"));
    text_size_row(ui, state);
    row(tr("Motion"));
    const std::array<const char*, 3> motions = {tr("Same as the desktop"), tr("Reduced"), tr("Full")};
    choose_or_follow(ui, "motion", motions, state.settings.reduced_motion);
    if (state.link_base.from_settings) {
        row(tr("Browser version"));
        address_field(ui, state);
    }
    ImGui::Dummy({1, ui.px(4)});
    paragraph(ui.note(), text_size_note(state));
    paragraph(ui.note(), tr("Remembered after a restart. The monitor's own scale is taken into account."));
    if (!state.dialog_opens && pressed(Key::escape)) close_dialog(state);
}

void draw_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    using Draw = void (*)(const Ui&, const core::Session&, ViewState&, Commands&);
    static constexpr auto kDialogs =
        std::to_array<std::pair<Dialog, Draw>>({{Dialog::keys, keys_dialog},
                                                {Dialog::glossary, draw_glossary_dialog},
                                                {Dialog::formulas, draw_formulas_dialog},
                                                {Dialog::formula, draw_formula_editor},
                                                {Dialog::palette, draw_palette_dialog},
                                                {Dialog::export_file, draw_export_dialog},
                                                {Dialog::open_model, draw_open_dialog},
                                                {Dialog::save_session, save_dialog},
                                                {Dialog::unsaved, unsaved_dialog},
                                                {Dialog::settings, settings_dialog},
                                                {Dialog::checks, checks::draw_checks_dialog},
                                                {Dialog::configuration, draw_configuration_dialog},
                                                {Dialog::talk, draw_talk_dialog}});
    const auto open = std::ranges::find(kDialogs, state.dialog, &std::pair<Dialog, Draw>::first);
    if (open == kDialogs.end()) return;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const Area failed = {at, {at.x + ui.px(460), at.y + ui.px(120)}};
    const bool drawn = draw_guarded(ui, session, state, "dialog", failed, commands,
                                    [&](Commands& heard) { open->second(ui, session, state, heard); });
    if (!drawn && !state.dialog_opens && pressed(Key::escape)) close_dialog(state);
}

}  // namespace

namespace {

// Whether unsaved work is worth a question. What takes a moment to type or choose isn't. Edits, a pinned run, a talk
// and work that has a file are.
bool worth_saving(const core::Session& session) {
    const bool by_hand =
        !session.scenario().edits.empty() || session.shown().pinned != nullptr || !session.talk().empty();
    return session.unsaved() && (by_hand || !session.file().empty());
}

// Whether a command opens other work in the place of this. A link that is damaged opens nothing, and is said to be.
bool replaces(const core::Command& command) {
    if (const auto* session = command.get_if<core::command::OpenSession>()) return !session->recovered;
    const auto* link = command.get_if<core::command::OpenLink>();
    try {
        if (link != nullptr) static_cast<void>(core::files::session_of_link(link->link));
    } catch (const Error&) {
        return false;
    }
    return link != nullptr;
}

}  // namespace

void ask_to_close(const core::Session& session, ViewState& state, Commands& commands) {
    if (!worth_saving(session)) return commands.push_back(request::CloseWindow{});
    state.part<SavingState>().next.reset();
    state.show(Dialog::unsaved);
}

bool asks_before(const core::Session& session, ViewState& state, const core::Command& command) {
    SavingState& saving = state.part<SavingState>();
    if (!replaces(command) || std::exchange(saving.agreed, false)) return false;
    if (state.embedded || !worth_saving(session)) return false;  // an embedded stage keeps no work
    saving.next = command;
    state.show(Dialog::unsaved);
    return true;
}

void draw_dialogs(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    follow_opening(session, state);
    follow_saving(session, state, commands);
    if (state.dialog == Dialog::none) return;
    const Dialog shown = state.dialog;
    if (state.dialog_opens) {
        ImGui::OpenPopup("dialog");
        state.focus.hide();
        state.part<SavingState>().replaces.clear();
    }
    // A dialog that is higher than the room for it scrolls.
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    const float margin = ui.px(12), top = screen.y > ui.px(700) ? screen.y * 0.12F : margin;
    ImGui::SetNextWindowPos({screen.x * 0.5F, top}, ImGuiCond_Always, {0.5F, 0.0F});
    ImGui::SetNextWindowSizeConstraints(
        {0, 0}, {std::max(screen.x - margin * 2, ui.px(200)), std::max(screen.y - top - margin, ui.px(100))});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(ui.px(16), ui.px(16)));
    if (ImGui::BeginPopup("dialog", ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoNav)) {
        draw_dialog(ui, session, state, commands);
        ImGui::EndPopup();
    } else {
        if (state.dialog == Dialog::open_model) leave_open_dialog(session, commands);
        if (state.dialog == Dialog::save_session) state.part<SavingState>().then_goes_on = false;
        state.dialog = Dialog::none;  // a click outside closes it
    }
    if (state.dialog != Dialog::save_session) state.part<SavingState>().because = {};
    ImGui::PopStyleVar();
    if (state.dialog == shown) state.dialog_opens = false;  // otherwise another one has taken its place
}

}  // namespace decoderscope::views::dialogs

#include "app/core/run/watched.h"
#include "app/views/inspector/inspector.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cstring>

namespace decoderscope::views::inspector {

namespace {

// Too long a list can't be read; the palette finds the others.
constexpr std::size_t kMostNotesListed = 30;
constexpr int kDigits = 6;  // of the number that a note stands at

void fill(NoteField& field, const core::Note& note) {
    field = {.open = true, .take = true, .place = core::place_text(note)};
    std::memcpy(field.text.data(), note.text.data(), std::min(note.text.size(), field.text.size() - 1));
}

// The field. Enter pins what it holds; an empty one removes the note.
void write_note(const Ui& ui, core::Note here, NoteField& field, Commands& commands) {
    paragraph(ui.note(), tr("Note on {place}; Enter pins it", {{"place", field.place}}));
    ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x);
    if (field.take) compat::take_keyboard();  // once: each further request would put off the one before
    field.take = false;
    focusable_field("##note", field.text.data());
    const bool entered =
        ImGui::InputText("##note", field.text.data(), field.text.size(), ImGuiInputTextFlags_EnterReturnsTrue);
    const bool left = ImGui::IsItemDeactivated();
    if (entered) {
        here.text = field.text.data();
        commands.push_back(core::command::PinNote{std::move(here)});
    }
    if (entered || left) field = {};
}

void line_of_note(const Ui& ui, const core::Session& session, const core::Note& note, int id, Commands& commands) {
    if (link(ui, {ui.fonts.mono_small, ui.theme.accent}, "×", 2 * id)) {
        core::Note gone = note;
        gone.text.clear();
        commands.push_back(core::command::PinNote{std::move(gone)});
    }
    tooltip(tr("Remove this note"));
    ImGui::SameLine(0, ui.px(6));
    const std::string place = fitted(ui.fonts.mono_small, core::place_text(note), ImGui::GetContentRegionAvail().x);
    if (const std::optional<core::Command> goes = core::command_to(note, *session.shown().run)) {
        if (link(ui, {ui.fonts.mono_small, ui.theme.accent}, place, 2 * id + 1)) commands.push_back(*goes);
    } else {
        text_line({ui.fonts.mono_small, ui.theme.muted}, place);
        tooltip(tr("This run has no such place."));
    }
    paragraph(ui.caption(), note.text);
    const core::Value<core::WatchedNumber> number = core::shown_watched(session.derived(), session.shown(), note);
    if (number && number->missing.empty())
        paragraph({ui.fonts.mono_small, ui.theme.muted}, tr(core::number_sentence(*number, kDigits)));
}

}  // namespace

void inspect_note(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    const core::Note here = core::note_here(session);
    NoteField& field = state.part<InspectorState>().note;
    if (field.open && field.place.empty()) fill(field, here);  // by its key
    if (field.open && field.place != core::place_text(here)) field = {};
    if (!field.open && here.text.empty()) return;
    ImGui::PushID("note");
    if (field.open) {
        write_note(ui, here, field, commands);
    } else {
        paragraph({ui.fonts.caption, ui.theme.warning}, here.text);
        if (link(ui, {ui.fonts.caption, ui.theme.accent}, tr("Change the note"), 0)) fill(field, here);
    }
    ImGui::PopID();
}

void list_notes(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    core::Notes notes = session.notes();
    std::erase_if(notes, [](const core::Note& note) { return note.text.empty(); });  // watched, and nothing else
    const core::Note here = core::note_here(session);
    NoteField& field = state.part<InspectorState>().note;
    section_line(ui);
    ImGui::PushID("notes");
    const char* label = here.cell.empty() ? tr("Pin a note to this step") : tr("Pin a note to this cell");
    if (!field.open && here.text.empty() && link(ui, {ui.fonts.caption, ui.theme.accent}, label, 0)) fill(field, here);
    if (!notes.empty()) text_line(ui.note(), tr_n("{count} note", "{count} notes", notes.size()));
    for (std::size_t i = 0; i < std::min(notes.size(), kMostNotesListed); ++i)
        line_of_note(ui, session, notes[i], static_cast<int>(i) + 1, commands);
    if (notes.size() > kMostNotesListed) {
        const std::size_t more = notes.size() - kMostNotesListed;
        text_line(ui.note(), tr_n("… and {count} more", "… and {count} more", more));
    }
    ImGui::PopID();
}

}  // namespace decoderscope::views::inspector

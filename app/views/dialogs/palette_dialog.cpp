#include "app/views/dialogs/palette.h"
#include "app/views/shell/panels.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>

namespace decoderscope {

namespace {

constexpr float kPaletteWidth = 560.0F;

void search(PaletteState& palette) {
    const std::string typed = palette.typed.data();
    if (palette.searched && palette.found_for == typed) return;
    palette.found = best_matches(palette.entries, typed);
    palette.found_for = typed;
    palette.searched = true;
    palette.chosen = 0;
    palette.scrolls = true;
}

void move(PaletteState& palette, std::ptrdiff_t by) {
    const auto count = static_cast<std::ptrdiff_t>(palette.found.size());
    if (count == 0) return;
    palette.chosen = static_cast<std::size_t>((static_cast<std::ptrdiff_t>(palette.chosen) + by + count) % count);
    palette.scrolls = true;
}

// The found entries, as many as there is room for; the others by scrolling. Returns the one that was clicked.
const PaletteEntry* draw_found(const Ui& ui, PaletteState& palette, float width, float room) {
    const PaletteEntry* clicked = nullptr;
    const float line = ImGui::GetTextLineHeightWithSpacing();
    const float height = std::min(line * static_cast<float>(palette.found.size()) + ui.px(4), room);
    compat::begin_child("found", {width, height});
    if (palette.scrolls) {
        const float top = line * static_cast<float>(palette.chosen), scroll = ImGui::GetScrollY();
        if (top < scroll) ImGui::SetScrollY(top);
        if (top + line > scroll + height) ImGui::SetScrollY(top + line - height);
        palette.scrolls = false;
    }
    const float right = ImGui::GetContentRegionAvail().x;
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(palette.found.size()), line);
    while (clipper.Step())
        for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const PaletteEntry& entry = palette.entries[palette.found[at]];
            const float note = compat::text_size(ui.fonts.mono_small, entry.note).x;
            const std::string name = fitted(ui.fonts.text, entry.name, right - note - ui.px(16));
            if (ImGui::Selectable(labelled(name, std::to_string(i)).c_str(), at == palette.chosen)) clicked = &entry;
            ImGui::SameLine();
            ImGui::SetCursorPosX(right - note - ui.px(4));
            text_line(ui.fonts.mono_small, ui.theme.muted, entry.note);
        }
    ImGui::EndChild();
    return clicked;
}

}  // namespace

void draw_palette_dialog(const Ui& ui, const Session& session, ViewState& state, Commands& commands) {
    PaletteState& palette = state.palette;
    if (state.dialog_opens) {
        palette = {};
        palette.entries = palette_entries(session, state);
        ImGui::SetKeyboardFocusHere();
    }
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    const float width = std::clamp(screen.x - ui.px(48), ui.px(200), ui.px(kPaletteWidth));
    ImGui::SetNextItemWidth(width);
    ImGui::InputTextWithHint("##search", tr("an action, step, weight, model or setting"), palette.typed.data(),
                             palette.typed.size());
    note_glyphs(ImGui::GetFont(), palette.typed.data());
    search(palette);
    if (palette.found.empty())
        text_line(ui.fonts.caption, ui.theme.muted, tr("Nothing has these letters in this order."));
    if (pressed(Key::down, {}, true)) move(palette, 1);
    if (pressed(Key::up, {}, true)) move(palette, -1);
    const float below = screen.y - ImGui::GetCursorScreenPos().y - ui.px(40);
    const PaletteEntry* chosen = draw_found(ui, palette, width, std::max(below, ui.px(60)));
    if (pressed(Key::enter) && palette.chosen < palette.found.size())
        chosen = &palette.entries[palette.found[palette.chosen]];
    if (chosen == nullptr && !pressed(Key::escape)) return;
    const auto run = chosen == nullptr ? decltype(PaletteEntry::run)() : chosen->run;
    palette = {};
    state.dialog = Dialog::none;
    ImGui::CloseCurrentPopup();
    if (run) run(session, state, commands);
}

}  // namespace decoderscope

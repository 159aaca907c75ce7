#include "app/views/lessons/lessons_panel.h"
#include "app/views/shell/inspector_parts.h"
#include "app/views/shell/lab.h"
#include "app/views/shell/panels.h"
#include "app/views/widgets/imgui_compat.h"

namespace decoderscope {

void inspector_line(const Ui& ui) {
    ImGui::Dummy({1, ui.px(4)});
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::GetWindowDrawList()->AddLine(at, {at.x + ImGui::GetContentRegionAvail().x, at.y}, ui.theme.line);
    ImGui::Dummy({1, ui.px(4)});
}

void inspector_heading(const Ui& ui, std::string_view text) {
    inspector_line(ui);
    text_line(ui.fonts.text, ui.theme.text, text);
}

void at_right_edge(const Ui& ui, ImFont* font, ImU32 color, std::string_view text) {
    const float width = compat::text_size(font, text).x;
    ImGui::SameLine(0, ui.px(8));
    if (ImGui::GetContentRegionAvail().x < width + ui.px(4)) ImGui::NewLine();
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - width - ui.px(4));
    text_line(font, color, text);
}

void draw_inspector(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands) {
    ImGui::GetWindowDrawList()->AddRectFilled(area.low, area.high, ui.theme.panel);
    if (draw_lessons(ui, session, state, area, commands)) return;
    ImGui::SetCursorScreenPos({area.low.x + ui.px(12), area.low.y + ui.px(8)});
    compat::begin_child("inspector", {area.width() - ui.px(16), area.height() - ui.px(12)});
    // Beside a tab with something else on it, the step and its cell would explain what isn't there.
    if (const Lab* open = find_lab(state.tab);
        open != nullptr && open->inspect != nullptr && has_something(*open, session)) {
        open->inspect(ui, session, state, commands);
    } else {
        describe_step(ui, state, session.shown().run->plan(), session.step());
        inspector_line(ui);
        inspect_cell(ui, session, state, commands);
    }
    list_gradients(ui, session, commands);
    list_edits(ui, session, state, commands);
    ImGui::EndChild();
}

}  // namespace decoderscope

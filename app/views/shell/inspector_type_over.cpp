#include "app/core/step/explanation_text.h"
#include "app/core/text/labels.h"
#include "app/views/shell/inspector_parts.h"
#include "app/views/shell/inspector_state.h"
#include "app/views/widgets/focus.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>

namespace decoderscope {

namespace {

constexpr int kFramesToTakeBack = 4;

// The field shows the run's number, unless it is being edited or holds what was refused.
void follow_the_run(TypeOverState& typed, const std::string& name, const std::string& value) {
    const std::string shows = name + " = " + value;
    if (typed.editing || typed.refused || typed.entered || typed.shows == shows) return;
    typed.text.fill('\0');
    std::copy_n(value.begin(), std::min(value.size(), typed.text.size() - 1), typed.text.begin());
    typed.shows = shows;
}

// A number that was entered may still be refused when it is run: a token outside the vocabulary. Then the keyboard
// returns to it.
void await_the_run(TypeOverState& typed, const Session& session) {
    if (!typed.entered || session.stale()) return;
    typed.entered = false;
    typed.shows = typed.shows.substr(0, typed.shows.find(" = ") + 3);  // shown anew, however it was written
    typed.refused = session.message() && session.message()->failed;
    if (typed.refused) typed.take_back = kFramesToTakeBack;
}

}  // namespace

void type_over(const Ui& ui, const Session& session, ViewState& state, Commands& commands) {
    const Step& step = session.step();
    if (step.operation.traits().recorded_elsewhere) return;  // nothing would follow from it
    const Cell& cell = *session.cursor().cell;
    const float value = session.shown().run_of(step).value(step.id).at(cell);
    TypeOverState& typed = state.lab<InspectorState>().typed;
    const std::string name = cell_name(step.name, cell);
    if (!typed.shows.starts_with(name + " = ")) typed = {};  // another cell
    await_the_run(typed, session);
    follow_the_run(typed, name, exact_number(value));

    ImGui::PushID(name.c_str());
    const std::string label = tr("type over");
    ImGui::SameLine(0, ui.px(20));
    if (ImGui::GetContentRegionAvail().x < compat::text_size(ui.fonts.caption, label).x + ui.px(90)) ImGui::NewLine();
    ImGui::AlignTextToFramePadding();
    text_line(ui.fonts.caption, ui.theme.muted, label);
    ImGui::SameLine();
    ImGui::SetNextItemWidth(std::min(ui.px(150), ImGui::GetContentRegionAvail().x));
    compat::push_font(ui.fonts.mono_small);
    const bool was_editing = typed.editing;
    if (typed.take_back > 0) {
        ImGui::SetKeyboardFocusHere();
        --typed.take_back;
    }
    focusable_field("##typed");
    const bool entered = ImGui::InputText("##typed", typed.text.data(), typed.text.size(),
                                          ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
    ImGui::PopFont();
    typed.editing = ImGui::IsItemActive();
    if (typed.editing) typed.take_back = 0;
    const bool left = was_editing && !typed.editing && !entered;
    if (left) typed = {};  // what was not entered is given up
    float number = 0.0F;
    const bool is_number = parse_number(typed.text.data(), number);
    if (!is_number) text_line(ui.fonts.caption, ui.theme.error, tr("not a number"));
    if (entered && is_number) {
        commands.push_back(command::TypeOver{step.name, cell, number});
        typed.entered = true;
    }
    if (entered && !is_number) {
        typed.refused = true;
        typed.take_back = kFramesToTakeBack;
    }
    ImGui::PopID();
}

}  // namespace decoderscope

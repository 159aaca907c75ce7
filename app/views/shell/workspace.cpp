#include "app/views/shell/workspace.h"

#include "app/views/shell/actions.h"
#include "app/views/widgets/imgui_compat.h"

#include <algorithm>

namespace decoderscope {

namespace {

constexpr double kSecondsPerStep = 0.8;

// While playing, advances a step at intervals; stops at the end.
void play(const Session& session, ViewState& state, Commands& commands) {
    const double now = ImGui::GetTime();
    if (!state.playing) {
        state.next_step_at = now + kSecondsPerStep;
        return;
    }
    if (now < state.next_step_at) return;
    state.next_step_at = now + kSecondsPerStep;
    if (session.timeline_position() + 1 == session.timeline().size())
        state.playing = false;
    else
        commands.push_back(command::Move{1});
}

void draw_panels(const Ui& ui, const Session& session, ViewState& state, Area whole, Commands& commands) {
    const float bar = ui.px(8), toolbar = ui.px(44), timeline = ui.px(64);
    const float scale = ui.fonts.scale;
    draw_toolbar(ui, session, state, {whole.low, {whole.high.x, whole.low.y + toolbar}}, commands);
    const float input_top = whole.low.y + toolbar, input_end = input_top + input_bar_height(ui, session, state);
    draw_input_bar(ui, session, state, {{whole.low.x, input_top}, {whole.high.x, input_end}}, commands);
    const float offer_end =
        input_end + draw_recovery_bar(ui, session, state, {{whole.low.x, input_end}, whole.high}, commands);
    // Above the message, so that the offers stay where they are when one comes.
    const float introduced =
        offer_end + draw_introduction(ui, session, state, {{whole.low.x, offer_end}, whole.high}, commands);
    const float message_end = introduced + draw_message(ui, session, state, {{whole.low.x, introduced}, whole.high});
    const float top =
        message_end + draw_export_progress(ui, session, {{whole.low.x, message_end}, whole.high}, commands);
    const float bottom = whole.high.y - timeline;

    const float most = whole.width() / scale * 0.36F;
    const float map_edge = whole.low.x + state.settings.map_width * scale;
    splitter(ui, "map-edge", {{map_edge, top}, {map_edge + bar, bottom}}, state.settings.map_width, 1.0F, 150.0F, most);
    const float inspector_edge = whole.high.x - state.settings.inspector_width * scale;
    splitter(ui, "inspector-edge", {{inspector_edge - bar, top}, {inspector_edge, bottom}},
             state.settings.inspector_width, -1.0F, 220.0F, most);

    draw_map(ui, session, state, {{whole.low.x, top}, {map_edge, bottom}}, commands);
    draw_stage(ui, session, state, {{map_edge + bar, top}, {inspector_edge - bar, bottom}}, commands);
    draw_inspector(ui, session, state, {{inspector_edge, top}, {whole.high.x, bottom}}, commands);
    ImGui::GetWindowDrawList()->AddLine({whole.low.x, bottom}, {whole.high.x, bottom}, ui.theme.line);
    draw_timeline(ui, session, state, {{whole.low.x, bottom + 1}, whole.high}, commands);
}

bool shows_them_how(const Command& command) {
    return std::holds_alternative<command::SelectCell>(command) || std::holds_alternative<command::Follow>(command) ||
           std::holds_alternative<command::PaintMask>(command);
}

}  // namespace

Commands draw_workspace(const Ui& ui, const Session& session, ViewState& state) {
    Commands commands;
    session.derived().next_frame();
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(size);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
    ImGui::Begin("workspace", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoNav |
                     ImGuiWindowFlags_NoScrollWithMouse);
    ImGui::PopStyleVar();
    run_shortcuts(session, state, commands);
    state.term_asked.clear();
    forget_text_under_mouse();
    play(session, state, commands);
    draw_panels(ui, session, state, {{0, 0}, size}, commands);
    state.paced = state.paced || state.playing;
    draw_dialogs(ui, session, state, commands);
    ImGui::End();
    if (std::any_of(commands.begin(), commands.end(), shows_them_how)) state.settings.hint_done = true;
    return commands;
}

}  // namespace decoderscope

#include "app/views/shell/lab.h"
#include "app/views/shell/panels.h"
#include "app/views/widgets/empty_page.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/terms.h"
#include "engine/translate.h"

namespace decoderscope {

namespace {

// Runs that the previous tab requested are no longer computed.
void change_tab(const Session& session, ViewState& state, Commands& commands) {
    if (const Lab* left = find_lab(state.open_tab); left != nullptr && left->leave != nullptr) left->leave(state);
    for (const auto& [name, companion] : session.shown().companions)
        commands.push_back(command::Accompany{name, std::nullopt});
    state.open_tab = state.tab;
}

// A tab that needs more height than there is keeps it, and scrolls.
void draw_scrolled(const Ui& ui, const Session& session, ViewState& state, const Lab& lab, Area area, float height,
                   Commands& commands) {
    ImGui::SetCursorScreenPos(area.low);
    compat::begin_child("stage", {area.width(), area.height()});
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const Area content = {start, {start.x + ImGui::GetContentRegionAvail().x, start.y + height}};
    lab.draw(ui, session, state, content, commands);
    ImGui::SetCursorScreenPos({start.x, content.high.y - 1});
    ImGui::Dummy({1, 1});
    ImGui::EndChild();
}

// `closed`: a lesson's question withholds it.
std::string tab_tip(const Lab& lab, bool closed) {
    if (closed) return tr("Closed while the lesson's question is open");
    if (lab.key == Key::none) return tr(lab.question);
    return tr("{question} ({key})", {{"question", tr(lab.question)}, {"key", key_text(lab.key)}});
}

}  // namespace

float draw_tabs(const Ui& ui, ViewState& state, Area area) {
    const float bar = ui.px(40);
    ImGui::SetCursorScreenPos({area.low.x + ui.px(16), area.low.y + ui.px(6)});
    for (const Lab& lab : labs()) {
        if (&lab != &labs().front()) ImGui::SameLine(0, ui.px(4));
        const std::string title = labelled(tr(lab.title), lab.id);
        const bool closed = state.withheld.diff && lab.id == kDiffLab;
        const std::string tip = tab_tip(lab, closed);
        if (closed) ImGui::PushStyleColor(ImGuiCol_Text, ui.theme.muted);
        if (toggle_button(ui, title.c_str(), state.tab == lab.id, nullptr) && !closed) state.tab = lab.id;
        if (closed) ImGui::PopStyleColor();
        const GlossaryTerm* term = closed ? nullptr : find_term(lab.term);
        explain_term(ui, state, term, tip);
        if (term == nullptr) tooltip(tip.c_str());
    }
    ImGui::GetWindowDrawList()->AddLine({area.low.x, area.low.y + bar}, {area.high.x, area.low.y + bar}, ui.theme.line);
    return bar;
}

void draw_stage(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands) {
    if (state.tab != state.open_tab) change_tab(session, state, commands);
    state.stage = area;
    const Lab* open = find_lab(state.tab);
    if (open == nullptr) return;
    if (!has_something(*open, session)) {
        draw_empty_page(ui, area, tr("Recorded elsewhere"),
                        tr("This tab shows what a model computes. A recording has no weights to compute with: its "
                           "tensors are in the tab Step, and Diff compares them."),
                        ui.theme.muted);
        return;
    }
    const float least = open->least_height == nullptr ? 0.0F : ui.px(open->least_height(area.width() / ui.fonts.scale));
    if (area.height() >= least) return open->draw(ui, session, state, area, commands);
    draw_scrolled(ui, session, state, *open, area, least, commands);
}

}  // namespace decoderscope

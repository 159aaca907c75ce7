#include "app/views/shell/lab.h"
#include "app/views/shell/panels.h"
#include "app/views/widgets/empty_page.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/terms.h"
#include "engine/translate.h"

#include <algorithm>

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

struct TabSpacing {
    float padding, gap;
};

// Narrower where the tabs would not fit otherwise.
TabSpacing tab_spacing(const Ui& ui, float room) {
    const auto count = static_cast<float>(labs().size());
    float titles = 0.0F;
    for (const Lab& lab : labs()) titles += ImGui::CalcTextSize(tr(lab.title)).x;
    const float padding = ImGui::GetStyle().FramePadding.x, gap = ui.px(4);
    const float wanted = count * 2.0F * padding + (count - 1.0F) * gap, shrink = (room - titles) / wanted;
    return shrink >= 1.0F ? TabSpacing{padding, gap}
                          : TabSpacing{std::max(padding * shrink, ui.px(2)), std::max(gap * shrink, ui.px(1))};
}

}  // namespace

float draw_tabs(const Ui& ui, ViewState& state, Area area) {
    const float bar = ui.px(40), left = ui.px(16);
    const TabSpacing spacing = tab_spacing(ui, area.width() - left);
    ImGui::SetCursorScreenPos({area.low.x + left, area.low.y + ui.px(6)});
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(spacing.padding, ImGui::GetStyle().FramePadding.y));
    for (const Lab& lab : labs()) {
        if (&lab != &labs().front()) ImGui::SameLine(0, spacing.gap);
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
    ImGui::PopStyleVar();
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

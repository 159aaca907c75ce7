#include "app/views/shell/panels.h"
#include "app/views/widgets/imgui_compat.h"

#include <array>

namespace decoderscope {

namespace {

// A tab of the stage: one question that people ask about decoders.
struct StageTab {
    Tab tab;
    const char* title;
    const char* question;
    void (*draw)(const Ui&, const Session&, ViewState&, Area, Commands&);
};

constexpr std::array kTabs = {
    StageTab{Tab::step, "Step", "How is this tensor computed? (S)", draw_step_tab},
    StageTab{Tab::heads, "Heads", "What does each head look at? (H)", draw_heads_tab},
    StageTab{Tab::masks, "Masks", "Who hides what, and what does the fill do? (M)", draw_masks_tab},
    StageTab{Tab::norms, "Norms", "What does the place of the norm change? (N)", draw_norms_tab},
    StageTab{Tab::generate, "Generate", "Which token comes next, and why? (G)", draw_generate_tab},
    StageTab{Tab::diff, "Diff", "What changed? (C)", draw_diff_tab},
};

// What the tab that is left had computed beside the run is let go, and so is its memory of having asked.
void change_tab(const Session& session, ViewState& state, Commands& commands) {
    state.open_tab = state.tab;
    for (const auto& [name, companion] : session.shown().companions)
        commands.push_back(command::Accompany{name, std::nullopt});
    state.heads.preview.reset();
    state.masks.asked.reset();
    state.masks.asked_for = 0;
    state.norms.asked.reset();
    state.norms.shown.reset();
    state.generate.asked_cache.reset();
    state.generate.asked_lens.reset();
    state.generate.running = false;
    state.diff.asked.reset();
    state.diff.shown = {};
}

}  // namespace

void draw_stage(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands) {
    const float bar = ui.px(40);
    ImGui::SetCursorScreenPos({area.low.x + ui.px(16), area.low.y + ui.px(6)});
    for (const StageTab& tab : kTabs) {
        if (tab.tab != kTabs.front().tab) ImGui::SameLine(0, ui.px(4));
        if (toggle_button(ui, tab.title, state.tab == tab.tab, tab.question)) state.tab = tab.tab;
    }
    ImGui::GetWindowDrawList()->AddLine({area.low.x, area.low.y + bar}, {area.high.x, area.low.y + bar}, ui.theme.line);
    if (state.tab != state.open_tab) change_tab(session, state, commands);
    for (const StageTab& tab : kTabs)
        if (tab.tab == state.tab) tab.draw(ui, session, state, {{area.low.x, area.low.y + bar}, area.high}, commands);
}

}  // namespace decoderscope

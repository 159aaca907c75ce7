#include "app/views/tabs/checks/checks.h"

#include "app/core/run/labels.h"
#include "app/views/frame/books.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

namespace decoderscope::views::checks {

namespace {

// What is wrong, in words as in colour; nothing while all is well.
std::string wrong(const core::checks::InvariantsMonitor::Result* result) {
    if (result == nullptr) return {};
    if (!result->invariants) return tr("✗ no checks");
    const std::size_t broken = result->invariants->count(core::checks::Verdict::broken);
    const std::size_t all = result->invariants->all.size();
    return broken == 0 ? std::string()
                       : tr_n("✗ {count} of {all} failing", "✗ {count} of {all} failing", broken, {{"all", all}});
}

constexpr float kWidth = 620.0F;

// One law: whether it holds, what was measured, and where. Returns whether the user wants to go to that place.
bool draw_law(const Ui& ui, const core::checks::Invariant& law, int id) {
    const bool broken = law.verdict == core::checks::Verdict::broken;
    const float start = ImGui::GetCursorPosX(), indent = ui.px(22);
    text_line({ui.fonts.text, broken ? ui.theme.error : ui.theme.text},
              broken                                       ? "✗"
              : law.verdict == core::checks::Verdict::kept ? "✓"
                                                           : "–");  // there is nothing to measure
    ImGui::SameLine();
    ImGui::SetCursorPosX(start + indent);
    text_line(ui.body(), fitted(ui.fonts.text, core::checks::title_of(law), ui.px(kWidth) - indent));
    ImGui::Indent(indent);
    paragraph({ui.fonts.caption, broken ? ui.theme.text : ui.theme.muted}, core::checks::finding_text(law),
              ui.px(kWidth) - indent);
    bool clicked = false;
    if (!law.step.empty()) {
        const std::string place =
            fitted(ui.fonts.mono_small, "→ " + cell_name(law.step, law.cell), ui.px(kWidth) - indent);
        clicked = link(ui, {ui.fonts.mono_small, ui.theme.accent}, place, id);
        tooltip(broken ? tr("Go to the cell that breaks it") : tr("Go to the cell that is closest to breaking it"));
    }
    ImGui::Unindent(indent);
    ImGui::Dummy({1, ui.px(4)});
    return clicked;
}

void leave(ViewState& state) {
    state.dialog = Dialog::none;
    ImGui::CloseCurrentPopup();
}

void draw_laws(const Ui& ui, const core::checks::Invariants& found, ViewState& state, Commands& commands) {
    int id = 0;
    for (const core::checks::Invariant& law : found.all) {
        if (!draw_law(ui, law, id++)) continue;
        state.tab = core::files::kStepTab;
        commands.push_back(core::command::Follow{law.step, law.cell});
        leave(state);
    }
}

}  // namespace

std::string checks_mark(const core::Session& session, const ViewState& state) {
    return state.withheld.checks ? tr("checks closed") : wrong(session.invariants());
}

void draw_checks_mark(const Ui& ui, const core::Session& session, ViewState& state, ImVec2 at) {
    const std::string mark = checks_mark(session, state);
    if (mark.empty()) return;
    ImGui::SetCursorScreenPos(at);
    if (state.withheld.checks) return text_line(ui.note(), mark);
    if (link(ui, {ui.fonts.caption, ui.theme.error}, mark, 0)) state.show(Dialog::checks);
    tooltip(tr("What holds for every forward pass, checked on this one (V)"));
}

void draw_checks_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    text_line(ui.title(), tr("Checks"));
    ImGui::Dummy({ui.px(kWidth), ui.px(2)});
    const core::checks::InvariantsMonitor::Result* result = session.invariants();
    if (result == nullptr)
        text_line(ui.note(), tr("Being measured …"));
    else if (!result->invariants)
        text_line({ui.fonts.caption, ui.theme.error}, tr(result->error));
    if (result != nullptr && result->invariants) draw_laws(ui, *result->invariants, state, commands);
    if (link(ui, {ui.fonts.text, ui.theme.accent}, tr("Add a check of your own …"), 99))
        return write_check(session, state);
    if (!state.dialog_opens && (pressed(Key::escape) || pressed(Key::v))) leave(state);
}

}  // namespace decoderscope::views::checks

#include "app/views/tabs/checks/checks.h"

#include "app/core/run/labels.h"
#include "app/views/frame/formula_book.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>

namespace decoderscope::views::checks {

namespace {

const char* measuring() { return tr("… checking"); }

// What can't be checked on this run isn't passed.
std::string with_skipped(std::size_t kept, std::size_t skipped) {
    if (kept == 0) return tr_n("– {count} skipped", "– {count} skipped", skipped);
    return tr_n("✓ {count} check, {skipped} skipped", "✓ {count} checks, {skipped} skipped", kept,
                {{"skipped", skipped}});
}

std::string failing(std::size_t count, std::size_t all) {
    return tr_n("✗ {count} of {all} failing", "✗ {count} of {all} failing", count, {{"all", all}});
}
std::string holding(std::size_t count, std::size_t all) {
    return tr_n("✓ {count} of {all} check", "✓ {count} of {all} checks", count, {{"all", all}});
}

// Sign and words say the same as the colour.
std::string mark_text(const core::checks::InvariantsMonitor::Result* result) {
    if (result == nullptr) return measuring();
    if (!result->invariants) return tr("✗ no checks");
    const core::checks::Invariants& found = *result->invariants;
    const std::size_t all = found.all.size(), kept = found.count(core::checks::Verdict::kept);
    if (const std::size_t broken = found.count(core::checks::Verdict::broken); broken > 0) return failing(broken, all);
    return kept < all ? with_skipped(kept, all - kept) : holding(kept, all);
}

// What the mark means, and why some checks have nothing to measure.
std::vector<std::string> mark_tip(const core::checks::InvariantsMonitor::Result* result) {
    std::vector<std::string> lines = {tr("What holds for every forward pass, checked on this one (V)")};
    if (result == nullptr || !result->invariants) return lines;
    for (const core::checks::Invariant& law : result->invariants->all)
        if (law.verdict == core::checks::Verdict::open)
            lines.push_back(tr("– {check}: {why}",
                               {{"check", core::checks::title_of(law)}, {"why", core::checks::finding_text(law)}}));
    return lines;
}

bool is_bad(const core::checks::InvariantsMonitor::Result* result) {
    return result != nullptr && (!result->invariants || result->invariants->count(core::checks::Verdict::broken) > 0);
}

constexpr float kWidth = 620.0F;

// "✓", "✗", or "–" if there is nothing to measure.
std::string sign_of(core::checks::Verdict verdict) {
    switch (verdict) {
        case core::checks::Verdict::kept:
            return "✓";
        case core::checks::Verdict::broken:
            return "✗";
        case core::checks::Verdict::open:
            break;
    }
    return "–";
}

// One law: whether it holds, what was measured, and where. Returns whether the user wants to go to that place.
bool draw_law(const Ui& ui, const core::checks::Invariant& law, int id) {
    const bool broken = law.verdict == core::checks::Verdict::broken;
    const float start = ImGui::GetCursorPosX(), indent = ui.px(22);
    text_line(ui.fonts.text, broken ? ui.theme.error : ui.theme.text, sign_of(law.verdict));
    ImGui::SameLine();
    ImGui::SetCursorPosX(start + indent);
    text_line(ui.fonts.text, ui.theme.text, fitted(ui.fonts.text, core::checks::title_of(law), ui.px(kWidth) - indent));
    ImGui::Indent(indent);
    paragraph(ui.fonts.caption, broken ? ui.theme.text : ui.theme.muted, core::checks::finding_text(law),
              ui.px(kWidth) - indent);
    bool clicked = false;
    if (!law.step.empty()) {
        const std::string place =
            fitted(ui.fonts.mono_small, "→ " + cell_name(law.step, law.cell), ui.px(kWidth) - indent);
        clicked = link(ui, ui.fonts.mono_small, ui.theme.accent, place, id);
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

float checks_mark_width(const Ui& ui, const core::Session& session) {
    const core::checks::InvariantsMonitor::Result* result = session.invariants();
    const std::size_t all =
        result != nullptr && result->invariants ? result->invariants->all.size() : core::checks::kLaws;
    float width = 0.0F;
    for (const std::string& text :
         {std::string(measuring()), failing(all, all), holding(all, all), with_skipped(all - 1, 1),
          std::string(tr("✗ no checks")), std::string(tr("checks closed"))})
        width = std::max(width, compat::text_size(ui.fonts.caption, text).x);
    return width;
}

void draw_checks_mark(const Ui& ui, const core::Session& session, ViewState& state, ImVec2 at) {
    const core::checks::InvariantsMonitor::Result* result = session.invariants();
    ImGui::SetCursorScreenPos(at);
    if (state.withheld.checks) return text_line(ui.fonts.caption, ui.theme.muted, tr("checks closed"));
    if (link(ui, ui.fonts.caption, is_bad(result) ? ui.theme.error : ui.theme.muted, mark_text(result), 0)) {
        state.show(Dialog::checks);
    }
    std::string tip;
    for (const std::string& line : mark_tip(result)) tip += (tip.empty() ? "" : "\n") + line;
    tooltip(tip.c_str());
}

void draw_checks_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    text_line(ui.fonts.heading, ui.theme.text, tr("Checks"));
    ImGui::Dummy({ui.px(kWidth), ui.px(2)});
    const core::checks::InvariantsMonitor::Result* result = session.invariants();
    if (result == nullptr)
        text_line(ui.fonts.caption, ui.theme.muted, tr("Being measured …"));
    else if (!result->invariants)
        text_line(ui.fonts.caption, ui.theme.error, tr(result->error));
    if (result != nullptr && result->invariants) draw_laws(ui, *result->invariants, state, commands);
    if (link(ui, ui.fonts.text, ui.theme.accent, tr("Add a check of your own …"), 99))
        return write_check(session, state);
    if (!state.dialog_opens && (pressed(Key::escape) || pressed(Key::v))) leave(state);
}

}  // namespace decoderscope::views::checks

#include "app/views/shell/panels.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <array>

namespace decoderscope {

namespace {

const char* measuring() { return tr("… checking"); }

// Sign and words say the same as the colour.
std::string mark_text(const InvariantsMonitor::Result* result) {
    if (result == nullptr) return measuring();
    if (!result->invariants) return tr("✗ no checks");
    if (const std::size_t broken = result->invariants->count(Verdict::broken); broken > 0)
        return tr_n("✗ {count} failing", "✗ {count} failing", broken);
    const std::size_t kept = result->invariants->count(Verdict::kept);
    return tr_n("✓ {count} check", "✓ {count} checks", kept);
}

bool is_bad(const InvariantsMonitor::Result* result) {
    return result != nullptr && (!result->invariants || result->invariants->count(Verdict::broken) > 0);
}

}  // namespace

float checks_mark_width(const Ui& ui) {
    float width = 0.0F;
    for (const std::string& text : {std::string(measuring()), tr_n("✗ {count} failing", "✗ {count} failing", kLaws),
                                    tr_n("✓ {count} check", "✓ {count} checks", kLaws), std::string(tr("✗ no checks")),
                                    std::string(tr("checks closed"))})
        width = std::max(width, compat::text_size(ui.fonts.caption, text).x);
    return width;
}

void draw_checks_mark(const Ui& ui, const Session& session, ViewState& state, ImVec2 at) {
    const InvariantsMonitor::Result* result = session.invariants();
    ImGui::SetCursorScreenPos(at);
    if (state.withheld.checks) return text_line(ui.fonts.caption, ui.theme.muted, tr("checks closed"));
    if (link(ui, ui.fonts.caption, is_bad(result) ? ui.theme.error : ui.theme.muted, mark_text(result), 0)) {
        state.dialog = Dialog::checks;
        state.dialog_opens = true;
    }
    tooltip(tr("What holds of every forward pass, measured on this one (V)"));
}

}  // namespace decoderscope

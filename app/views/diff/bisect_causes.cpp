#include "app/core/bisect/bisection_text.h"
#include "app/views/diff/bisect_page.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <string>
#include <vector>

namespace decoderscope {

namespace {

void heading(const Ui& ui, const char* text) {
    ImGui::Dummy({1, ui.px(4)});
    paragraph(ui.fonts.caption, ui.theme.muted, text);
}

// One column of an explanation. Returns where it ends.
float draw_column(const Ui& ui, const char* title, const std::vector<std::string>& lines, Area area) {
    draw_text(ui, ui.fonts.caption, area.low, ui.theme.muted, title, area.width());
    ImGui::SetCursorScreenPos({area.low.x, area.low.y + ui.px(18)});
    ImGui::BeginGroup();
    for (const std::string& line : lines) paragraph(ui.fonts.mono_small, ui.theme.text, line, area.width());
    ImGui::EndGroup();
    return ImGui::GetItemRectMax().y;
}

void causes(const Ui& ui, const std::vector<Cause>& all) {
    for (const Cause& cause : all) {
        paragraph(ui.fonts.text, cause.explains ? ui.theme.text : ui.theme.muted,
                  std::string(cause.explains ? "✓ " : "") + tr(cause.sentence));
        paragraph(ui.fonts.caption, ui.theme.muted, cause_remark(cause));
    }
}

void blocks(const Ui& ui, const std::vector<IsolatedBlock>& all) {
    if (all.empty()) return;
    heading(ui, tr("Each block alone, on the input that they recorded for it"));
    for (const IsolatedBlock& block : all)
        paragraph(ui.fonts.caption, block.differs ? ui.theme.text : ui.theme.muted, isolated_line(block));
}

}  // namespace

float draw_side_by_side(const Ui& ui, const SideBySide& cell, Area area) {
    if (cell.ours.empty()) return 0.0F;
    const float middle = cell.theirs.empty() ? area.high.x : (area.low.x + area.high.x) * 0.5F, gap = ui.px(10);
    const float left = draw_column(ui, tr("Here"), cell.ours, {area.low, {middle - gap, area.high.y}});
    if (cell.theirs.empty()) return left - area.low.y;
    const float right =
        draw_column(ui, tr("There, with the likeliest cause"), cell.theirs, {{middle + gap, area.low.y}, area.high});
    const float end = std::max(left, right);
    ImGui::GetWindowDrawList()->AddLine({middle, area.low.y}, {middle, end}, ui.theme.line);
    return end - area.low.y;
}

void inspect_bisection(const Ui& ui, const Session& session, const BisectTabState& bisect) {
    paragraph(ui.fonts.heading, ui.theme.text, tr("The cause"));
    const Value<ShownBisection> shown = found_bisection(session, bisect);
    if (!shown) return paragraph(ui.fonts.text, ui.theme.muted, tr("Nothing was found yet."));
    if (!shown->error.empty()) return paragraph(ui.fonts.text, ui.theme.muted, tr("They can't be compared"));
    const Bisection& found = shown->found;
    if (!found.first)
        return paragraph(ui.fonts.text, ui.theme.muted, tr("Everything that was compared agrees: there is none."));
    if (found.causes.empty()) paragraph(ui.fonts.text, ui.theme.text, tr("No cause that was tried explains it."));
    causes(ui, found.causes);
    if (!found.further.empty()) heading(ui, tr("And then"));
    causes(ui, found.further);
    blocks(ui, found.isolated);
}

}  // namespace decoderscope

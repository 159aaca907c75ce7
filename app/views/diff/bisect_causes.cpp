#include "app/core/bisect/bisection_text.h"
#include "app/views/diff/bisect_page.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <string>
#include <vector>

namespace decoderscope {

namespace {

void heading(const Ui& ui, const char* text) {
    ImGui::Dummy({1, ui.px(2)});
    text_line(ui.fonts.caption, ui.theme.muted, text);
}

void lines(const Ui& ui, const std::vector<std::string>& all) {
    for (const std::string& line : all) paragraph(ui.fonts.mono_small, ui.theme.text, line);
}

// The same cell as it is computed here, and there if the likeliest cause is the cause.
void side_by_side(const Ui& ui, const SideBySide& cell, float width) {
    if (cell.ours.empty()) return;
    if (cell.theirs.empty()) {
        heading(ui, tr("Here"));
        return lines(ui, cell.ours);
    }
    if (!ImGui::BeginTable("side", 2, ImGuiTableFlags_BordersInnerV, {width, 0})) return;
    ImGui::TableNextColumn();
    heading(ui, tr("Here"));
    lines(ui, cell.ours);
    ImGui::TableNextColumn();
    heading(ui, tr("There, with the likeliest cause"));
    lines(ui, cell.theirs);
    ImGui::EndTable();
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

void draw_bisect_causes(const Ui& ui, const Bisection& found, Area area) {
    ImGui::SetCursorScreenPos(area.low);
    compat::begin_child("bisect-causes", {area.width(), area.height()});
    heading(ui, found.causes.empty() ? tr("No cause that was tried explains it.") : tr("Causes, the likeliest first"));
    causes(ui, found.causes);
    if (!found.further.empty()) heading(ui, tr("And then"));
    causes(ui, found.further);
    side_by_side(ui, found.cell, ImGui::GetContentRegionAvail().x);
    blocks(ui, found.isolated);
    ImGui::EndChild();
}

}  // namespace decoderscope

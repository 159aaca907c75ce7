#include "app/views/map/map.h"

#include "app/core/labs/diff/effect_of_edits.h"
#include "app/core/labs/diff/transformer_lens.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <string>
#include <string_view>

namespace decoderscope::views::map {

namespace {

std::string first_sentence(std::string_view text) {
    constexpr std::string_view end = ". ";
    return std::string(text.substr(0, text.find(end)));
}

}  // namespace

void place_tooltip_beside(const Ui& ui, Area row) {
    const bool upper = row.low.y < ImGui::GetIO().DisplaySize.y * 0.5F;
    ImGui::SetNextWindowPos({row.high.x + ui.px(14), upper ? row.low.y : row.high.y}, ImGuiCond_Always,
                            {0.0F, upper ? 0.0F : 1.0F});
}

void place_tooltip_above(const Ui& ui, Area timeline) {
    const float x = ImGui::GetIO().MousePos.x;
    ImGui::SetNextWindowPos({x, timeline.low.y - ui.px(4)}, ImGuiCond_Always, {x / ImGui::GetIO().DisplaySize.x, 1.0F});
}

void step_tooltip(const Ui& ui, const core::Session& session, const Step& step) {
    if (!compat::begin_tooltip()) return;
    const float width = ui.px(340);
    const OpDescription about = step.operation.about();
    text_line(ui.fonts.mono_small, ui.theme.text, step.name);
    paragraph(ui.fonts.mono_small, ui.theme.text, about.formula, width);
    text_line(ui.fonts.caption, ui.theme.muted,
              std::string(about.name) + "   " + axes_text(step.axes) + " " + shape_text(step.axes));
    paragraph(ui.fonts.caption, ui.theme.text, first_sentence(about.teaches), width);
    const std::string hook = core::diff::transformer_lens_name(session.shown().run->plan(), step);
    if (!hook.empty()) text_line(ui.fonts.caption, ui.theme.muted, tr("TransformerLens: {name}", {{"name", hook}}));
    const core::Value<core::diff::Reach> reach = core::diff::shown_reach(session.derived(), session.shown());
    if (reach && reach->has(step.id))
        text_line(ui.fonts.caption, ui.theme.accent, tr("{mark} changed by the edits", {{"mark", kChangedMark}}));
    const core::Notes notes = session.seen_notes();
    for (const core::Note* note : core::notes_of(notes, step.name))
        if (note->cell.empty()) paragraph(ui.fonts.caption, ui.theme.accent, note->text, width);
    if (const auto& overlay = session.overlay())
        if (const core::OverlayValue* number = core::number_of(*overlay, step.name)) {
            paragraph(ui.fonts.caption, ui.theme.text, core::overlay_sentence(*overlay, step.name, *number), width);
            if (!number->text.empty()) paragraph(ui.fonts.caption, ui.theme.accent, number->text, width);
        }
    ImGui::EndTooltip();
}

}  // namespace decoderscope::views::map

// What the inspector says beside the Diff tab.
#include "app/core/diff/comparison_text.h"
#include "app/core/step/explanation_text.h"
#include "app/core/text/labels.h"
#include "app/core/text/numbers.h"
#include "app/views/diff/bisect_page.h"
#include "app/views/diff/diff_parts.h"
#include "app/views/shell/inspector_parts.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/terms.h"
#include "engine/translate.h"

#include <algorithm>

namespace decoderscope {

namespace {

void number(const Ui& ui, const std::string& label, const std::string& value, ImU32 color) {
    const float start = ImGui::GetCursorPosX(), room = ImGui::GetContentRegionAvail().x - ui.px(4);
    const float width = compat::text_size(ui.fonts.mono_small, value).x;
    text_line(ui.fonts.caption, ui.theme.muted, fitted(ui.fonts.caption, label, room - width - ui.px(8)));
    ImGui::SameLine();
    ImGui::SetCursorPosX(start + room - width);
    text_line(ui.fonts.mono_small, color, value);
}

void say_tensor(const Ui& ui, const TensorDifference& d, ViewState& state, Commands& commands) {
    if (d.presence != Presence::in_both) return paragraph(ui.fonts.text, ui.theme.warning, presence_text(d, "A", "B"));
    if (d.largest == 0.0)
        return paragraph(ui.fonts.text, ui.theme.text,
                         d.same_bits ? tr("All of its numbers are equal, bit for bit.")
                                     : tr("All of its numbers are equal; some have other bits, such as −0 for 0."));
    paragraph(ui.fonts.text, ui.theme.text,
              tr_n("{over} of its {count} number differs by more than the tolerance.",
                   "{over} of its {count} numbers differ by more than the tolerance.", d.count, {{"over", d.over}}));
    number(ui, tr("largest difference"), difference_text(d.largest), ui.theme.accent);
    number(ui, tr("relative to the largest number"), difference_text(d.relative()), ui.theme.text);
    number(ui, tr("mean difference"), difference_text(d.mean), ui.theme.text);
    ImGui::Dummy({1, ui.px(4)});
    paragraph(ui.fonts.caption, ui.theme.muted,
              tr("Where it is largest: {cell}", {{"cell", cell_name(d.name, d.cell)}}));
    number(ui, tr("A, this run"), exact_number(d.a), ui.theme.text);
    number(ui, tr("B, the other"), exact_number(d.b), ui.theme.text);
    if (!link(ui, ui.fonts.caption, ui.theme.accent, tr("Explain A's number →"), 1)) return;
    state.tab = kStepLab;
    commands.push_back(command::Follow{d.name, d.cell});
}

}  // namespace

void inspect_difference(const Ui& ui, const Session& session, ViewState& state, Commands& commands) {
    const DiffTabState& diff = state.lab<DiffTabState>();
    if (diff.against == Against::bisect) return inspect_bisection(ui, session, diff.bisect);
    term_line(ui, state, ui.fonts.heading, ui.theme.text, tr("The difference"), find_term("difference"));
    if (!diff.shown) return paragraph(ui.fonts.text, ui.theme.muted, tr("There is no other run to compare with yet."));
    const Comparison& comparison = diff.shown->comparison;
    if (const GlossaryTerm* term = prose_with_terms(ui, state, ui.fonts.text, ui.theme.text, verdict_of(comparison)))
        open_glossary(state, term->id);
    if (comparison.first) {
        const TensorDifference& first = comparison.tensors[*comparison.first];
        if (link(ui, ui.fonts.caption, ui.theme.accent,
                 fitted(ui.fonts.caption, tr("It begins at {step} →", {{"step", first.name}}),
                        ImGui::GetContentRegionAvail().x),
                 2))
            go_to_largest(session, first, commands);
    }
    inspector_line(ui);
    const auto here = std::ranges::find(comparison.tensors, session.step().name, &TensorDifference::name);
    paragraph(ui.fonts.mono, ui.theme.text, session.step().name);
    explain_term(ui, state, term_of(session.step()));
    if (here != comparison.tensors.end())
        say_tensor(ui, *here, state, commands);
    else
        paragraph(ui.fonts.text, ui.theme.muted, tr("This step is not compared."));
}

}  // namespace decoderscope

#include "app/core/diff/transformer_lens.h"
#include "app/views/shell/inspector_parts.h"
#include "app/views/widgets/terms.h"
#include "engine/translate.h"

namespace decoderscope {

void describe_step(const Ui& ui, ViewState& state, const Plan& plan, const Step& step) {
    const About about = step.operation.about();
    paragraph(ui.fonts.mono, ui.theme.text, step.name);
    const std::string hook = transformer_lens_name(plan, step);
    explain_term(ui, state, term_of(step), hook.empty() ? "" : tr("TransformerLens: {name}", {{"name", hook}}));
    paragraph(ui.fonts.caption, ui.theme.muted,
              std::string(about.name) + "   " + shape_text(step.axes) + "  " + axes_text(step.axes));
    ImGui::Dummy({1, ui.px(2)});
    paragraph(ui.fonts.mono_small, ui.theme.text, about.formula);
    ImGui::Dummy({1, ui.px(2)});
}

void teach_step(const Ui& ui, ViewState& state, const Step& step) {
    const About about = step.operation.about();
    if (const GlossaryTerm* term = prose_with_terms(ui, state, ui.fonts.caption, ui.theme.muted, about.teaches))
        open_glossary(state, term->id);
}

}  // namespace decoderscope

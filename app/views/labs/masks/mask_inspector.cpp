#include "app/core/labs/masks/shown_masks.h"
#include "app/views/frame/terms.h"
#include "app/views/labs/masks/lab.h"
#include "app/views/widgets/widgets.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <string>

// What the inspector says beside the Masks tab.
namespace decoderscope::views::masks {

namespace {

Index hidden_in(const core::Heatmap& mask) { return std::ranges::count(mask.values, 0.0F); }

void say_part(const Ui& ui, const char* name, const core::Heatmap& mask, bool is_there) {
    if (!is_there) return;
    paragraph(ui.fonts.caption, ui.theme.text,
              tr("{mask}: hides {count} of {all} cells",
                 {{"mask", name}, {"count", hidden_in(mask)}, {"all", mask.rows * mask.columns}}));
}

}  // namespace

void inspect_masks(const Ui& ui, const core::Session& session, ViewState& state, Commands&) {
    term_line(ui, state, ui.fonts.heading, ui.theme.text, tr("Masks"), core::glossary::find_term("mask"));
    const std::string attention = shown_attention(session);
    const Plan& plan = session.shown().run->plan();
    const Ref mask = plan.step_of(attention, AttentionStep::mask);
    if (mask == nullptr || session.shown().run->value(mask->id).empty()) return;
    const core::Place place = session.cursor().place;
    paragraph(ui.fonts.mono, ui.theme.text,
              tr("{attention} head {head}", {{"attention", attention}, {"head", place.head}}));
    const core::Value<core::masks::ShownMasks> shown =
        core::masks::shown_masks(session.derived(), session.shown(), attention, place);
    if (!shown) return;
    const core::masks::MaskParts& parts = shown->parts;
    say_part(ui, tr("causal"), parts.causal, parts.is_causal);
    say_part(ui, tr("window"), parts.window, parts.has_window);
    say_part(ui, tr("padding"), parts.padding, parts.has_padding);
    say_part(ui, tr("drawn"), parts.drawn, parts.has_drawn);
    say_part(ui, tr("combined"), parts.combined, true);
    paragraph(ui.fonts.caption, ui.theme.muted,
              tr("A cell is hidden if any of the masks hides it. What you painted overrides them all."));
}

}  // namespace decoderscope::views::masks

#include "app/core/labs/heads/head_scores.h"
#include "app/core/labs/heads/shown_heads.h"
#include "app/core/text/numbers.h"
#include "app/views/frame/terms.h"
#include "app/views/labs/heads/lab.h"
#include "app/views/widgets/widgets.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>
#include <string>

// What the inspector says beside the Heads tab.
namespace decoderscope::views::heads {

namespace {

// Nothing moves under the mouse: the list doesn't grow with the model.
constexpr std::size_t kMostListed = 12;

// "Entropy 1.32 bits": each measure of the cursor's head, with what it says in the tooltip.
void say_measures(const Ui& ui, const core::heads::HeadScore& score) {
    for (const core::heads::PatternMeasure measure : core::heads::kPatternMeasures) {
        const double value = score.value(measure);
        if (std::isnan(value)) continue;
        const std::string_view unit = core::heads::measure_unit(measure);
        paragraph(ui.fonts.caption, ui.theme.text,
                  tr("{measure}: {value} {unit}", {{"measure", core::heads::measure_name(measure)},
                                                   {"value", core::short_number_text(value, 3)},
                                                   {"unit", unit}}));
        tooltip(std::string(core::heads::measure_sentence(measure)).c_str());
    }
}

void say_head(const Ui& ui, const core::Session& session, const HeadsTabState& heads) {
    const core::Place place = session.cursor().place;
    paragraph(ui.fonts.mono, ui.theme.text,
              tr("{attention} head {head}", {{"attention", heads.attention}, {"head", place.head}}));
    const core::Value<core::heads::MeasuredHeads> measured = core::heads::measured_heads(
        session.derived(), session.shown().scenario, session.shown().run, heads.kind, place.batch);
    if (!measured) return text_line(ui.fonts.caption, ui.theme.muted, tr("Measuring …"));
    for (const core::heads::HeadScore& score : measured->scores)
        if (score.attention == heads.attention && score.head == place.head) say_measures(ui, score);
}

void list_removals(const Ui& ui, const core::Session& session, Commands& commands) {
    if (!session.shown().scenario.computes()) return;
    section_heading(ui, tr("Without a head"));
    const core::Value<core::heads::HeadRemovals> removals =
        core::heads::shown_removals(session.derived(), session.shown());
    if (!removals) return text_line(ui.fonts.caption, ui.theme.muted, tr("Measuring …"));
    if (removals->heads.empty()) return;
    paragraph(ui.fonts.caption, ui.theme.text, tr(core::heads::removals_sentence(*removals)));
    const Plan& plan = session.shown().run->plan();
    const std::size_t listed = std::min(kMostListed, removals->heads.size());
    if (const Sentence order = core::heads::listed_sentence(*removals, listed); !order.empty())
        paragraph(ui.fonts.caption, ui.theme.muted, tr(order));
    for (std::size_t i = 0; i < listed; ++i) {
        const core::heads::HeadRemoval& head = removals->heads[i];
        const std::string name = tr("{attention} head {head}", {{"attention", head.attention}, {"head", head.head}});
        if (link(ui, ui.fonts.mono_small, ui.theme.accent,
                 fitted(ui.fonts.mono_small, name, ImGui::GetContentRegionAvail().x), 300 + static_cast<int>(i))) {
            if (const Ref pattern = plan.step_of(head.attention, AttentionStep::pattern))
                commands.push_back(core::command::GoTo{pattern->name});
            commands.push_back(core::command::ChooseHead{head.head});
        }
        paragraph(ui.fonts.caption, ui.theme.muted, tr(core::heads::removal_sentence(*removals, head)));
    }
}

}  // namespace

void inspect_heads(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    const HeadsTabState& heads = state.part<HeadsTabState>();
    term_line(ui, state, ui.fonts.heading, ui.theme.text, tr("Heads"), core::glossary::find_term("head"));
    if (!heads.attention.empty()) say_head(ui, session, heads);
    list_removals(ui, session, commands);
}

}  // namespace decoderscope::views::heads

#include "app/core/labs/experts/shown_experts.h"
#include "app/views/frame/terms.h"
#include "app/views/labs/experts/lab.h"
#include "app/views/widgets/widgets.h"
#include "engine/base/translate.h"

#include <string>

// What the inspector says beside the Experts tab.
namespace decoderscope::views::experts {

void inspect_experts(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    const ExpertsTabState& experts = state.part<ExpertsTabState>();
    term_line(ui, state, ui.fonts.heading, ui.theme.text, tr("Experts"), core::glossary::find_term("expert"));
    const std::optional<MixtureSteps> mixture = shown_mixture(session, experts);
    if (!mixture) return;
    const Index batch = session.cursor().place.batch;
    const auto routing = core::experts::shown_routing(session.derived(), session.shown(), mixture->name, batch);
    if (!routing) return text_line(ui.fonts.caption, ui.theme.muted, tr("Measuring …"));
    const ChosenExpert chosen = chosen_expert(*mixture, experts);
    paragraph(ui.fonts.mono, ui.theme.text,
              tr("{mlp} expert {expert}", {{"mlp", mixture->name}, {"expert", chosen.expert}}));
    const core::experts::ExpertLoad& load = routing->loads[static_cast<std::size_t>(chosen.expert)];
    paragraph(ui.fonts.caption, ui.theme.text, tr(core::experts::load_sentence(routing->routing, chosen.expert, load)));
    if (!chosen.position) return;
    paragraph(ui.fonts.caption, ui.theme.text,
              tr(core::experts::place_sentence(*session.shown().run, *mixture, routing->routing, batch,
                                               *chosen.position, chosen.expert)));
    if (link(ui, ui.fonts.caption, ui.theme.accent, tr("Where it was chosen"), 9500))
        commands.push_back(core::command::Follow{mixture->expert->name, {batch, *chosen.position, 0}});
    tooltip(mixture->expert->name.c_str());
}

}  // namespace decoderscope::views::experts

#include "app/views/norms/lab.h"

#include "app/core/introduction/introduction.h"
#include "app/core/norms/depth_curves.h"
#include "app/core/norms/exhibit_norms.h"
#include "app/core/norms/norm_row.h"
#include "app/core/step/exhibit_step.h"
#include "app/views/norms/norms_parts.h"
#include "app/views/norms/norms_tab.h"
#include "engine/translate.h"

#include <algorithm>

namespace decoderscope {

namespace {

void add_growth(ExportScene& scene, const NormsTabState& norms) {
    if (norms.growth_stopped) return;
    if (const auto measured = measured_growth(scene.session.derived(), scene.session.scenario().model(), norms.growth,
                                              norms.growth_progress))
        scene.add_if_any(tr("Gradients by layer"), "gradients-by-layer",
                         [&] { return growth_exhibit(measured->schemes, norms.growth); });
}

void add_exports(ExportScene& scene) {
    const NormsTabState& norms = scene.state.lab<NormsTabState>();
    if (norms.view == NormsView::gradients) return add_growth(scene, norms);
    if (!norms.shown) return;
    const ShownRun left = {norms.shown->left.scenario, norms.shown->left.run},
                   right = {norms.shown->right.scenario, norms.shown->right.run};
    const std::string prefix = scene.step.in_encoder() ? "encoder." : "";
    scene.add(tr("The curves by depth"), "norm-curves", [own = scene.shown.scenario, left, right, prefix] {
        return depth_exhibit(own, depth_curves(*left.run, prefix), depth_curves(*right.run, prefix),
                             {left.scenario.config().placement(), right.scenario.config().placement()});
    });
    if (!scene.step.is_source())
        scene.add_if_any(tr("The same step in both"), scene.step.name + ".norms",
                         [&] { return norms_step_exhibit(left, right, scene.step.name, scene.place); });
    const std::string block = scene.step.block.empty() ? prefix + "blocks.0" : scene.step.block;
    const std::vector<std::string> rows = norms_of_block(left.run->plan(), block, prefix);
    std::string norm = rows.empty() ? "" : rows.front();
    for (const std::string& name : rows)
        if (is_of_norm(scene.step, name)) norm = name;
    scene.add_if_any(tr("One row of {norm}", {{"norm", norm}}), norm + ".row",
                     [&] { return norm_row_exhibit(left, right, norm, scene.place.batch, norms.row); });
    const auto shown = static_cast<std::ptrdiff_t>(norms.view);
    if (shown < static_cast<std::ptrdiff_t>(scene.choices.size()))
        std::rotate(scene.choices.begin(), scene.choices.begin() + shown, scene.choices.begin() + shown + 1);
}

// The other place of the norm, if this architecture has it.
struct OtherNorm {
    bool possible = false;
};

std::optional<Suggestion> suggest(const Session& session) {
    const Scenario& scenario = session.shown().scenario;
    const bool norm_first = scenario.config().norm_first;
    const char* other = norm_first ? "false" : "true";
    const Value<OtherNorm> norm = session.derived().get<OtherNorm>(
        {session.shown().run}, std::tuple<>(), [&] { return OtherNorm{can_set(scenario, "norm_first", other)}; });
    if (!norm->possible) return std::nullopt;
    return Suggestion{
        .title = norm_first ? tr("Flip it to Post-Norm") : tr("Flip it to Pre-Norm"),
        .commands = {command::SetOption{"norm_first", other},
                     command::Tell{message("The same weights with the norm in the other place: the curves "
                                           "show what that does by depth. Undo (Ctrl+Z) flips it back."),
                                   false}}};
}

void leave(ViewState& state) {
    NormsTabState& norms = state.lab<NormsTabState>();
    norms.asked.reset();
    norms.shown.reset();
}

void save(const ViewState& state, SavedView& saved) {
    const NormsTabState& norms = state.lab<NormsTabState>();
    saved.norms = {norms.view, norms.layers, norms.gain_factor, norms.shift_factor,
                   norms.row,  norms.places, norms.growth};
}

void restore(ViewState& state, const SavedView& saved) {
    NormsTabState& norms = state.lab<NormsTabState>();
    norms.view = saved.norms.view;
    norms.layers = saved.norms.layers;
    norms.gain_factor = saved.norms.gain_factor;
    norms.shift_factor = saved.norms.shift_factor;
    norms.row = saved.norms.row;
    norms.places = saved.norms.places;
    norms.growth = saved.norms.growth;
}

}  // namespace

Lab norms_lab() {
    return {.id = "norms",
            .title = message("Norms"),
            .question = message("What does the place of the norm change?"),
            .key = Key::n,
            .term = "norm",
            .draw = draw_norms_tab,
            .least_height = [](float width) { return width < 652.0F ? 740.0F : 640.0F; },
            .inspect = inspect_norms,
            .suggest = suggest,
            .leave = leave,
            .add_exports = add_exports,
            .save = save,
            .restore = restore,
            .computes = true};
}

}  // namespace decoderscope

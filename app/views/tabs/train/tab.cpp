#include "app/views/tabs/train/tab.h"

#include "app/views/frame/terms.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/widgets.h"
#include "engine/base/translate.h"

#include <algorithm>

namespace decoderscope::views::train {

namespace {

void add_exports(ExportScene& scene) {
    const std::vector<core::train::SeenTraining> seen = scene.session.training().seen();
    if (!seen.empty())
        scene.add_if_any(tr("Loss and gradients by step"), "training",
                         [&] { return core::train::training_exhibit(seen); });
}

std::vector<Action> actions_of_training() {
    return {{.label = message("Train three runs: what warm-up is for"),
             .run = [](const core::Session&, ViewState& state, Commands& commands) {
                 state.tab = core::train::kTrainTab;
                 train_three_runs(state.part<TrainTabState>(), commands);
             }}};
}

void say(const Ui& ui, ViewState& state, const char* text) {
    say(ui, state, ui.fonts.caption, ui.theme.text, text);
    ImGui::Dummy({1, ui.px(4)});
}

}  // namespace

Tab train_tab() {
    return {.id = core::train::kTrainTab,
            .title = message("Train"),
            .question = message("How does a model become what it is?"),
            .key = Key::f,
            .term = "training",
            .draw = draw_train_tab,
            .least_height = [](float) { return 660.0F; },
            .inspect = inspect_training,
            .leave =
                [](ViewState& state) {
                    state.part<TrainTabState>().drawn.clear();
                    state.part<TrainTabState>().marked.reset();
                },
            .add_exports = add_exports,
            .actions = actions_of_training,
            .about_steps = false,
            .aside = true};
}

void draw_train_tab(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    TrainTabState& train = state.part<TrainTabState>();
    state.paced = state.paced || session.training().busy();
    const float pad = ui.px(16);
    Area rest = {{area.low.x + pad, area.low.y + ui.px(10)}, {area.high.x - pad, area.high.y - ui.px(8)}};
    rest.low.y += draw_train_choices(ui, session, train, rest, commands);
    const std::vector<core::train::SeenTraining> seen = session.training().seen();
    rest.low.y += draw_train_controls(ui, session, seen, rest, commands);
    rest.low.y += say_three_runs(ui, session, train, rest);
    if (seen.empty()) {
        text_block(ui, ui.fonts.text, ui.theme.muted, rest, tr(core::train::about_task(session.training_plan().task)));
        return;
    }
    const float charts = std::max(ui.px(170), rest.height() * 0.38F);
    draw_train_charts(ui, session, seen, {rest.low, {rest.high.x, rest.low.y + charts}}, commands);
    draw_train_patterns(ui, session, state, seen, {{rest.low.x, rest.low.y + charts + ui.px(8)}, rest.high}, commands);
}

void inspect_training(const Ui& ui, const core::Session&, ViewState& state, Commands&) {
    text_line(ui.fonts.heading, ui.theme.text, tr("Training"));
    section_line(ui);
    say(ui, state,
        tr("Each step: the forward pass on a batch gives the loss, the backward pass its gradients with respect to "
           "every weight, and the optimiser moves the weights against them. Runs side by side get the same batches."));
    say(ui, state,
        tr("Warm-up lets the learning rate rise over the first steps. Post-Norm's gradients are almost even at "
           "initialisation; without warm-up the first 3 to 10 steps of Adam collapse them: by then the last layer's "
           "are thousands of times the first's, and the loss stays at chance level."));
    say(ui, state, tr("You can go back to any step: the model there is the same, to the last bit."));
}

}  // namespace decoderscope::views::train

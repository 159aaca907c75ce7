#include "app/views/tabs/train/tab.h"

#include "app/core/run/labels.h"
#include "app/core/text/numbers.h"
#include "app/views/frame/books.h"
#include "app/views/frame/curves_view.h"
#include "app/views/frame/stale.h"
#include "app/views/tabs/compare/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

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
    say(ui, state, ui.caption(), text);
    ImGui::Dummy({1, ui.px(4)});
}

Index last_step(std::span<const core::train::SeenTraining> seen) {
    Index last = 0;
    for (const core::train::SeenTraining& one : seen) last = std::max(last, static_cast<Index>(one.history->size()));
    return last;
}

void say_step(const Ui& ui, std::span<const core::train::SeenTraining> seen, Index step) {
    if (!compat::begin_tooltip()) return;
    text_line(ui.body(), tr("step {step}", {{"step", step}}));
    for (const core::train::SeenTraining& one : seen)
        if (const std::optional<double> loss = core::train::loss_at(one, step - 1))
            text_line(ui.note(), tr("{title}: loss {loss}",
                                    {{"title", one.recipe->title}, {"loss", core::short_number_text(*loss, 3)}}));
    text_line(ui.note(), tr("Click to see the models at this step"));
    ImGui::EndTooltip();
}

// Where in the training: a slider over all steps, and back to the newest.
void scrub(const Ui& ui, const std::optional<Index>& now, Index last, Area area, Commands& commands) {
    ImGui::SetCursorScreenPos(area.low);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(ui.px(6), ui.px(2)));
    word_before(ui, tr("show step"), 8);
    ImGui::SetNextItemWidth(std::max(ui.px(120), area.width() - ui.px(220)));
    int step = static_cast<int>(now.value_or(last));
    focusable_field("##step", std::to_string(step));
    if (ImGui::SliderInt("##step", &step, 0, static_cast<int>(last)))
        commands.push_back(core::command::LookAtTraining{step});
    tooltip(tr("Step 0 is before any training. A step without a checkpoint is recomputed, bit for bit the same."));
    ImGui::SameLine(0, ui.px(8));
    if (toggle_button(ui, labelled(tr("newest"), "newest").c_str(), !now, tr("Follow the training")))
        commands.push_back(core::command::LookAtTraining{});
    ImGui::PopStyleVar();
}

constexpr float kAboveHeads = 44.0F;  // a run's title and links, at a scale of 1

std::string path_of(const TrainTabState& train, const core::train::SeenTraining& seen) {
    std::string folder = train.folder;
    if (folder.empty()) folder = core::train::trained_models_folder();
    return (std::filesystem::path(folder) / core::train::trained_model_name(*seen.recipe, seen.step)).string();
}

void write_model(const TrainTabState& train, const core::train::SeenTraining& seen, bool open, Commands& commands) {
    commands.push_back(
        core::command::SaveModel{core::train::folder_of(*seen.recipe, *seen.model), path_of(train, seen), open});
}

// The run of a model as it will be pinned: of the folder that it is written to, so that a session can open it again.
std::shared_ptr<const core::ReferenceRun> pinned_run(const TrainTabState& train, const core::train::SeenTraining& seen,
                                                     const core::train::TrainedModelRun& run) {
    load::Model written = *seen.model;
    written.path = path_of(train, seen);
    const InEnglish english;  // sessions keep the label
    return core::pinnable(tr("{title}, step {step}", {{"title", seen.recipe->title}, {"step", seen.step}}),
                          core::scenario_of(std::make_shared<const load::Model>(std::move(written))), run.run);
}

// Two steps, or two runs, in two clicks: the first marks one and writes it, the second opens the other beside it.
void compare_link(const Ui& ui, ViewState& state, const core::train::SeenTraining& seen, std::size_t number,
                  Commands& commands) {
    TrainTabState& train = state.part<TrainTabState>();
    const std::optional<MarkedModel>& marked = train.marked;
    const bool is_this = marked && marked->run == number && marked->step == seen.step;
    if (!marked || is_this) {
        const char* text = is_this ? tr("… choose another step or run; or stop") : tr("compare with …");
        if (link(ui, {ui.fonts.caption, is_this ? ui.theme.muted : ui.theme.accent}, text, 3)) {
            if (is_this) {
                train.marked.reset();
            } else {
                train.marked = MarkedModel{number, seen.step, pinned_run(train, seen, *train.drawn[number].answer())};
                write_model(train, seen, false, commands);
            }
        }
        tooltip(tr("Then choose another step, or another run, and compare: Compare shows both"));
        return;
    }
    const std::string text = tr("compare with {label} →", {{"label", marked->pinned->label}});
    if (link(ui, {ui.fonts.caption, ui.theme.accent}, text, 3)) {
        commands.push_back(core::command::Pin{marked->pinned});
        write_model(train, seen, true, commands);
        state.part<compare::CompareTabState>().against = compare::Against::pinned;
        state.tab = core::files::kDiffTab;
        train.marked.reset();
    }
    tooltip(tr("Opens this model, and shows in Compare what differs from the other one"));
}

void save_links(const Ui& ui, ViewState& state, const core::train::SeenTraining& seen, std::size_t number,
                Commands& commands) {
    const TrainTabState& train = state.part<TrainTabState>();
    if (link(ui, {ui.fonts.caption, ui.theme.accent}, tr("open it in all tabs"), 1))
        write_model(train, seen, true, commands);
    tooltip(tr("Writes it to {path} and opens it there.", {{"path", path_of(train, seen)}}).c_str());
    ImGui::SameLine(0, ui.px(12));
    if (link(ui, {ui.fonts.caption, ui.theme.accent}, tr("save it"), 2)) write_model(train, seen, false, commands);
    tooltip(tr("Writes it to {path}", {{"path", path_of(train, seen)}}).c_str());
    ImGui::SameLine(0, ui.px(12));
    compare_link(ui, state, seen, number, commands);
}

// The cursor's attention, once it moves there; at first the last one.
void follow_cursor(const core::Session& session, TrainTabState& train, const std::vector<std::string>& attentions) {
    const auto known = [&](const std::string& name) { return std::ranges::find(attentions, name) != attentions.end(); };
    const std::string& here = session.step().attention;
    if (train.followed && *train.followed != here && known(here)) train.attention = here;
    train.followed = here;
    if (!known(train.attention)) train.attention = attentions.empty() ? "" : attentions.back();
}

// The cursor goes along, where the run on the stage has that attention, too.
void choose_attention(const Ui& ui, const core::Session& session, TrainTabState& train,
                      const std::vector<std::string>& attentions, Commands& commands) {
    ImGui::SetNextItemWidth(ui.px(190));
    if (!begin_list("##attention", train.attention.c_str(), ImGuiComboFlags_HeightLarge)) return;
    for (const std::string& attention : attentions)
        if (press_row(attention.c_str(), attention == train.attention)) {
            train.attention = attention;
            if (const Ref pattern = core::train::pattern_of(session.shown().run->plan(), attention))
                commands.push_back(core::command::GoTo{pattern->name});
        }
    ImGui::EndCombo();
}

// A model's heads side by side.
void draw_heads(const Ui& ui, const core::Session& session, ViewState& state, const core::train::TrainedModelRun& run,
                std::size_t number, Area area) {
    const TrainTabState& train = state.part<TrainTabState>();
    const Index heads = run.scenario.config().nhead;
    const float gap = ui.px(6);
    const float side =
        std::min((area.width() - gap * static_cast<float>(heads - 1)) / static_cast<float>(heads), area.height());
    for (Index head = 0; head < heads; ++head) {
        const auto pattern = core::train::trained_pattern(session.derived(), run, train.attention, head);
        if (pattern->heatmap.rows == 0 || side < ui.px(24)) continue;
        core::Heatmap small = pattern->heatmap;
        small.title = tr("head {head}", {{"head", head}});
        small.subtitle.clear();
        const float x = area.low.x + static_cast<float>(head) * (side + gap);
        const std::uint64_t key = heatmap_key("train", number * 16 + static_cast<std::uint64_t>(head));
        static_cast<void>(draw_heatmap(ui,
                                       {.heatmap = small,
                                        .key = key,
                                        .version = pattern.number(),
                                        .color = color_of(Meaning::attention),
                                        .legend = Legend::none,
                                        .grid = true},
                                       state.viewports[key], {{x, area.low.y}, {x + side, area.low.y + side}}));
    }
}

// One run: its title and step, what can be done with its model, and its heads.
void draw_run(const Ui& ui, const core::Session& session, ViewState& state, const core::train::SeenTraining& seen,
              std::size_t number, Area area, Commands& commands) {
    TrainTabState& train = state.part<TrainTabState>();
    auto& drawn = train.drawn[number];
    const std::optional<Index> coming = core::train::step_under_way(seen, session.training_step());
    const auto run = seen.model && !coming ? core::train::trained_model_run(session.derived(), seen.model)
                                           : core::Value<core::train::TrainedModelRun>();
    drawn.take(seen.recipe, run, [&] { return seen.step; });
    draw_line_sample(ui, {area.low.x, area.low.y + ui.px(8)}, ui.px(24), color_of_run(number), is_dashed(number));
    draw_text(
        ui, {ui.fonts.caption, drawn.stale() ? ui.theme.muted : ui.theme.text}, {area.low.x + ui.px(30), area.low.y},
        tr("{title}, step {step}", {{"title", seen.recipe->title}, {"step", drawn ? drawn.question() : seen.step}}),
        area.width() - ui.px(30));
    const Area below = {{area.low.x, area.low.y + ui.px(17)}, area.high};
    ImGui::PushID(static_cast<int>(number));
    draw_answer(
        ui, "coming-model", drawn, below, commands,
        [&](const core::train::TrainedModelRun& shown, Commands& heard) {
            if (!drawn.stale()) {
                ImGui::SetCursorScreenPos({below.low.x + ui.px(30), below.low.y});
                save_links(ui, state, seen, number, heard);
            }
            draw_heads(ui, session, state, shown, number, {{below.low.x, below.low.y + ui.px(21)}, below.high});
        },
        [&](Area note) {
            text_block(ui, ui.note(), note,
                       coming ? tr("Step {step} is being computed …", {{"step", *coming}})
                              : tr("The patterns of step {step} are being computed …", {{"step", seen.step}}));
        });
    ImGui::PopID();
}

// The runs side by side: so many in a line that their heads get largest.
Grid grid_of_runs(const Ui& ui, std::span<const core::train::SeenTraining> seen, Area area) {
    const auto heads = static_cast<float>(seen.front().recipe->config.nhead);
    Grid best;
    float largest = 0.0F;
    for (std::size_t columns = 1; columns <= seen.size(); ++columns) {
        const Grid grid = {area, columns, (seen.size() + columns - 1) / columns, {ui.px(16), 0.0F}};
        const Area cell = grid.cell(0);
        const float across = (cell.width() - ui.px(6) * (heads - 1.0F)) / heads;
        const float side = std::min(across, cell.height() - ui.px(kAboveHeads));
        if (columns > 1 && side <= largest) continue;
        largest = side;
        best = grid;
    }
    return best;
}

// Loss and gradients by step, gradients by layer at the step that is shown.
void draw_train_charts(const Ui& ui, const core::Session& session, std::span<const core::train::SeenTraining> seen,
                       Area area, Commands& commands) {
    const std::optional<Index>& at = session.training_step();
    const Index last = last_step(seen);
    Index steps = 1, layers = 1;
    for (const core::train::SeenTraining& one : seen) {
        steps = std::max(steps, one.recipe->steps);
        layers = std::max(layers, one.recipe->config.num_layers);
    }
    core::Chart loss{"train-loss", tr("Loss"), tr("of each step's batch"), steps, false, {}};
    core::Chart growth{"train-growth", tr("Gradients"), tr("w.r.t. W2: last layer over first"), steps, true, {}};
    core::Chart by_layer{"train-layers", tr("By layer"), tr("gradient w.r.t. W2, at this step"), layers, true, {}};
    for (std::size_t i = 0; i < seen.size(); ++i) {
        const core::Rgba color = to_rgba(color_of_run(i));
        const auto curves = core::train::training_curves(session.derived(), seen[i]);
        loss.curves.push_back({{}, curves->loss, color, is_dashed(i)});
        growth.curves.push_back({{}, curves->growth, color, is_dashed(i)});
        by_layer.curves.push_back({{}, core::train::gradients_at(seen[i], at.value_or(last)), color, is_dashed(i)});
    }
    const float gap = ui.px(14), bar = ui.px(30);
    const Grid grid = {{area.low, {area.high.x, area.high.y - bar}}, 3, 1, {gap, 0}};
    const std::optional<double> marked = at ? std::optional(static_cast<double>(*at)) : std::optional<double>();
    for (const auto& [chart, number] : {std::pair{&loss, 0U}, {&growth, 1U}}) {
        const ChartGesture gesture = draw_curves(ui, *chart, marked, grid.cell(number));
        if (!gesture.depth) continue;
        const auto step = static_cast<Index>(std::lround(*gesture.depth));
        say_step(ui, seen, step);
        if (gesture.clicked) commands.push_back(core::command::LookAtTraining{step});
    }
    static_cast<void>(draw_curves(ui, by_layer, std::nullopt, grid.cell(2)));
    scrub(ui, at, last, {{area.low.x, area.high.y - bar + ui.px(4)}, area.high}, commands);
}

// The patterns of each run's model at that step; the model can be opened and saved.
void draw_train_patterns(const Ui& ui, const core::Session& session, ViewState& state,
                         std::span<const core::train::SeenTraining> seen, Area area, Commands& commands) {
    TrainTabState& train = state.part<TrainTabState>();
    if (seen.empty() || !seen.front().model) return;
    train.drawn.resize(seen.size());
    const auto first = core::train::trained_model_run(session.derived(), seen.front().model);
    if (first) {
        const std::vector<std::string> attentions = core::train::attentions_of(first->run->plan());
        follow_cursor(session, train, attentions);
        ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(ui.px(6), ui.px(2)));
        ImGui::SetCursorScreenPos(area.low);
        choose_attention(ui, session, train, attentions, commands);
        ImGui::SameLine(0, ui.px(12));
        ImGui::SetNextItemWidth(std::max(ui.px(100), area.width() - ui.px(210)));
        text_field("##folder", train.folder, 0, core::train::trained_models_folder().c_str());
        tooltip(tr("Where models are written"));
        ImGui::PopStyleVar();
    }
    area.low.y += ui.px(30);
    const Grid grid = grid_of_runs(ui, seen, area);
    for (std::size_t i = 0; i < seen.size(); ++i) {
        Area cell = grid.cell(i);
        cell.high.y -= ui.px(6);
        draw_run(ui, session, state, seen[i], i, cell, commands);
    }
}

void draw_train_tab(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    TrainTabState& train = state.part<TrainTabState>();
    state.paced = state.paced || session.training().busy();
    const float pad = ui.px(16);
    Area rest = {{area.low.x + pad, area.low.y + ui.px(10)}, {area.high.x - pad, area.high.y - ui.px(8)}};
    rest.low.y += draw_titled(ui, {tr("How a model learns"), tr(core::train::about_task(session.training_plan().task))},
                              {}, rest);
    rest.low.y += draw_train_choices(ui, session, train, rest, commands);
    const std::vector<core::train::SeenTraining> seen = session.training().seen();
    rest.low.y += draw_train_controls(ui, session, seen, rest, commands);
    rest.low.y += say_three_runs(ui, session, train, rest);
    if (seen.empty()) return;
    const float charts = std::max(ui.px(170), rest.height() * 0.38F);
    draw_train_charts(ui, session, seen, {rest.low, {rest.high.x, rest.low.y + charts}}, commands);
    draw_train_patterns(ui, session, state, seen, {{rest.low.x, rest.low.y + charts + ui.px(8)}, rest.high}, commands);
}

void inspect_training(const Ui& ui, const core::Session&, ViewState& state, Commands&) {
    text_line(ui.title(), tr("Training"));
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

}  // namespace

Tab train_tab() {
    return {.id = core::train::kTrainTab,
            .title = message("Train"),
            .question = message("How does a model become what it is?"),
            .key = Key::f,
            .term = "training",
            .draw = draw_train_tab,
            .least_height =
                [](const core::Session& session) { return session.training().seen().empty() ? 300.0F : 700.0F; },
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

}  // namespace decoderscope::views::train

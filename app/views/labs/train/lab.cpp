#include "app/views/labs/train/lab.h"

#include "app/views/frame/terms.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/widgets.h"
#include "engine/base/json.h"
#include "engine/base/json_object.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

namespace decoderscope {

namespace {

constexpr std::string_view kId = "train";
constexpr std::array<std::string_view, 3> kOptimisers = {"sgd", "adam", "adamw"};

void add_exports(ExportScene& scene) {
    const std::vector<SeenTraining> seen = scene.state.part<TrainTabState>().board->seen();
    if (!seen.empty())
        scene.add_if_any(tr("Loss and gradients by step"), "training", [&] { return training_exhibit(seen); });
}

std::vector<Action> actions_of_training() {
    return {{.label = message("Train three runs: what warm-up is for"),
             .run = [](const Session&, ViewState& state, Commands&) {
                 TrainTabState& train = state.part<TrainTabState>();
                 state.tab = kId;
                 train.plan = plan_of_warmup();
                 train.at.reset();
                 train.board->start(recipes_of(train.plan));
             }}};
}

// ---- sessions: the choices, not the trainings, which give the same bits again

void save(const ViewState& state, SavedView& saved) {
    const TrainingPlan& plan = state.part<TrainTabState>().plan;
    nlohmann::ordered_json runs = nlohmann::ordered_json::array();
    for (const RunChoice& run : plan.runs)
        runs.push_back({{"norm_placement", place_of_norms(run.placement).word},
                        {"init", run.xavier ? "xavier" : "pytorch"},
                        {"optimizer", kOptimisers[static_cast<std::size_t>(run.optimiser)]},
                        {"lr", run.learning_rate},
                        {"warmup", run.warmup},
                        {"clip", run.clip}});
    nlohmann::ordered_json json = {{"task", plan.task},  {"layers", plan.layers}, {"d_model", plan.d_model},
                                   {"batch", plan.rows}, {"steps", plan.steps},   {"seed", plan.seed},
                                   {"runs", runs}};
    if (!plan.text.empty()) json["text"] = plan.text;
    saved.labs[std::string(kId)] = json.dump();
}

Index at_least_1(JsonObject& json, const char* key) {
    const Index value = json.index(key);
    if (value < 1) json.fail(key, message("expected at least 1"));
    return value;
}

double from_0(JsonObject& json, const char* key) {
    const double value = json.number(key);
    if (!std::isfinite(value) || value < 0.0) json.fail(key, message("expected a number from 0"));
    return value;
}

RunChoice read_run(JsonObject json) {
    std::vector<const char*> places;
    for (const PlaceOfNorms& place : places_of_norms()) places.push_back(place.word);
    RunChoice run;
    run.placement = places_of_norms()[json.word("norm_placement", places)].placement;
    run.xavier = json.word("init", std::array{"pytorch", "xavier"}) == 1;
    run.optimiser = static_cast<OptimiserKind>(json.word("optimizer", kOptimisers));
    run.learning_rate = from_0(json, "lr");
    run.warmup = json.index("warmup");
    run.clip = from_0(json, "clip");
    json.finish();
    return run;
}

TrainingPlan read_plan(const std::string& text) {
    const nlohmann::json parsed = parse_json(text, message("an object"));
    JsonObject json(parsed, "labs.train.");
    TrainingPlan plan;
    plan.task = trainable_tasks()[json.word("task", trainable_tasks())];
    plan.layers = at_least_1(json, "layers");
    plan.d_model = at_least_1(json, "d_model");
    plan.rows = at_least_1(json, "batch");
    plan.steps = at_least_1(json, "steps");
    plan.seed = json.whole("seed");
    if (json.find("text") != nullptr) plan.text = json.text("text");
    plan.runs.clear();
    for (const nlohmann::json& run : json.list("runs"))
        plan.runs.push_back(read_run(JsonObject(run, "labs.train.runs.")));
    if (plan.runs.empty() || plan.runs.size() > kMostRuns)
        json.fail("runs", message("expected from 1 to {most} runs", {{"most", kMostRuns}}));
    json.finish();
    return plan;
}

void restore(ViewState& state, const SavedView& saved) {
    TrainTabState& train = state.part<TrainTabState>();
    const auto found = saved.labs.find(std::string(kId));
    const TrainingPlan plan = found == saved.labs.end() ? TrainingPlan() : read_plan(found->second);
    train.plan = plan;
    train.error = {};
    train.text.fill('\0');
    std::copy_n(plan.text.begin(), std::min(plan.text.size(), train.text.size() - 1), train.text.begin());
}

}  // namespace

Lab train_lab() {
    return {.id = kId,
            .title = message("Train"),
            .question = message("How does a model become what it is?"),
            .key = Key::f,
            .term = "training",
            .draw = draw_train_tab,
            .least_height = [](float) { return 660.0F; },
            .inspect = inspect_training,
            .add_exports = add_exports,
            .actions = actions_of_training,
            .save = save,
            .restore = restore};
}

namespace {

constexpr std::chrono::milliseconds kShareOfAFrame{6};

void say(const Ui& ui, ViewState& state, const char* text) {
    if (const GlossaryTerm* term = prose_with_terms(ui, state, ui.fonts.caption, ui.theme.text, text))
        open_glossary(state, term->id);
    ImGui::Dummy({1, ui.px(4)});
}

}  // namespace

void draw_train_tab(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands) {
    TrainTabState& train = state.part<TrainTabState>();
    train.board->advance(JobRunner::Clock::now() + kShareOfAFrame);
    state.paced = state.paced || train.board->busy();
    const float pad = ui.px(16);
    Area rest = {{area.low.x + pad, area.low.y + ui.px(10)}, {area.high.x - pad, area.high.y - ui.px(8)}};
    rest.low.y += draw_train_choices(ui, train, rest);
    const std::vector<SeenTraining> seen = train.board->seen();
    rest.low.y += draw_train_controls(ui, train, seen, rest);
    if (seen.empty()) {
        text_block(ui, ui.fonts.text, ui.theme.muted, rest, tr(about_task(train.plan.task)));
        return;
    }
    const float charts = std::max(ui.px(170), rest.height() * 0.46F);
    draw_train_charts(ui, session, train, seen, {rest.low, {rest.high.x, rest.low.y + charts}});
    draw_train_patterns(ui, session, state, seen, {{rest.low.x, rest.low.y + charts + ui.px(8)}, rest.high}, commands);
}

void inspect_training(const Ui& ui, const Session&, ViewState& state, Commands&) {
    text_line(ui.fonts.heading, ui.theme.text, tr("Training"));
    section_line(ui);
    say(ui, state,
        tr("Each step: a batch runs forward, the loss is taken, the gradients by every weight come back, and the "
           "optimiser moves the weights against them. The runs beside each other get the same batches."));
    say(ui, state,
        tr("Warm-up lets the learning rate rise over the first steps. Post-Norm's gradients are almost even at the "
           "beginning; without warm-up the first 3 to 10 steps of Adam collapse them: by then the last layer's are "
           "thousands of times the first's, and the loss stays where chance is."));
    say(ui, state, tr("Any step can be returned to: the model there is the same, to the last bit."));
}

}  // namespace decoderscope

#include "app/views/train/lab.h"

#include "app/views/train/train_tab.h"
#include "engine/json.h"
#include "engine/json_object.h"
#include "engine/translate.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace decoderscope {

namespace {

constexpr std::string_view kId = "train";
constexpr std::array<std::string_view, 3> kOptimisers = {"sgd", "adam", "adamw"};

void add_exports(ExportScene& scene) {
    const std::vector<SeenTraining> seen = scene.state.lab<TrainTabState>().board->seen();
    if (!seen.empty())
        scene.add_if_any(tr("Loss and gradients by step"), "training", [&] { return training_exhibit(seen); });
}

std::vector<Action> actions_of_training() {
    return {{.label = message("Train three runs: what warm-up is for"),
             .run = [](const Session&, ViewState& state, Commands&) {
                 TrainTabState& train = state.lab<TrainTabState>();
                 state.tab = kId;
                 train.plan = plan_of_warmup();
                 train.at.reset();
                 train.board->start(recipes_of(train.plan));
             }}};
}

// ---- sessions: the choices, not the trainings, which give the same bits again

void save(const ViewState& state, SavedView& saved) {
    const TrainingPlan& plan = state.lab<TrainTabState>().plan;
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
    TrainTabState& train = state.lab<TrainTabState>();
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

}  // namespace decoderscope

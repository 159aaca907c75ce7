// The Train tab: runs side by side, any step of them, and their models.
#include "app/core/generate/prediction.h"
#include "app/core/run/typed_inputs.h"
#include "app/core/train/shown_training.h"
#include "app/views/tabs/compare/tab.h"
#include "app/views/tabs/train/tab.h"
#include "engine/base/json.h"
#include "tests/catch.h"
#include "tests/core/train/norms_and_warmup.h"
#include "tests/engine/messages.h"
#include "tests/engine/temporary_folder.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <algorithm>
#include <filesystem>

using namespace decoderscope::testing;
using namespace decoderscope::core::generate;
using namespace decoderscope::core::train;
using namespace decoderscope::train;
using namespace decoderscope::views::train;

namespace {

TrainingPlan brief() {
    TrainingPlan plan{.task = "reversal", .text = {}, .layers = 1, .d_model = 16, .rows = 2, .steps = 6};
    plan.runs = {RunChoice{}, {.placement = NormPlacement::post, .warmup = 20}};
    return plan;
}

void train_in(Driver& d, const TrainingPlan& plan) {
    d.apply(command::ChangeTraining{plan});
    const auto button = d.find_on_stage("Train");
    REQUIRE(button);
    d.click(button->middle());
    d.session.finish_training();
    d.settle();
}

}  // namespace

TEST_CASE("runs are trained side by side, and any of their steps is looked at") {
    Driver d("induction");
    d.press(Key::f);
    REQUIRE(d.state.tab == "train");
    train_in(d, brief());
    CHECK(d.session.training().finished());
    std::vector<SeenTraining> seen = d.session.training().seen();
    REQUIRE(seen.size() == 2);
    CHECK(seen[0].history->size() == 6);
    CHECK(seen[0].step == 6);
    CHECK(d.sees("12of12steps"));
    CHECK(d.sees("Pre-Norm,nowarm-up"));
    CHECK(d.sees("Post-Norm,warm-up20"));
    CHECK(d.sees("head3"));

    d.session.apply(command::LookAtTraining{2});
    d.session.finish_training();
    seen = d.session.training().seen();
    CHECK(seen[1].step == 2);
    // Until then the models of another step are shown as what they are.
    CHECK_FALSE(step_under_way(seen[1], Index{2}));
    CHECK(step_under_way(seen[1], Index{5}) == Index{5});
    CHECK(step_under_way(seen[1], Index{900}) == Index{6});
    CHECK_FALSE(step_under_way(seen[1], std::nullopt));
    d.settle();
    CHECK(d.sees("step2"));
    CHECK_FALSE(d.sees("isbeingcomputed"));
    const Recipe& recipe = *seen[1].recipe;
    Trainer beside = first_trainer(recipe);
    for (Index step = 1; step <= 2; ++step) beside.train(batch_of(recipe, step));
    for (const auto& [name, weight] : beside.weights()) {
        INFO(name);
        CHECK(std::ranges::equal(weight.values(), seen[1].model->weights.at(name).values()));
    }
}

TEST_CASE("the patterns follow the cursor to another attention, and it follows the choice of one") {
    Driver d("causal-lm-as-meant");
    d.press(Key::f);
    TrainingPlan plan = brief();
    plan.layers = 3;
    train_in(d, plan);
    const std::string& shown = d.state.part<TrainTabState>().attention;
    CHECK(shown == "blocks.2.attn");
    d.apply(command::GoTo{"blocks.1.attn.z"});
    CHECK(shown == "blocks.1.attn");
    d.session.apply(command::GoTo{"embed"});  // in no attention
    d.settle();
    CHECK(shown == "blocks.1.attn");
    const auto list = d.find_on_stage("blocks.1.attn");
    REQUIRE(list);
    d.click(list->middle());
    REQUIRE(d.click_text("blocks.0.attn"));
    CHECK(shown == "blocks.0.attn");
    CHECK(d.session.step().attention == "blocks.0.attn");
}

TEST_CASE("a trained model is written and opened in all tabs, with an example it never saw") {
    const TemporaryFolder folder;
    Driver d("induction");
    d.press(Key::f);
    train_in(d, brief());
    const std::string path = folder.file("mine");
    const SeenTraining seen = d.session.training().seen().front();
    d.apply(command::SaveModel{folder_of(*seen.recipe, *seen.model), path, true});
    const Model& opened = *d.session.scenario().model();
    CHECK(std::filesystem::exists(path + "/model.safetensors"));
    CHECK(opened.path == path);
    CHECK(std::ranges::equal(opened.weights.at("lm_head.weight").values(),
                             seen.model->weights.at("lm_head.weight").values()));
    CHECK(std::ranges::equal(d.session.scenario().inputs.tokens.values(), seen.model->example.tokens.values()));
    CHECK(d.session.can_undo());
    // Only what the task asks for is judged: the word backwards, behind the separator, which can be typed.
    const Tensor& targets = opened.example.targets;
    REQUIRE_FALSE(targets.empty());
    const auto asked = std::ranges::count_if(targets.values(), [](float target) { return target != -100.0F; });
    CHECK(asked < targets.size() - 1);
    const Predictions judged = finished(predictions_of(d.session.shown().run, d.session.scenario().inputs));
    CHECK(judged.judged == asked);
    const Inputs& inputs = d.session.scenario().inputs;
    const TokenRows rows = rows_of(inputs.tokens, inputs.attention_mask);
    const Typed typed = typed_of(opened.tokenizer, rows);
    CHECK(typed.text.find("<eos>") != std::string::npos);
    CHECK(rows_of(opened.tokenizer, typed) == rows);
}

TEST_CASE("one click trains the three runs that show what warm-up is for") {
    Driver d("induction");
    d.press(Key::f);
    REQUIRE(d.click_text("Threeruns:whatwarm-upisfor"));
    d.session.apply(command::PauseTraining{true});
    d.session.finish_training();
    REQUIRE(d.session.training().seen().size() == 3);
    CHECK(d.session.training_plan() == plan_of_warmup(0));
    CHECK(d.session.can_undo());
    const std::vector<Recipe> known = norms_and_warmup(0);
    const std::vector<Recipe> made = recipes_of(plan_of_warmup(0));
    for (std::size_t i = 0; i < known.size(); ++i) {
        CHECK(made[i].config == known[i].config);
        CHECK(made[i].settings == known[i].settings);
        CHECK(made[i].rows == known[i].rows);
        CHECK(made[i].steps == known[i].steps);
        CHECK(made[i].task.name == known[i].task.name);
    }
    d.session.apply(command::ClearTraining{});
}

TEST_CASE("the learner's own text is a task; a text of nothing says what is missing") {
    TrainingPlan plan = brief();
    plan.task = kOwnText;
    CHECK_THROWS(recipes_of(plan));
    plan.text = "to be or not to be\nthat is the question\n";
    const std::vector<Recipe> recipes = recipes_of(plan);
    const Inputs batch = batch_of(recipes.front(), 1);
    CHECK(batch.tokens.dim(0) == 2);
    CHECK(recipes.front().task.vocabulary.size() == 3 + 13);  // and a b e h i n o q r s t u, and the space
}

TEST_CASE("the choices of the Train tab are saved and restored, and undo shows those before") {
    Driver d("induction");
    TrainingPlan plan = plan_of_warmup(7);
    plan.task = kOwnText;
    plan.text = "ab\ncd";
    plan.runs[1].optimiser = OptimiserKind::adamw;
    plan.runs[1].clip = 0.25;
    CHECK(read_plan(saved_plan(plan)) == plan);
    // Nothing is beyond what its control offers.
    const nlohmann::json saved = nlohmann::json::parse(saved_plan(plan));
    for (const auto& [key, value] :
         std::vector<std::pair<std::string, nlohmann::json>>{{"layers", 13},
                                                             {"d_model", 1 << 24},
                                                             {"batch", 65},
                                                             {"steps", 1'000'000'000},
                                                             {"seed", 1000},
                                                             {"text", std::string(8192, 'a')},
                                                             {"layers", -1},
                                                             {"steps", 1e308},
                                                             {"batch", nullptr}}) {
        nlohmann::json other = saved;
        other[key] = value;
        INFO(key << " " << value.dump().substr(0, 40));
        CHECK(error_of([&] { static_cast<void>(read_plan(other.dump())); }).find(key) != std::string::npos);
    }
    for (const auto& [key, value] :
         std::vector<std::pair<std::string, double>>{{"lr", 0.2}, {"lr", -1}, {"warmup", 501}, {"clip", 6}}) {
        nlohmann::json other = saved;
        other["runs"][0][key] = value;
        INFO(key << " " << value);
        CHECK(error_of([&] { static_cast<void>(read_plan(other.dump())); }).find(key) != std::string::npos);
    }
    d.press(Key::f);
    d.apply(command::ChangeTraining{plan});
    CHECK(std::string(d.state.part<TrainTabState>().text.data()) == "ab\ncd");
    CHECK(d.sees("clip0.25"));
    REQUIRE(d.click_text("+anotherrun"));
    CHECK(d.session.training_plan().runs.size() == 4);
    d.press(Key::z, with_ctrl);
    CHECK(d.session.training_plan() == plan);
    d.press(Key::z, with_ctrl);
    CHECK(d.session.training_plan() == TrainingPlan());
    CHECK_FALSE(d.sees("clip0.25"));
}

TEST_CASE("the Train tab fits the window at every size") {
    for (const Screen& screen : kScreens) {
        Driver d("induction", screen.scale, screen.size);
        d.press(Key::f);
        check_layout(d, screen.size);
        d.session.apply(command::ChangeTraining{brief()});
        d.session.apply(command::StartTraining{});
        d.session.finish_training();
        d.settle();
        check_layout(d, screen.size);
    }
}

TEST_CASE("two steps are compared in three gestures: mark one, go to the other, compare") {
    const TemporaryFolder folder;
    Driver d("induction");
    d.press(Key::f);
    train_in(d, brief());
    TrainTabState& train = d.state.part<TrainTabState>();
    train.folder = folder.path();
    d.settle();
    REQUIRE(d.click_text("comparewith…"));
    REQUIRE(train.marked);
    CHECK(train.marked->step == 6);
    d.session.apply(command::LookAtTraining{2});
    d.session.finish_training();
    d.session.finish();
    d.settle();
    d.settle();
    const SeenTraining at_two = d.session.training().seen().front();
    REQUIRE(at_two.step == 2);
    const auto marked = train.marked->pinned;
    REQUIRE(d.click_text("comparewithPre-Norm"));
    d.session.finish();
    d.settle();
    d.session.finish();
    d.settle();
    CHECK(d.state.tab == "compare");
    CHECK(d.session.shown().pinned == marked);
    CHECK(std::ranges::equal(d.session.scenario().weights().at("lm_head.weight").values(),
                             at_two.model->weights.at("lm_head.weight").values()));
    CHECK(d.state.part<views::compare::CompareTabState>().shown);
    CHECK_FALSE(train.marked);
}

TEST_CASE("the three runs say that they have choices of their own, until these are changed") {
    Driver d("induction");
    d.press(Key::f);
    CHECK_FALSE(d.sees("choicesoftheirown"));
    REQUIRE(d.click_text("Threeruns:whatwarm-upisfor"));
    d.session.apply(command::PauseTraining{true});
    d.session.finish_training();
    d.settle();
    CHECK(d.sees("choicesoftheirown:" + std::to_string(plan_of_warmup(0).layers) + "layers"));
    d.apply(command::ChangeTraining{brief()});
    CHECK_FALSE(d.sees("choicesoftheirown"));
    d.session.apply(command::ClearTraining{});
}

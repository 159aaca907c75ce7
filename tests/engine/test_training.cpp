// Training against torch.optim (tests/reference/make_training.py), and what it promises beside the numbers.
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/decoder/initial_weights.h"
#include "engine/files/safetensors.h"
#include "engine/load/model.h"
#include "engine/train/trainer.h"
#include "tests/catch.h"
#include "tests/engine/fixtures.h"
#include "tests/engine/largest_difference.h"
#include "tests/engine/messages.h"
#include "tests/engine/same_weights.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

using namespace decoderscope::testing;
using namespace decoderscope::train;

namespace {

namespace fs = std::filesystem;

const fs::path kTrainings = fs::path(DECODERSCOPE_TESTS_DIR) / "reference" / "training";

TrainingSettings training_settings(const nlohmann::json& json) {
    const std::string kind = json.at("optimizer");
    TrainingSettings settings{.learning_rate = json.at("lr"), .warmup = json.value("warmup", Index{0})};
    if (json.contains("clip")) settings.clip = json["clip"].get<double>();
    OptimiserSettings& optimiser = settings.optimiser;
    optimiser.kind = kind == "adam" ? OptimiserKind::adam : kind == "adamw" ? OptimiserKind::adamw : OptimiserKind::sgd;
    if (json.contains("betas")) {
        optimiser.beta1 = json["betas"][0];
        optimiser.beta2 = json["betas"][1];
    }
    if (json.contains("weight_decay")) optimiser.weight_decay = json["weight_decay"].get<double>();
    optimiser.momentum = json.value("momentum", 0.0);
    return settings;
}

// One of tests/reference/training/.
struct Training {
    std::string name;
    std::shared_ptr<const Model> model;
    TrainingSettings settings;
    std::vector<Inputs> batches;
    std::vector<double> losses, learning_rates;
    Weights trained;

    [[nodiscard]] Trainer trainer() const { return {model->config(), model->weights, settings}; }
};

Training load_training(const std::string& name) {
    const std::string folder = (kTrainings / name).string();
    Training training{.name = name, .model = load_model(folder)};
    const nlohmann::json json = nlohmann::json::parse(read_text(folder + "/training.json"));
    training.settings = training_settings(json);
    training.losses = json.at("losses").get<std::vector<double>>();
    training.learning_rates = json.at("learning_rates").get<std::vector<double>>();
    training.batches = load_batches(folder + "/data.safetensors", training.model->config());
    const SafetensorsFile trained(folder + "/trained.safetensors");
    for (const auto& [tensor, entry] : trained.entries()) training.trained.emplace(tensor, trained.floats(tensor));
    return training;
}

std::vector<std::string> training_names() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(kTrainings)) names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
}

}  // namespace

TEST_CASE("losses, learning rates and weights follow PyTorch's for 20 steps") {
    const std::vector<std::string> names = training_names();
    REQUIRE(names.size() == 6);
    for (const std::string& name : names) {
        INFO(name);
        const Training training = load_training(name);
        Trainer trainer = training.trainer();
        REQUIRE(training.batches.size() == 20);
        for (std::size_t i = 0; i < training.batches.size(); ++i) {
            INFO("step " << i + 1);
            const TrainingStep step = trainer.train(training.batches[i]);
            CHECK(step.step == static_cast<Index>(i + 1));
            CHECK(std::abs(step.loss - training.losses[i]) <= 1e-4 * training.losses[i]);
            CHECK(std::abs(step.learning_rate - training.learning_rates[i]) <= 1e-12);
        }
        for (const auto& [parameter, theirs] : training.trained) {
            INFO(parameter);
            const Tensor& ours = trainer.weights().at(parameter);
            // The gradient by k's bias is 0 but for rounding, which Adam scales up; it moves no score against another.
            const bool is_noise = parameter.ends_with(".k_proj.bias");
            CHECK(largest_difference(ours, theirs) <= (is_noise ? 20.0 * training.settings.learning_rate : 1e-4));
        }
    }
}

TEST_CASE("training gives the same bits each time, and goes on from any step that was kept") {
    const Training training = load_training("adam-tied");
    Trainer once = training.trainer();
    for (std::size_t i = 0; i < 5; ++i) once.train(training.batches[i]);
    Trainer kept = once;
    const Weights at_five = once.weights();
    for (std::size_t i = 5; i < 9; ++i) once.train(training.batches[i]);
    CHECK(same_weights(kept.weights(), at_five));
    CHECK_FALSE(same_weights(once.weights(), at_five));
    for (std::size_t i = 5; i < 9; ++i) kept.train(training.batches[i]);
    CHECK(kept.steps() == 9);
    CHECK(same_weights(once.weights(), kept.weights()));
    Trainer again = training.trainer();
    for (std::size_t i = 0; i < 9; ++i) again.train(training.batches[i]);
    CHECK(same_weights(once.weights(), again.weights()));
    CHECK(same_weights(training.model->weights, load_training("adam-tied").model->weights));
}

TEST_CASE("the gradients of training are those of the backward pass that is shown") {
    for (const std::string& name : training_names()) {
        INFO(name);
        const Training training = load_training(name);
        const Config config = training.model->config();
        for (const std::size_t batch : {0U, 1U}) {
            const Inputs& inputs = training.batches[batch];
            Backpropagation backpropagation(config);
            const LossAndGradients ours = backpropagation(training.model->weights, inputs);
            const std::shared_ptr<const Run> run = execute(plan_decoder({.config = config,
                                                                         .weights = &training.model->weights,
                                                                         .inputs = inputs,
                                                                         .edits = {},
                                                                         .gradient_target = "loss"}));
            CHECK(ours.loss == static_cast<double>(run->value("loss").data()[0]));
            for (const auto& [parameter, gradient] : ours.gradients) {
                INFO(parameter);
                CHECK(std::ranges::equal(gradient.values(), run->value("grad." + parameter).values()));
            }
        }
    }
}

TEST_CASE("an unread parameter has no gradient and keeps its values") {
    const Training training = load_training("adamw-defaults");
    Config config = training.model->config();
    REQUIRE(config.shared_qkv);
    Weights weights = training.model->weights;
    const std::string unread = "layers.0.self_attn.k_proj.weight";
    if (!weights.contains(unread)) weights[unread] = weights.at("layers.0.self_attn.q_proj.weight");
    const Tensor before = weights.at(unread);
    Trainer trainer(config, weights, training.settings);
    trainer.train(training.batches[0]);
    CHECK_FALSE(trainer.gradients().contains(unread));
    CHECK(std::ranges::equal(trainer.weights().at(unread).values(), before.values()));
}

TEST_CASE("dropout in training follows its seed, and differs from step to step") {
    Training training = load_training("adam-tied");
    Config config = training.model->config();
    config.dropout = 0.3;
    const auto losses = [&](std::optional<std::uint64_t> seed, double rate) {
        TrainingSettings settings = training.settings;
        settings.dropout_seed = seed;
        settings.learning_rate = rate;
        Trainer trainer(config, training.model->weights, settings);
        std::vector<double> all;
        for (int i = 0; i < 3; ++i) all.push_back(trainer.train(training.batches[0]).loss);
        return all;
    };
    CHECK(losses(1, 1e-2) == losses(1, 1e-2));
    CHECK(losses(1, 1e-2) != losses(2, 1e-2));
    const std::vector<double> dropped = losses(1, 0.0), whole = losses(std::nullopt, 0.0);
    CHECK(dropped[0] != dropped[1]);
    CHECK(whole[0] == whole[1]);
    CHECK(whole[0] == Approx(training.losses[0]).epsilon(1e-5));
}

TEST_CASE("gradients are clipped to a norm as one vector") {
    const Axes axes = {{axis::out, 2}};
    Gradients gradients = {{"a", Tensor(axes, {3.0F, 0.0F})}, {"b", Tensor(axes, {0.0F, 4.0F})}};
    CHECK(total_norm(gradients) == 5.0);
    CHECK(clip_norm(gradients, 10.0) == 5.0);
    CHECK(gradients.at("a").data()[0] == 3.0F);
    CHECK(clip_norm(gradients, 1.0) == 5.0);
    CHECK(gradients.at("a").data()[0] == Approx(0.6).epsilon(1e-6));
    CHECK(gradients.at("b").data()[1] == Approx(0.8).epsilon(1e-6));
}

TEST_CASE("a batch that doesn't fit is refused by a sentence, and nothing changes") {
    const Training training = load_training("adam-tied");
    Trainer trainer = training.trainer();
    Inputs wrong = training.batches[0];
    wrong.tokens =
        Tensor(wrong.tokens.axes(), std::vector<float>(static_cast<std::size_t>(wrong.tokens.size()), 11.0F));
    check_message(error_of([&] { trainer.train(wrong); }), {"tokens", "11", "0 to 10"});
    wrong = training.batches[0];
    wrong.targets =
        Tensor(wrong.tokens.axes(), std::vector<float>(static_cast<std::size_t>(wrong.tokens.size()), -100.0F));
    check_message(error_of([&] { trainer.train(wrong); }), {"targets", "at least one"});
    CHECK(trainer.steps() == 0);
    CHECK(same_weights(trainer.weights(), training.model->weights));
}

TEST_CASE("a file of batches that doesn't fit is refused by a sentence that names file, step and tensor") {
    const Training training = load_training("adam-tied");
    const Config config = training.model->config();
    const TemporaryFolder folder;
    const std::string path = folder.file("data.safetensors");
    const std::string encdec = (kTrainings / "adamw-encdec" / "data.safetensors").string();
    check_message(error_of([&] { static_cast<void>(load_batches(encdec, config)); }), {encdec, "step 1", "encoder"});
    const std::string model = (kTrainings / "adam-tied" / "model.safetensors").string();
    check_message(error_of([&] { static_cast<void>(load_batches(model, config)); }), {model, "unknown input"});
    write_safetensors(path, {});
    check_message(error_of([&] { static_cast<void>(load_batches(path, config)); }), {path, "no tensors"});
}

TEST_CASE("Xavier's rule draws matrices by both their sides, and begins biases at 0") {
    const Config config = load_training("adamw-encdec").model->config();
    const Weights xavier = initial_weights(config, 3, Initialisation::xavier);
    const Weights pytorch = initial_weights(config, 3, Initialisation::pytorch);
    const double bound = std::sqrt(6.0 / (32.0 + 16.0));
    const Tensor& up = xavier.at("layers.0.up_proj.weight");  // [32, 16]
    double most = 0.0, squares = 0.0;
    for (const float value : up.values()) {
        most = std::max(most, static_cast<double>(std::abs(value)));
        squares += static_cast<double>(value) * static_cast<double>(value);
    }
    CHECK(most <= bound);
    CHECK(most > 0.95 * bound);
    CHECK(std::sqrt(squares / static_cast<double>(up.size())) == Approx(bound / std::sqrt(3.0)).epsilon(0.1));
    CHECK(std::ranges::all_of(xavier.at("layers.0.up_proj.bias").values(), [](float b) { return b == 0.0F; }));
    CHECK(std::ranges::all_of(xavier.at("layers.0.norm1.weight").values(), [](float gain) { return gain == 1.0F; }));
    CHECK(std::ranges::equal(xavier.at("embed.weight").values(), pytorch.at("embed.weight").values()));
    CHECK(same_weights(pytorch, initial_weights(config, 3)));
}

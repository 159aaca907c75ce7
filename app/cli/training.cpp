#include "app/cli/training.h"

#include "app/core/train/step_models.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/decoder/initial_weights.h"
#include "engine/load/families/family.h"
#include "engine/load/model_folder.h"
#include "engine/tokenizer/read.h"
#include "engine/train/tasks.h"

#include <filesystem>
#include <memory>
#include <sstream>
#include <utility>

namespace decoderscope::cli {

namespace {

namespace fs = std::filesystem;

constexpr Index kLongestText = 128;  // of a model without max_positions

// ---- the model where training begins

struct Beginning {
    Config config;
    Weights weights;
    tokenizer::Tokenizer tokenizer;
    std::map<std::string, std::string> files;  // that belong into the trained model's folder
};

// A folder from which only the configuration is read, for fresh weights.
Beginning read_bare(const std::string& folder, const Overrides& overrides) {
    const std::string path = (fs::path(folder) / "config.json").string();
    const std::string text = text_of_file(path);
    Beginning beginning;
    beginning.config =
        naming(path, [&] { return parse_config(load::families::read_family(text).config_json, overrides); });
    beginning.tokenizer = tokenizer::read_tokenizers(folder, beginning.config).target;
    beginning.files = load::files_to_keep(folder);
    return beginning;
}

Beginning read_model(const std::string& name, const Overrides& overrides) {
    const std::shared_ptr<const load::Model> model = load::load_model(name, overrides);
    Beginning beginning = {
        naming("--set", [&] { return model->config(overrides); }), model->weights, model->tokenizer, {}};
    std::error_code failed;
    if (fs::is_directory(model->path, failed)) beginning.files = load::files_to_keep(model->path);
    return beginning;
}

Beginning beginning_of(const RunOptions& options, const TrainingOptions& training) {
    const Overrides overrides = settings_of(options);
    const bool afresh = !training.init.empty();
    std::error_code failed;
    const bool configured =
        fs::is_directory(options.model, failed) && is_there(fs::path(options.model) / "config.json");
    Beginning beginning =
        afresh && configured ? read_bare(options.model, overrides) : read_model(options.model, overrides);
    if (afresh)
        beginning.weights = decoder::initial_weights(
            beginning.config, training.seed,
            training.init == "xavier" ? decoder::Initialisation::xavier : decoder::Initialisation::pytorch);
    return beginning;
}

// ---- the batches

std::vector<std::string> lines_of(const std::string& path) {
    std::istringstream text(read_text(path));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
}

train::Task task_of(const TrainingOptions& training, const Beginning& beginning) {
    if (training.lines.empty()) return train::find_task(training.task);
    const Index most = beginning.config.max_positions;
    return naming(training.lines, [&] {
        return train::text_task(training.task.empty() ? "verses" : training.task, lines_of(training.lines),
                                beginning.tokenizer, most > 0 ? std::min(most, kLongestText) : kLongestText);
    });
}

using BatchOfStep = std::function<Inputs(Index step)>;

BatchOfStep batches_of_task(const TrainingOptions& training, Beginning& beginning, const std::string& model) {
    const train::Task task = task_of(training, beginning);
    if (training.lines.empty()) naming(model, [&] { train::check_task(task, beginning.config); });
    if (training.lines.empty() && beginning.files.empty()) {
        beginning.files["vocabulary.json"] = train::vocabulary_json(task.vocabulary);
        if (!task.encoder_vocabulary.empty())
            beginning.files["encoder_vocabulary.json"] = train::vocabulary_json(task.encoder_vocabulary);
    }
    const Index rows = training.batch > 0 ? training.batch : task.rows;
    return [task, rows, seed = training.batch_seed.value_or(training.seed)](Index step) {
        return task.batch(seed, step, rows);
    };
}

// One after the other, and then again from the first.
BatchOfStep batches_of_file(const std::string& path, const Config& config) {
    return [batches = load_batches(path, config)](Index step) {
        return batches[static_cast<std::size_t>(step - 1) % batches.size()];
    };
}

// ---- how weights follow them

train::TrainingSettings training_settings(const RunOptions& run, const TrainingOptions& training) {
    train::TrainingSettings settings = training.settings;
    const std::map<std::string, train::OptimiserKind> kinds = {{"sgd", train::OptimiserKind::sgd},
                                                               {"adam", train::OptimiserKind::adam},
                                                               {"adamw", train::OptimiserKind::adamw}};
    settings.optimiser.kind = kinds.at(training.optimizer);
    settings.optimiser.weight_decay = training.weight_decay;
    if (training.clip > 0.0) settings.clip = training.clip;
    if (!training.betas.empty()) {
        settings.optimiser.beta1 = training.betas[0];
        settings.optimiser.beta2 = training.betas[1];
    }
    settings.dropout_seed = run.dropout_seed;
    return settings;
}

}  // namespace

CLI::Option* add_training_options(CLI::App& command, TrainingOptions& options) {
    auto* data = command.add_option("--data", options.data,
                                    "safetensors file: tokens (encoder_tokens, targets, masks), each with a leading "
                                    "axis of steps; one batch per step, in turn");
    auto* task = command.add_option("--task", options.task,
                                    "make the batches of a task: reverse, reversal, dates, induction, verses");
    auto* lines = command.add_option(
        "--lines", options.lines,
        "a text file with one text per line to learn to continue, for verses and any model with a vocabulary");
    data->excludes(task)->excludes(lines);
    CLI::Option* rate = command.add_option("--lr", options.settings.learning_rate, "the learning rate")
                            ->transform(within(bounds::kAnyLearningRate));
    command.add_option("--warmup", options.settings.warmup, "step t of the first N has t/N of the learning rate (0)")
        ->transform(within(Bounds<Index>{0, bounds::kSteps.most}));
    command.add_option("--optimizer", options.optimizer, "adam (the default), adamw or sgd, as torch.optim has them")
        ->check(CLI::IsMember({"adam", "adamw", "sgd"}).description(""));
    command.add_option("--betas", options.betas, "the two betas of adam and adamw (0.9,0.999)")
        ->delimiter(',')
        ->expected(2)
        ->transform(within(bounds::kBeta));
    command.add_option("--eps", options.settings.optimiser.eps, "the eps of adam and adamw (1e-8)")
        ->transform(within(bounds::kEps));
    command.add_option("--momentum", options.settings.optimiser.momentum, "the momentum of sgd (0)")
        ->transform(within(bounds::kMomentum));
    command.add_option("--weight-decay", options.weight_decay, "the weight decay (adamw: 0.01, the others: 0)")
        ->transform(within(bounds::kWeightDecay));
    command.add_option("--clip", options.clip, "scales the gradients so that their norm is at most this")
        ->transform(within(bounds::kAnyClip));
    command.add_option("--init", options.init, "start from fresh weights, by Xavier's or PyTorch's rule, from --seed")
        ->check(CLI::IsMember({"xavier", "pytorch"}).description(""));
    command.add_option("--seed", options.seed, "the seed of --init and --task (0)");
    command.add_option("--batch", options.batch, "how many rows a batch of a task has")
        ->transform(within(bounds::kBatchRows));
    return rate;
}

Training::Training(const RunOptions& run, const TrainingOptions& options) {
    Beginning beginning = beginning_of(run, options);
    const bool from_file = !options.data.empty();
    batches_of_ = from_file ? options.data : run.model;
    batch_ =
        from_file ? batches_of_file(options.data, beginning.config) : batches_of_task(options, beginning, run.model);
    config_ = beginning.config;
    files_ = std::move(beginning.files);
    trainer_.emplace(std::move(beginning.config), std::move(beginning.weights), training_settings(run, options));
}

train::TrainingStep Training::next() {
    ++step_;
    return naming(batches_of_, [&] { return trainer_->train(batch_(step_)); });
}

core::train::ModelsByStep models_by_step(const RunOptions& run, const TrainingOptions& options,
                                         std::shared_ptr<const load::Model> model) {
    const auto begin = [run, options](const core::train::TrainingPoint& of) -> core::train::Course {
        if ((of.seed || of.batch_seed) && options.init.empty() && options.task.empty() && options.lines.empty())
            throw Error(
                "training_seed: nothing of this training comes from a seed, expected --init, --task or --lines");
        TrainingOptions of_seed = options;
        of_seed.seed = of.seed.value_or(options.seed);
        of_seed.batch_seed = of.batch_seed;
        of_seed.settings.learning_rate = of.learning_rate.value_or(options.settings.learning_rate);
        return [training = std::make_shared<Training>(run, of_seed), begun = false]() mutable {
            if (std::exchange(begun, true)) static_cast<void>(training->next());
            return training->weights();
        };
    };
    return core::train::models_by_step(begin, std::move(model));
}

}  // namespace decoderscope::cli

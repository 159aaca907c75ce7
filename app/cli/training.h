#pragma once

#include "app/cli/commands.h"
#include "app/core/train/step_models.h"
#include "engine/train/trainer.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

// A training as the command line describes it: what train does, and what sweep goes through step by step.
namespace decoderscope::cli {

// Where batches come from, and how weights follow them.
struct TrainingOptions {
    std::string data, task, lines, optimizer = "adam", init;
    std::vector<double> betas;
    std::optional<double> weight_decay;
    train::TrainingSettings settings;
    double clip = 0.0;
    Index batch = 0;
    std::uint64_t seed = 0;
    std::optional<std::uint64_t> batch_seed = {};  // of the batches; nothing: the same

    [[nodiscard]] bool has_batches() const { return !data.empty() || !task.empty() || !lines.empty(); }
};

// Adds these options; --lr is returned, for whoever needs it to be there.
CLI::Option* add_training_options(CLI::App& command, TrainingOptions& options);

// A training under way, from step 0 on.
class Training {
public:
    // Throws Error naming what can't be read or doesn't fit.
    Training(const RunOptions& run, const TrainingOptions& options);

    // Throws Error as Trainer does, naming the file or the model.
    train::TrainingStep next();
    [[nodiscard]] Index step() const { return step_; }
    [[nodiscard]] const Config& config() const { return config_; }
    [[nodiscard]] const Weights& weights() const { return trainer_->weights(); }
    // What else belongs into the trained model's folder, by name.
    [[nodiscard]] const std::map<std::string, std::string>& files() const { return files_; }

private:
    Config config_;
    std::map<std::string, std::string> files_;
    std::string batches_of_;  // the file or the model that a mistake is named after
    std::function<Inputs(Index step)> batch_;
    std::optional<train::Trainer> trainer_;
    Index step_ = 0;
};

// The model after any step of a training, which goes on from the last one, or begins again if that was a later one. The
// models are kept.
[[nodiscard]] core::train::ModelsByStep models_by_step(const RunOptions& run, const TrainingOptions& options,
                                                       std::shared_ptr<const load::Model> model);

}  // namespace decoderscope::cli

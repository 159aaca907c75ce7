#include "app/cli/commands.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/decoder/initial_weights.h"
#include "engine/load/families/family.h"
#include "engine/load/model_folder.h"
#include "engine/tokenizer/read.h"
#include "engine/train/tasks.h"
#include "engine/train/trainer.h"

#include <filesystem>
#include <map>
#include <ostream>
#include <sstream>

namespace decoderscope::cli {

namespace {

namespace fs = std::filesystem;

constexpr Index kLinesPrinted = 20;
constexpr Index kLongestText = 128;  // of a model without max_positions

struct TrainRequest {
    std::string data, task, lines, out, optimizer = "adam", init;
    std::vector<double> betas;
    std::optional<double> weight_decay;
    train::TrainingSettings settings;
    double clip = 0.0;
    Index steps = 0, batch = 0;
    std::uint64_t seed = 0;
    bool json = false;
};

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

Beginning beginning_of(const RunOptions& options, const TrainRequest& request) {
    const Overrides overrides = settings_of(options);
    const bool afresh = !request.init.empty();
    std::error_code failed;
    const bool configured =
        fs::is_directory(options.model, failed) && is_there(fs::path(options.model) / "config.json");
    Beginning beginning =
        afresh && configured ? read_bare(options.model, overrides) : read_model(options.model, overrides);
    if (afresh)
        beginning.weights = decoder::initial_weights(
            beginning.config, request.seed,
            request.init == "xavier" ? decoder::Initialisation::xavier : decoder::Initialisation::pytorch);
    return beginning;
}

// ---- the batches

std::vector<std::string> lines_of(const std::string& path) {
    std::istringstream text(read_text(path));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
}

train::Task task_of(const TrainRequest& request, const Beginning& beginning) {
    if (request.lines.empty()) return train::find_task(request.task);
    const Index most = beginning.config.max_positions;
    return naming(request.lines, [&] {
        return train::text_task(request.task.empty() ? "verses" : request.task, lines_of(request.lines),
                                beginning.tokenizer, most > 0 ? std::min(most, kLongestText) : kLongestText);
    });
}

using BatchOfStep = std::function<Inputs(Index step)>;

BatchOfStep batches_of_task(const TrainRequest& request, Beginning& beginning, const std::string& model) {
    const train::Task task = task_of(request, beginning);
    if (request.lines.empty()) naming(model, [&] { train::check_task(task, beginning.config); });
    if (request.lines.empty() && beginning.files.empty()) {
        beginning.files["vocabulary.json"] = train::vocabulary_json(task.vocabulary);
        if (!task.encoder_vocabulary.empty())
            beginning.files["encoder_vocabulary.json"] = train::vocabulary_json(task.encoder_vocabulary);
    }
    const Index rows = request.batch > 0 ? request.batch : task.rows;
    return [task, rows, seed = request.seed](Index step) { return task.batch(seed, step, rows); };
}

// One after the other, and then again from the first.
BatchOfStep batches_of_file(const std::string& path, const Config& config) {
    return [batches = load_batches(path, config)](Index step) {
        return batches[static_cast<std::size_t>(step - 1) % batches.size()];
    };
}

// ---- training

void print(const train::TrainingStep& step, const TrainRequest& request, std::ostream& out) {
    if (request.json) {
        const auto number = [](double value) { return nlohmann::json(value).dump(); };  // null if it isn't finite
        out << R"({"step": )" << step.step << R"(, "loss": )" << number(step.loss) << R"(, "lr": )"
            << number(step.learning_rate) << "}\n";
        out.flush();
        return;
    }
    const Index every = std::max<Index>(1, request.steps / kLinesPrinted);
    if (step.step != 1 && step.step != request.steps && step.step % every != 0) return;
    out << "step " << step.step << ": loss " << step.loss << ", learning rate " << step.learning_rate
        << ", gradient norm " << step.gradient_norm << '\n';
    out.flush();
}

void train(const RunOptions& options, const TrainRequest& request, std::ostream& out) {
    if (!request.out.empty()) load::check_model_folder(request.out);
    Beginning beginning = beginning_of(options, request);
    const bool from_file = !request.data.empty();
    const BatchOfStep batch = from_file ? batches_of_file(request.data, beginning.config)
                                        : batches_of_task(request, beginning, options.model);
    train::TrainingSettings settings = request.settings;
    settings.dropout_seed = options.dropout_seed;
    train::Trainer trainer(beginning.config, std::move(beginning.weights), settings);
    for (Index step = 1; step <= request.steps; ++step)
        print(naming(from_file ? request.data : options.model, [&] { return trainer.train(batch(step)); }), request,
              out);
    if (!request.out.empty())
        load::write_model_folder(request.out, {beginning.config, trainer.weights(), beginning.files});
}

train::TrainingSettings settings_of_words(const TrainRequest& request) {
    train::TrainingSettings settings = request.settings;
    const std::map<std::string, train::OptimiserKind> kinds = {{"sgd", train::OptimiserKind::sgd},
                                                               {"adam", train::OptimiserKind::adam},
                                                               {"adamw", train::OptimiserKind::adamw}};
    settings.optimiser.kind = kinds.at(request.optimizer);
    settings.optimiser.weight_decay = request.weight_decay;
    if (request.clip > 0.0) settings.clip = request.clip;
    if (!request.betas.empty()) {
        settings.optimiser.beta1 = request.betas[0];
        settings.optimiser.beta2 = request.betas[1];
    }
    return settings;
}

}  // namespace

void add_train(CLI::App& app, const Context& context) {
    const auto request = std::make_shared<TrainRequest>();
    RunOptions& run = context.run;
    CLI::App& command = *app.add_subcommand("train", "Train a model on batches from a file or of a task");
    command
        .add_option("MODEL", run.model,
                    "a bundled model's name or a model's folder; with --init a folder with config.json is enough")
        ->required();
    auto* data = command.add_option("--data", request->data,
                                    "safetensors file: tokens (encoder_tokens, targets, masks), each with a leading "
                                    "axis of steps; one batch per step, in turn");
    auto* task = command.add_option("--task", request->task,
                                    "make the batches of a task: reverse, reversal, dates, induction, verses");
    auto* lines = command.add_option(
        "--lines", request->lines,
        "a text file with one text per line to learn to continue, for verses and any model with a vocabulary");
    data->excludes(task)->excludes(lines);
    command.add_option("--steps", request->steps, "how many steps")->required()->check(CLI::Range(1, 100'000'000));
    command.add_option("--lr", request->settings.learning_rate, "the learning rate")->required();
    command.add_option("--warmup", request->settings.warmup, "step t of the first N has t/N of the learning rate (0)")
        ->check(CLI::NonNegativeNumber);
    command.add_option("--optimizer", request->optimizer, "adam (the default), adamw or sgd, as torch.optim has them")
        ->check(CLI::IsMember({"adam", "adamw", "sgd"}).description(""));
    command.add_option("--betas", request->betas, "the two betas of adam and adamw (0.9,0.999)")
        ->delimiter(',')
        ->expected(2)
        ->check(CLI::Range(0.0, 1.0).description(""));
    command.add_option("--eps", request->settings.optimiser.eps, "the eps of adam and adamw (1e-8)");
    command.add_option("--momentum", request->settings.optimiser.momentum, "the momentum of sgd (0)");
    command.add_option("--weight-decay", request->weight_decay, "the weight decay (adamw: 0.01, the others: 0)");
    command.add_option("--clip", request->clip, "scales the gradients so that their norm is at most this")
        ->check(CLI::PositiveNumber);
    command.add_option("--init", request->init, "start from fresh weights, by Xavier's or PyTorch's rule, from --seed")
        ->check(CLI::IsMember({"xavier", "pytorch"}).description(""));
    command.add_option("--seed", request->seed, "the seed of --init and --task (0)");
    command.add_option("--batch", request->batch, "how many rows a batch of a task has")->check(CLI::PositiveNumber);
    command.add_option("--dropout-seed", run.dropout_seed, "turns dropout on, with this seed");
    add_set_option(command, run);
    command.add_option("--out", request->out, "the trained model's folder; one with a model in it is replaced");
    command.add_flag("--json", request->json, R"(print {"step": 1, "loss": …, "lr": …}, one per line)");
    command.callback([context, request] {
        if (request->data.empty() && request->task.empty() && request->lines.empty())
            throw CLI::RequiredError("--data, --task or --lines");
        request->settings = settings_of_words(*request);
        context.work = [context, request] { train(context.run, *request, context.out); };
    });
}

}  // namespace decoderscope::cli

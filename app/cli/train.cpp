#include "app/cli/commands.h"
#include "engine/error.h"
#include "engine/file.h"
#include "engine/json.h"
#include "engine/model/families/family.h"
#include "engine/model/folder_file.h"
#include "engine/model/initial_weights.h"
#include "engine/model/model_folder.h"
#include "engine/model/tokenizer/read_tokenizer.h"
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

struct Wanted {
    std::string data, task, lines, out, optimizer = "adam", init;
    std::vector<double> betas;
    std::optional<double> weight_decay;
    TrainingSettings settings;
    double clip = 0.0;
    Index steps = 0, batch = 0;
    std::uint64_t seed = 0;
    bool json = false;
};

// ---- the model where training begins

struct Beginning {
    Config config;
    Weights weights;
    Tokenizer tokenizer;
    std::map<std::string, std::string> files;  // that belong into the trained model's folder
};

// A folder of which only the configuration is read, for weights that begin afresh.
Beginning read_bare(const std::string& folder, const Overrides& overrides) {
    const std::string path = (fs::path(folder) / "config.json").string();
    const std::string text = text_of_file(path);
    Beginning beginning;
    beginning.config = naming(path, [&] { return parse_config(read_family(text).config_json, overrides); });
    beginning.tokenizer = read_tokenizers(folder, beginning.config).target;
    beginning.files = files_to_keep(folder);
    return beginning;
}

Beginning read_model(const std::string& name, const Overrides& overrides) {
    const std::shared_ptr<const Model> model = load_model(name, overrides);
    Beginning beginning = {
        naming("--set", [&] { return model->config(overrides); }), model->weights, model->tokenizer, {}};
    std::error_code failed;
    if (fs::is_directory(model->path, failed)) beginning.files = files_to_keep(model->path);
    return beginning;
}

Beginning beginning_of(const RunOptions& options, const Wanted& wanted) {
    const Overrides overrides = settings_of(options);
    const bool afresh = !wanted.init.empty();
    std::error_code failed;
    const bool configured =
        fs::is_directory(options.model, failed) && is_there(fs::path(options.model) / "config.json");
    Beginning beginning =
        afresh && configured ? read_bare(options.model, overrides) : read_model(options.model, overrides);
    if (afresh)
        beginning.weights = initial_weights(beginning.config, wanted.seed,
                                            wanted.init == "xavier" ? Initialisation::xavier : Initialisation::pytorch);
    return beginning;
}

// ---- the batches

std::vector<std::string> lines_of(const std::string& path) {
    std::istringstream text(read_text(path));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
}

Task task_of(const Wanted& wanted, const Beginning& beginning) {
    if (wanted.lines.empty()) return find_task(wanted.task);
    const Index most = beginning.config.max_positions;
    return naming(wanted.lines, [&] {
        return text_task(wanted.task.empty() ? "verses" : wanted.task, lines_of(wanted.lines), beginning.tokenizer,
                         most > 0 ? std::min(most, kLongestText) : kLongestText);
    });
}

using BatchOfStep = std::function<Inputs(Index step)>;

BatchOfStep batches_of_task(const Wanted& wanted, Beginning& beginning, const std::string& model) {
    const Task task = task_of(wanted, beginning);
    if (wanted.lines.empty()) naming(model, [&] { check_task(task, beginning.config); });
    if (wanted.lines.empty() && beginning.files.empty()) {
        beginning.files["vocabulary.json"] = vocabulary_json(task.vocabulary);
        if (!task.encoder_vocabulary.empty())
            beginning.files["encoder_vocabulary.json"] = vocabulary_json(task.encoder_vocabulary);
    }
    const Index rows = wanted.batch > 0 ? wanted.batch : task.rows;
    return [task, rows, seed = wanted.seed](Index step) { return task.batch(seed, step, rows); };
}

// In turn, and again from the first.
BatchOfStep batches_of_file(const std::string& path, const Config& config) {
    return [batches = load_batches(path, config)](Index step) {
        return batches[static_cast<std::size_t>(step - 1) % batches.size()];
    };
}

// ---- training

void print(const TrainingStep& step, const Wanted& wanted, std::ostream& out) {
    if (wanted.json) {
        const auto number = [](double value) { return nlohmann::json(value).dump(); };  // null where it is none
        out << R"({"step": )" << step.step << R"(, "loss": )" << number(step.loss) << R"(, "lr": )"
            << number(step.learning_rate) << "}\n";
        out.flush();
        return;
    }
    const Index every = std::max<Index>(1, wanted.steps / kLinesPrinted);
    if (step.step != 1 && step.step != wanted.steps && step.step % every != 0) return;
    out << "step " << step.step << ": loss " << step.loss << ", learning rate " << step.learning_rate
        << ", gradient norm " << step.gradient_norm << '\n';
    out.flush();
}

void train(const RunOptions& options, const Wanted& wanted, std::ostream& out) {
    if (!wanted.out.empty()) check_model_folder(wanted.out);
    Beginning beginning = beginning_of(options, wanted);
    const bool from_file = !wanted.data.empty();
    const BatchOfStep batch =
        from_file ? batches_of_file(wanted.data, beginning.config) : batches_of_task(wanted, beginning, options.model);
    TrainingSettings settings = wanted.settings;
    settings.dropout_seed = options.dropout_seed;
    Trainer trainer(beginning.config, std::move(beginning.weights), settings);
    for (Index step = 1; step <= wanted.steps; ++step)
        print(naming(from_file ? wanted.data : options.model, [&] { return trainer.train(batch(step)); }), wanted, out);
    if (!wanted.out.empty()) write_model_folder(wanted.out, {beginning.config, trainer.weights(), beginning.files});
}

TrainingSettings settings_of_words(const Wanted& wanted) {
    TrainingSettings settings = wanted.settings;
    const std::map<std::string, OptimiserKind> kinds = {
        {"sgd", OptimiserKind::sgd}, {"adam", OptimiserKind::adam}, {"adamw", OptimiserKind::adamw}};
    settings.optimiser.kind = kinds.at(wanted.optimizer);
    settings.optimiser.weight_decay = wanted.weight_decay;
    if (wanted.clip > 0.0) settings.clip = wanted.clip;
    if (!wanted.betas.empty()) {
        settings.optimiser.beta1 = wanted.betas[0];
        settings.optimiser.beta2 = wanted.betas[1];
    }
    return settings;
}

}  // namespace

void add_train(CLI::App& app, const Context& context) {
    const auto wanted = std::make_shared<Wanted>();
    RunOptions& run = context.run;
    CLI::App& command = *app.add_subcommand("train", "Train a model on batches from a file or of a task");
    command
        .add_option("MODEL", run.model,
                    "a bundled model's name or a model's folder; with --init a folder with config.json is enough")
        ->required();
    auto* data =
        command.add_option("--data", wanted->data,
                           "safetensors file: tokens (encoder_tokens, targets, masks), each with a leading axis "
                           "of steps; one batch a step, in turn");
    auto* task = command.add_option("--task", wanted->task,
                                    "make the batches of a task: reverse, reversal, dates, induction, verses");
    auto* lines = command.add_option("--lines", wanted->lines,
                                     "a text file with one text a line to learn to continue, for verses and any model "
                                     "with a vocabulary");
    data->excludes(task)->excludes(lines);
    command.add_option("--steps", wanted->steps, "how many steps")->required()->check(CLI::Range(1, 100'000'000));
    command.add_option("--lr", wanted->settings.learning_rate, "the learning rate")
        ->required()
        ->check(CLI::NonNegativeNumber);
    command.add_option("--warmup", wanted->settings.warmup, "step t of the first N has t/N of the learning rate (0)")
        ->check(CLI::NonNegativeNumber);
    command.add_option("--optimizer", wanted->optimizer, "adam (the default), adamw or sgd, as torch.optim has them")
        ->check(CLI::IsMember({"adam", "adamw", "sgd"}).description(""));
    command.add_option("--betas", wanted->betas, "of adam and adamw (0.9,0.999)")
        ->delimiter(',')
        ->expected(2)
        ->check(CLI::Range(0.0, 1.0).description(""));
    command.add_option("--eps", wanted->settings.optimiser.eps, "of adam and adamw (1e-8)")
        ->check(CLI::NonNegativeNumber);
    command.add_option("--momentum", wanted->settings.optimiser.momentum, "of sgd (0)")->check(CLI::NonNegativeNumber);
    command.add_option("--weight-decay", wanted->weight_decay, "adamw: 0.01, the others: 0")
        ->check(CLI::NonNegativeNumber);
    command.add_option("--clip", wanted->clip, "scales the gradients so that their norm is at most this")
        ->check(CLI::PositiveNumber);
    command.add_option("--init", wanted->init, "begin afresh, by Xavier's or PyTorch's rule, from --seed")
        ->check(CLI::IsMember({"xavier", "pytorch"}).description(""));
    command.add_option("--seed", wanted->seed, "of --init and --task (0)");
    command.add_option("--batch", wanted->batch, "rows in a batch of a task")->check(CLI::PositiveNumber);
    command.add_option("--dropout-seed", run.dropout_seed, "turns dropout on, with this seed");
    add_set_option(command, run);
    command.add_option("--out", wanted->out, "the trained model's folder; one with a model in it is replaced");
    command.add_flag("--json", wanted->json, R"(print {"step": 1, "loss": …, "lr": …} a line)");
    command.callback([context, wanted] {
        if (wanted->data.empty() && wanted->task.empty() && wanted->lines.empty())
            throw CLI::RequiredError("--data, --task or --lines");
        wanted->settings = settings_of_words(*wanted);
        context.work = [context, wanted] { train(context.run, *wanted, context.out); };
    });
}

}  // namespace decoderscope::cli

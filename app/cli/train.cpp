#include "app/cli/training.h"
#include "engine/base/json.h"
#include "engine/load/model_folder.h"

#include <algorithm>
#include <ostream>

namespace decoderscope::cli {

namespace {

constexpr Index kLinesPrinted = 20;

struct TrainRequest {
    TrainingOptions training;
    std::string out;
    Index steps = 0;
    bool json = false;
};

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
    Training training(options, request.training);
    while (training.step() < request.steps) print(training.next(), request, out);
    if (!request.out.empty())
        load::write_model_folder(request.out, {training.config(), training.weights(), training.files()});
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
    command.add_option("--steps", request->steps, "how many steps")->required()->transform(within(bounds::kSteps));
    add_training_options(command, request->training)->required();
    command.add_option("--dropout-seed", run.dropout_seed, "turns dropout on, with this seed");
    add_set_option(command, run);
    command.add_option("--out", request->out, "the trained model's folder; one with a model in it is replaced");
    command.add_flag("--json", request->json, R"(print {"step": 1, "loss": …, "lr": …}, one per line)");
    command.callback([context, request] {
        if (!request->training.has_batches()) throw CLI::RequiredError("--data, --task or --lines");
        context.work = [context, request] { train(context.run, *request, context.out); };
    });
}

}  // namespace decoderscope::cli

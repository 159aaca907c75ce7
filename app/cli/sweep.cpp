#include "app/cli/training.h"
#include "app/core/ask/seek.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/sheet/sheet.h"

#include <algorithm>
#include <iterator>
#include <ostream>

namespace decoderscope::cli {

namespace {

struct SweepRequest {
    TrainingOptions training;
    std::vector<std::string> vary;
    std::string csv, seek;
    bool sort = false, pairs = false, json = false, only_value = false;
};

// Takes out the first row that names what varies, and those after it, which may read it: only the varied runs have
// them.
std::vector<AddRow> rows_that_vary(std::vector<std::string>& rows, const std::vector<std::string>& vary) {
    const auto varies = [&](const std::string& text) {
        const AddRow row = sheet::row_of(text);
        return std::ranges::any_of(
            vary, [&](const std::string& what) { return core::ask::names(row, what.substr(0, what.find('='))); });
    };
    const auto first = std::ranges::find_if(rows, varies);
    std::vector<AddRow> taken;
    std::transform(first, rows.end(), std::back_inserter(taken), sheet::row_of);
    rows.erase(first, rows.end());
    return taken;
}

// What is swept: the run without the row that is watched, which is the last --row.
core::ask::Unswept unswept_of(RunOptions options, const TrainingOptions& training,
                              const std::vector<std::string>& vary) {
    const std::string watched = options.rows.back();
    options.rows.pop_back();
    std::vector<AddRow> before = naming("--row", [&] { return rows_that_vary(options.rows, vary); });
    core::ask::Unswept unswept{.scenario = scenario_of(options)};
    static_cast<void>(unswept.scenario.model());  // a recording has nothing to vary
    unswept.run = run_of(unswept.scenario, options);
    if (training.has_batches()) unswept.trained = models_by_step(options, training, unswept.scenario.model());
    unswept.row = naming("--row", [&] { return core::ask::row_from(watched, unswept.run->plan(), std::move(before)); });
    return unswept;
}

core::ask::Points points_of(const SweepRequest& request, const core::ask::Unswept& unswept) {
    return naming("--vary", [&] { return core::ask::points_of(request.vary, unswept); });
}

void seek(core::ask::Unswept unswept, const SweepRequest& request, std::ostream& out) {
    if (request.vary.size() > 1) throw Error("--seek: one thing may vary, expected one --vary");
    const core::ask::Target target = naming("--seek", [&] { return core::ask::target_from(request.seek); });
    const std::string row = core::ask::text_of(unswept.row);
    const core::ask::Found found = naming(
        "--seek", [&] { return core::finished(core::ask::sought(std::move(unswept), request.vary.front(), target)); });
    if (!request.json) {
        out << core::ask::found_sentence(found, row).english() << '\n';
        return;
    }
    OrderedJson json = {
        {"varied", found.varied}, {"before", found.before}, {"after", found.after}, {"runs", found.runs}};
    if (found.number)
        json["value"] = *found.number;
    else
        json["length"] = found.length;
    out << json.dump() << '\n';
}

void sweep(const RunOptions& options, const SweepRequest& request, std::ostream& out) {
    core::ask::Unswept unswept = unswept_of(options, request.training, request.vary);
    if (!request.seek.empty()) return seek(std::move(unswept), request, out);
    const core::ask::OfOutput of_output =
        request.only_value ? core::ask::OfOutput::nothing : core::ask::OfOutput::predictions;
    core::ask::Sweep made =
        core::finished(core::ask::swept(unswept, points_of(request, unswept), {.output = of_output}));
    if (request.pairs) {
        const core::Table pairs =
            naming("--pairs", [&] { return core::ask::pairs_of(made, request.csv.empty() ? 6 : 0); });
        if (request.csv.empty()) return core::write_text(out, pairs);
        return write_whole(request.csv, [&](std::ostream& csv) { core::write_csv(csv, pairs); });
    }
    if (request.sort) made = naming("--sort", [&] { return core::ask::sorted(std::move(made)); });
    if (!request.csv.empty()) write_whole(request.csv, [&](std::ostream& csv) { core::ask::write_csv(csv, made); });
    if (request.json)
        core::ask::write_json(out, made);
    else if (request.csv.empty())
        core::ask::write_text(out, made);
}

}  // namespace

void add_sweep(CLI::App& app, const Context& context) {
    const auto request = std::make_shared<SweepRequest>();
    CLI::App& command = add_running(app, context, "sweep",
                                    "Run a model many times with one thing varied, and list a row's value in each run");
    command
        .add_option("--vary", request->vary,
                    "what varies: NAME=A..B:N (N numbers from A to B) or NAME=x,y,z, where NAME is a configuration "
                    "key, dropout_seed, training_step with training_seed, batch_seed or learning_rate (and options of "
                    "train), a cell "
                    "(\"blocks.0.attn.z[0, 1, 2, 3]\"), a head's factor (blocks.0.attn.head.3) or a number that the "
                    "row's formula names, such as temperature in "
                    "softmax(logits / temperature, dim=-1); or \"each head\", \"each layer\", \"each neuron\", \"each "
                    "position\", \"each source position\", left out one at a time, if wanted only those \"of "
                    "blocks.0\", \"each weight of TENSOR\"; \"each head times 2\"; \"each averaged head\", \"each "
                    "exchanged layer\" (with the next), \"each replaced token\" (by some others), \"each other token\" "
                    "(by all). Given twice: every combination")
        ->required()
        ->type_size(1)
        ->allow_extra_args(false);
    command.get_option("--row")->required()->description(
        "the row to watch: a formula, NAME = FORMULA, or the name of a tensor; repeated, the last one is watched, "
        "and those before it are rows that it can read");
    command.add_option(
        "--seek", request->seek,
        "find what has to be varied for the watched number to become this: 0.25, \"> 0\", \"< 1\", or "
        "largest (of a cell's last axis); --vary is then a number without values, a range to look in, or a "
        "tensor, which changes along the gradient");
    command.add_flag("--sort", request->sort, "the largest value first instead of the order of the sweep");
    command.add_flag("--pairs", request->pairs,
                     "how far the row is apart in each two runs, instead: its largest difference; also as --csv");
    command.add_flag("--only-value", request->only_value,
                     "don't say how many predictions changed, which takes longest with a large vocabulary");
    command.add_option("--csv", request->csv, "write the table to this file instead");
    command.add_flag(
        "--json", request->json,
        "print a JSON list with a line for each run: {\"at\": …, \"value\": …, \"predictions_changed\": …}");
    CLI::Option* rate = add_training_options(command, request->training);
    command.callback([context, request, rate] {
        if (request->training.has_batches() && rate->count() == 0) throw CLI::RequiredError("--lr");
        context.work = [context, request] { sweep(context.run, *request, context.out); };
    });
}

}  // namespace decoderscope::cli

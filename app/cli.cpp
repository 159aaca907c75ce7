#include "app/cli.h"

#include "app/core/bench.h"
#include "app/core/comparison_text.h"
#include "app/core/export/export.h"
#include "app/core/export/text.h"
#include "app/core/generation.h"
#include "app/core/generator.h"
#include "app/core/reference_run.h"
#include "app/core/saved_work.h"
#include "app/core/scenario.h"
#include "app/core/slice.h"
#include "app/core/typed_inputs.h"
#include "engine/error.h"
#include "engine/file.h"
#include "engine/model/bundled.h"
#include "engine/model/safetensors.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <functional>
#include <ostream>

namespace decoderscope {

namespace {

// ---- what the commands share

// The options that say what is run.
struct RunOptions {
    std::string model, inputs, edits, tokens, encoder_tokens;
    std::optional<std::string> text, source;  // may be empty: the beginning token alone
    std::vector<std::string> settings;        // KEY=VALUE
    std::optional<std::uint64_t> dropout_seed;
    std::ostream* notes = nullptr;  // where to say what was noticed in the model; nullptr: nowhere
};

constexpr const char* kModelHelp =
    "a bundled model's name, a folder with config.json and model.safetensors, a state_dict as .safetensors, or a "
    "session (.dscope) with all that it holds";

void add_run_options(CLI::App& command, RunOptions& options) {
    auto* inputs = command.add_option("--inputs", options.inputs, "safetensors file: tokens or x, memory, masks");
    auto* text = command.add_option("--text", options.text,
                                    "text instead of a file, for a model with a vocabulary; a line is a batch row");
    auto* tokens =
        command.add_option("--tokens", options.tokens, "token ids instead of a file: \"1 2 3\"; ';' ends a row");
    auto* source = command.add_option("--source,--encoder-text", options.source, "the encoder's text, in the same way");
    auto* encoder_tokens =
        command.add_option("--encoder-tokens", options.encoder_tokens, "the encoder's token ids, in the same way");
    inputs->excludes(text)->excludes(tokens);
    text->excludes(tokens);
    source->excludes(encoder_tokens);
    command.add_option("--edits", options.edits, "JSON file with a list of edits, applied in order");
    command.add_option("--set", options.settings, "KEY=VALUE: overrides a configuration key; may be repeated")
        ->type_size(1)
        ->allow_extra_args(false);
    command.add_option("--dropout-seed", options.dropout_seed, "switches dropout on, with this seed");
}

Overrides overrides_of(const std::vector<std::string>& settings) {
    Overrides overrides;
    for (const std::string& setting : settings) {
        const std::size_t equals = setting.find('=');
        if (equals == std::string::npos || equals == 0)
            throw CLI::ValidationError("--set " + setting, "expected KEY=VALUE");
        overrides.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
    }
    return overrides;
}

// A text needs a tokenizer that can cut it.
Typed typed_text(const Model& model, const Tokenizer& tokenizer, const std::string& text, const std::string& option) {
    const std::string ids = option == "--text" ? "--tokens" : "--encoder-tokens";
    if (!tokenizer.can_encode())
        throw Error(option + ": " + model.name +
                    (tokenizer.size() == 0 ? " has no vocabulary" : " has a vocabulary that only labels tokens") +
                    ", expected " + ids + " with ids such as \"1 2 3\"");
    return {.text = text, .name = option};
}

// What the command line types in place of a file.
TypedSequences typed_sequences(const RunOptions& options, const Model& model) {
    TypedSequences typed;
    if (options.text) typed.target = typed_text(model, model.tokenizer, *options.text, "--text");
    if (options.source) typed.source = typed_text(model, model.encoder_tokenizer, *options.source, "--source");
    if (!options.tokens.empty()) typed.target = {.text = options.tokens, .ids = true, .name = "--tokens"};
    if (!options.encoder_tokens.empty())
        typed.source = {.text = options.encoder_tokens, .ids = true, .name = "--encoder-tokens"};
    return typed;
}

void note(const RunOptions& options, const std::vector<std::string>& remarks) {
    if (options.notes == nullptr) return;
    for (const std::string& remark : remarks) *options.notes << "decoderscope: note: " << remark << '\n';
}

// What there is where the command line says nothing else: the model on its own example, or a session.
SavedWork opened(const RunOptions& options, const Overrides& overrides) {
    if (is_session_path(options.model)) return open_session(options.model);
    SavedWork work;
    work.scenario = scenario_of(load_model(options.model, overrides));
    return work;
}

SavedWork work_of(const RunOptions& options) {
    const Overrides overrides = overrides_of(options.settings);
    SavedWork work = opened(options, overrides);
    Scenario& scenario = work.scenario;
    note(options, work.remarks);
    note(options, scenario.model->remarks);
    for (const auto& [key, value] : overrides) scenario = with_override(std::move(scenario), key, value);
    if (options.dropout_seed) scenario.dropout_seed = options.dropout_seed;
    const Config config = naming("--set", [&] { return scenario.config(); });
    if (!options.inputs.empty()) {
        scenario.inputs = load_inputs(options.inputs, config);
        scenario.inputs_path = options.inputs;
    }
    scenario.inputs = typed_inputs(*scenario.model, scenario.inputs, typed_sequences(options, *scenario.model));
    if (!options.edits.empty()) {
        const std::vector<Edit> more = naming(options.edits, [&] { return parse_edits(read_text(options.edits)); });
        scenario.edits.insert(scenario.edits.end(), more.begin(), more.end());
    }
    return work;
}

Scenario scenario_of(const RunOptions& options) { return work_of(options).scenario; }

// The plan of a scenario; an edit that doesn't fit is told with its file.
std::shared_ptr<const Plan> plan_naming_files(const Scenario& scenario, const RunOptions& options) {
    if (options.edits.empty()) return plan_of(scenario);
    Scenario unedited = scenario;
    unedited.edits.clear();
    static_cast<void>(plan_of(unedited));  // what is wrong without any edits is not theirs
    return naming(options.edits, [&] { return plan_of(scenario); });
}

std::shared_ptr<const Run> run_of(const Scenario& scenario, const RunOptions& options,
                                  std::vector<std::string> asked = {}) {
    return execute(plan_naming_files(scenario, options), {.asked = asked});
}

// ---- the commands

void list_models(std::ostream& out) {
    for (const BundledModel& model : bundled_models()) out << model.name << "  " << model.description << '\n';
}

void trace(const RunOptions& options, const std::string& path, const std::vector<std::string>& asked) {
    const Scenario scenario = scenario_of(options);
    const std::shared_ptr<const Run> run = run_of(scenario, options, asked);
    for (const std::string& name : asked)
        if (name != "*" && run->plan().find(name) == nullptr)
            throw Error(name + ": this run has no such tensor; expected a name such as blocks.0.attn.result");
    write_safetensors(path, recorded_tensors(*run));
}

struct ExportOptions {
    std::string tensor, path;
    Index batch = 0, head = 0;
    bool batch_given = false, head_given = false;
};

void check_index(const Step& step, std::string_view axis_name, Index index) {
    for (std::size_t i = 0; i + 2 < step.axes.size(); ++i)
        if (step.axes[i].name == axis_name && index >= step.axes[i].size)
            throw Error(step.name + ": " + std::string(axis_name) + " " + std::to_string(index) +
                        " is out of range, expected 0 to " + std::to_string(step.axes[i].size - 1));
}

// The slice that was asked for. On the command line a head is one of the tensor's own, also where keys are shared.
Place place_for(const Step& step, const ExportOptions& options, Index query_heads) {
    check_index(step, axis::batch, options.batch);
    check_index(step, axis::head, options.head);
    for (const Axis& axis : step.axes)
        if (axis.name == axis::head) return {options.batch, options.head * (query_heads / axis.size)};
    return {options.batch, 0};
}

void export_tensor(const RunOptions& options, const ExportOptions& wanted) {
    const Scenario scenario = scenario_of(options);
    const std::shared_ptr<const Run> run = run_of(scenario, options, {wanted.tensor});
    const Ref step = run->plan().find(wanted.tensor);
    if (step == nullptr)
        throw Error(wanted.tensor + ": this run has no such tensor; expected a name such as blocks.0.attn.pattern");
    export_heatmap(heatmap_of(scenario, *run, *step, place_for(*step, wanted, scenario.config().nhead)), wanted.path);
}

void bench(const RunOptions& options, int repeat, bool json, std::ostream& out) {
    const Scenario scenario = scenario_of(options);
    static_cast<void>(plan_naming_files(scenario, options));
    const BenchResult result = bench_forward(scenario, repeat);
    if (!json) {
        out << options.model << ": " << result.forward_ms << " ms, median of " << result.runs
            << " recorded forward passes, " << result.unrecorded_ms << " ms unrecorded; " << result.recorded_bytes
            << " bytes recorded\n";
        if (result.edit_ms)
            out << "the edits alone: " << *result.edit_ms << " ms until the last row of the logits, "
                << *result.edit_complete_ms << " ms in all\n";
        return;
    }
    out << "{\"forward_ms\": " << result.forward_ms << ", \"runs\": " << result.runs
        << ", \"recorded_bytes\": " << result.recorded_bytes << ", \"unrecorded_ms\": " << result.unrecorded_ms;
    if (result.edit_ms)
        out << ", \"edit_ms\": " << *result.edit_ms << ", \"edit_complete_ms\": " << *result.edit_complete_ms;
    out << "}\n";
}

struct GenerateOptions {
    int length = 32;
    Sampling sampling = {.temperature = 0.0};
    bool full_passes = false, json = false;
};

std::string written(const Model& model, const std::vector<Index>& tokens) {
    if (model.tokenizer.size() > 0) return model.tokenizer.decode(tokens);
    std::string ids;
    for (const Index token : tokens) ids += (ids.empty() ? "" : " ") + std::to_string(token);
    return ids;
}

// Writes every row of the batch on, each by itself.
void generate(const RunOptions& options, const GenerateOptions& wanted, std::ostream& out) {
    const Scenario scenario = scenario_of(options);
    static_cast<void>(plan_naming_files(scenario, options));
    naming(options.model, [&] {
        if (const std::string obstacle = generation_obstacle(scenario); !obstacle.empty()) throw Error(obstacle);
    });
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (Index row = 0; row < scenario.inputs.batch(); ++row) {
        Generator generator(scenario, row, wanted.sampling, !wanted.full_passes);
        const std::vector<Index> prompt = generator.tokens();
        for (int i = 0; i < wanted.length && generator.next(); ++i) {
        }
        const std::vector<Index> tokens = generator.tokens();
        const std::string text = written(*scenario.model, tokens);
        if (!wanted.json) {
            out << text << '\n';
            continue;
        }
        rows.push_back({{"prompt", prompt},
                        {"generated",
                         std::vector<Index>(tokens.begin() + static_cast<std::ptrdiff_t>(prompt.size()), tokens.end())},
                        {"text", valid_utf8(text)},
                        {"computed_positions", generator.computed_positions()}});
    }
    if (wanted.json) out << nlohmann::ordered_json{{"rows", rows}}.dump() << '\n';
}

// Compares a run with a trace's file. Throws Error where they differ, so that a script sees it.
void diff(const RunOptions& options, const std::string& path, double tolerance, std::ostream& out) {
    const ReferenceRun reference = read_trace(path);
    std::vector<std::string> asked;  // what is made only when asked for is compared where the file has it
    for (const auto& [name, tensor] : reference.tensors) asked.push_back(name);
    const Scenario scenario = scenario_of(options);
    const Comparison comparison =
        compare(recorded_tensors(*run_of(scenario, options, asked)), reference.tensors, tolerance);
    out << difference_table(comparison, "the run", "the file") << measured_text(comparison) << '\n'
        << verdict_of(comparison) << '\n';
    if (!comparison.differs()) return;
    const std::string first = comparison.first ? " First: " + comparison.tensors[*comparison.first].name : "";
    throw Error(path + ": " + verdict_of(comparison) + first);
}

}  // namespace

CliResult run_cli(std::span<const std::string> arguments, std::ostream& out, std::ostream& err) {
    CliResult result;
    RunOptions run;
    run.notes = &err;
    std::string tour;
    std::function<void()> work = [&] {
        run.notes = nullptr;  // the window says it itself
        result.window = WindowRequest{work_of(run), tour};
    };

    CLI::App app("Shows how a Transformer decoder computes. Without a command it opens the window.", "decoderscope");
    app.set_version_flag("--version", DECODERSCOPE_VERSION);
    app.require_subcommand(0, 1);
    run.model = kDefaultModel;
    app.add_option("--model", run.model, std::string(kModelHelp) + "; what the window opens on");
    app.add_option("FILE", run.model, "a session (.dscope) or a model to open the window on")
        ->check([](const std::string& path) {
            std::error_code failed;
            return is_session_path(path) || std::filesystem::exists(path, failed)
                       ? std::string()
                       : path + ": neither a command nor a session nor a model's path";
        })
        ->excludes("--model");
    add_run_options(app, run);
    app.add_option("--tour", tour, "draw the tour of the model into this folder instead of opening a window");

    CLI::App* models = app.add_subcommand("models", "List the bundled models, a line each");
    models->callback([&] { work = [&] { list_models(out); }; });

    std::string trace_path;
    std::vector<std::string> asked;
    CLI::App* tracing =
        app.add_subcommand("trace", "Run a model and write every recorded tensor to one safetensors file");
    tracing->add_option("MODEL", run.model, kModelHelp)->required();
    add_run_options(*tracing, run);
    tracing->add_option("--out", trace_path, "the safetensors file to write")->required();
    tracing
        ->add_option("--ask", asked, "a tensor that is made only when asked for (blocks.0.attn.result, or * for all)")
        ->type_size(1)
        ->allow_extra_args(false);
    tracing->callback([&] { work = [&] { trace(run, trace_path, asked); }; });

    ExportOptions wanted;
    CLI::App* exporting = app.add_subcommand("export", "Write one heatmap as .png, .svg, .csv, .npy or .json");
    exporting->add_option("MODEL", run.model, kModelHelp)->required();
    add_run_options(*exporting, run);
    exporting->add_option("--tensor", wanted.tensor, "the tensor's name, such as blocks.0.attn.pattern")->required();
    exporting->add_option("--out", wanted.path, "the file to write; its ending is the format")
        ->required()
        ->check([](const std::string& path) {
            return is_export_path(path) ? std::string()
                                        : path + ": expected an ending of .png, .svg, .csv, .npy or .json";
        });
    exporting->add_option("--batch", wanted.batch, "which row of the batch (0)")->check(CLI::NonNegativeNumber);
    exporting->add_option("--head", wanted.head, "which head (0)")->check(CLI::NonNegativeNumber);
    exporting->callback([&] { work = [&] { export_tensor(run, wanted); }; });

    std::string against;
    double tolerance = 1e-5;
    CLI::App* diffing = app.add_subcommand(
        "diff", "Compare a run with a trace, tensor by tensor, worst first; status 1 where they differ");
    diffing->add_option("MODEL", run.model, kModelHelp)->required();
    add_run_options(*diffing, run);
    diffing->add_option("--against", against, "safetensors file with tensors by the names that trace writes")
        ->required();
    diffing->add_option("--tolerance", tolerance, "the largest difference that counts as none (1e-5)")
        ->check(CLI::NonNegativeNumber);
    diffing->callback([&] { work = [&] { diff(run, against, tolerance, out); }; });

    GenerateOptions generating;
    CLI::App* generation = app.add_subcommand("generate", "Write a text on, token by token, by the KV cache");
    generation->add_option("MODEL", run.model, kModelHelp)->required();
    add_run_options(*generation, run);
    generation->add_option("--length", generating.length, "how many tokens at most (32)")
        ->check(CLI::Range(0, 1'000'000));
    generation->add_option("--temperature", generating.sampling.temperature,
                           "what the logits are divided by; 0, the default, always takes the most probable token");
    generation->add_option("--top-k", generating.sampling.top_k,
                           "only so many of the most probable tokens stay; 0: all");
    generation->add_option("--top-p", generating.sampling.top_p,
                           "only the most probable tokens that make up this much");
    generation->add_option("--seed", generating.sampling.seed, "the same seed draws the same tokens again (0)");
    generation->add_flag("--no-cache", generating.full_passes, "a pass over the whole text for every token");
    generation->add_flag("--json", generating.json, "print prompt, generated ids and text as JSON");
    generation->callback([&] { work = [&] { generate(run, generating, out); }; });

    int repeat = 10;
    bool json = false;
    CLI::App* benching = app.add_subcommand("bench", "Time the recorded forward pass");
    benching->add_option("MODEL", run.model, kModelHelp)->required();
    add_run_options(*benching, run);
    benching->add_option("--repeat", repeat, "how many timed runs (10)")->check(CLI::Range(1, 1'000'000));
    benching->add_flag("--json", json, "print the result as JSON");
    benching->callback([&] { work = [&] { bench(run, repeat, json, out); }; });

    try {
        // CLI11 takes its arguments from the last to the first.
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
        work();
    } catch (const CLI::Success& done) {
        app.exit(done, out, err);
    } catch (const CLI::ParseError& wrong) {
        err << "decoderscope: " << wrong.what() << "; see decoderscope --help\n";
        result.status = 2;
    } catch (const Error& failed) {
        err << "decoderscope: " << failed.what() << '\n';
        result.status = 1;
    } catch (const std::bad_alloc&) {
        err << "decoderscope: " << run.model << ": the run does not fit into this machine's memory\n";
        result.status = 1;
    }
    return result;
}

}  // namespace decoderscope

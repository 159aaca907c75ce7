#include "app/cli/commands.h"
#include "app/core/checks/invariants.h"
#include "app/core/generate/passes.h"
#include "app/core/run/comparison.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/files/safetensors.h"
#include "engine/load/assets.h"

#include <algorithm>

namespace decoderscope::cli {

void add_recorder(CLI::App& app, const Context& context) {
    // The file that records a program, by the program's name.
    static const std::map<std::string, std::string> files = {{"pytorch", "record.py"}, {"llama.cpp", "record_llama.h"}};
    CLI::App& command = *app.add_subcommand(
        "recorder", "Print the file that records a model where it runs: decoderscope recorder > record.py");
    auto program = std::make_shared<std::string>("pytorch");
    command.add_option("--for", *program, "what runs it: pytorch (a Python file) or llama.cpp (a C++ header)")
        ->check(CLI::IsMember(files));
    command.callback([context, program] {
        context.work = [context, program] {
            context.out << read_text(load::asset_path("recorder/" + files.at(*program)));
        };
    });
}

namespace {

struct TraceRequest {
    std::string path;
    std::vector<std::string> asked;
    std::vector<std::string> only;  // the tensors to write; empty: all
    std::string gradient_target;
    Index generate = 0;  // tokens to add; 0: one pass over the text
    std::vector<Index> chunks;
};

// Throws Error if a row that must hold doesn't, so that a script can tell.
void require_own_rows(const Run& run) {
    for (const core::checks::Invariant& check : core::finished(core::checks::measure_own_rows(run)))
        if (check.verdict == core::checks::Verdict::broken)
            throw Error("{cell}: {row} must hold, and doesn't: {finding}",
                        {{"cell", cell_name(check.step, check.cell)}, {"row", check.row}, {"finding", check.finding}});
}

// Every pass of a generation, in one file.
void trace_passes(const RunOptions& options, const TraceRequest& request) {
    const core::Scenario scenario = scenario_of(options);
    const core::generate::PassesRequest asked = {request.generate, request.chunks, request.asked};
    write_safetensors(request.path, tensors_of(core::finished(core::generate::passes_of(scenario, asked))));
}

void trace(const RunOptions& options, const TraceRequest& request) {
    core::Scenario scenario = scenario_of(options);
    scenario.gradient_target = request.gradient_target;
    std::vector<std::string> asked = request.asked;
    asked.insert(asked.end(), request.only.begin(), request.only.end());
    for (const std::string& name : request.asked) asked.push_back(backward::gradient_name(name));
    const std::shared_ptr<const Run> run = run_of(scenario, options, asked);
    std::vector<std::pair<std::string, Tensor>> tensors = recorded_tensors(*run);
    const auto require = [](bool is_there, const std::string& name) {
        if (!is_there)
            throw Error("{name}: this run has no such tensor; expected a name such as blocks.0.attn.result",
                        {{"name", name}});
    };
    for (const std::string& name : request.asked) require(name == "*" || run->plan().find(name) != nullptr, name);
    for (const std::string& name : request.only)  // a weight or an input is no tensor of a trace
        require(std::ranges::any_of(tensors, [&](const auto& one) { return one.first == name; }), name);
    if (!request.only.empty())
        std::erase_if(
            tensors, [&](const auto& one) { return std::ranges::find(request.only, one.first) == request.only.end(); });
    write_safetensors(request.path, tensors);
    require_own_rows(*run);
}

}  // namespace

void add_trace(CLI::App& app, const Context& context) {
    const auto request = std::make_shared<TraceRequest>();
    CLI::App& command =
        add_running(app, context, "trace", "Run a model and write every recorded tensor to one safetensors file");
    command.add_option("--out", request->path, "the safetensors file to write")->required();
    command
        .add_option("--ask", request->asked,
                    "also compute a tensor that is made on demand (blocks.0.attn.result, or * for all)")
        ->type_size(1)
        ->allow_extra_args(false);
    command.add_option("--only", request->only, "write these tensors and no others: NAME …");
    command.add_option(
        "--gradients-of", request->gradient_target,
        "also write the gradients of a cell (\"logits[0,3,7]\") or of the loss with respect to everything: grad.*");
    CLI::Option* generate = command
                                .add_option("--generate", request->generate,
                                            "add this many tokens, the most probable ones, and write every pass: "
                                            "pass.0/NAME, pass.1/cache/NAME, …, and tokens")
                                ->transform(within(bounds::kGeneratedAtOnce))
                                ->excludes("--gradients-of")
                                ->excludes("--only");
    command
        .add_option(
            "--chunks", request->chunks,
            "how many positions of the text each of the first passes computes (\"5,3\"); one pass takes the rest")
        ->delimiter(',')
        ->transform(within(bounds::kPassSize))
        ->needs(generate);
    command.callback([context, request] {
        context.work = [context, request] { (request->generate > 0 ? trace_passes : trace)(context.run, *request); };
    });
}

}  // namespace decoderscope::cli

#include "app/cli/commands.h"
#include "app/core/report/html_page.h"
#include "engine/base/error.h"

#include <ostream>

namespace decoderscope::cli {

namespace {

struct ExplainRequest {
    std::string cell;
    int depth = 1;
    bool html = false;
};

// The step of a cell that the run has. Throws Error saying what was expected.
const Step& step_of(const Run& run, const CellName& name) {
    const Ref step = run.plan().find(name.tensor);
    if (step == nullptr)
        throw Error("{tensor}: this run has no such tensor; expected a name such as blocks.0.attn.pattern",
                    {{"tensor", name.tensor}});
    check_cell(name, step->axes);
    return *step;
}

void explain(const RunOptions& options, const ExplainRequest& request, std::ostream& out) {
    const CellName name = parse_cell_name(request.cell);
    const core::Scenario scenario = scenario_of(options);
    const std::shared_ptr<const Run> run = run_of(scenario, options, {name.tensor});
    const core::report::ExplainedCells explained =
        core::report::explained_cells(scenario, *run, step_of(*run, name), name.cell, request.depth);
    if (request.html)
        core::report::write_explanation_page(out, scenario, *run, explained);
    else
        core::report::write_explanation(out, scenario, *run, explained);
}

}  // namespace

void add_explain(CLI::App& app, const Context& context) {
    const auto request = std::make_shared<ExplainRequest>();
    CLI::App& command = add_running(app, context, "explain",
                                    "Explain one number: the terms that it was computed from, by tensor and token");
    command.add_option("--cell", request->cell, "the cell, such as \"blocks.0.attn.pattern[0, 1, 2, 3]\"")
        ->required()
        ->check([](const std::string& text) {
            try {
                static_cast<void>(parse_cell_name(text));
                return std::string();
            } catch (const Error& error) {
                return std::string(error.what());
            }
        });
    command
        .add_option("--depth", request->depth, "how many levels: 2 also explains the operands of the largest terms (1)")
        ->check(CLI::Range(1, 32));
    command.add_flag("--html", request->html, "write a page of HTML with headings and tables instead of text");
    command.callback(
        [context, request] { context.work = [context, request] { explain(context.run, *request, context.out); }; });
}

}  // namespace decoderscope::cli

#include "app/cli/commands.h"
#include "app/core/report/html_page.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/tabs/step/explanation_text.h"
#include "app/core/tabs/step/history.h"
#include "engine/base/error.h"

#include <ostream>

namespace decoderscope::cli {

namespace {

struct ExplainRequest {
    std::string cell, history;
    int depth = 1;
    bool html = false, readers = false;
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
    const Step& step = step_of(*run, name);
    const core::report::ExplainedCells explained =
        core::report::explained_cells(scenario, *run, step, name.cell, request.depth);
    if (request.html) return core::report::write_explanation_page(out, scenario, *run, explained);
    core::report::write_explanation(out, scenario, *run, explained);
    if (const auto written = core::written_before(scenario, run->plan(), step, name.cell))
        out << "  " << core::words_of(*written).english() << '\n';
    if (request.readers) core::step::write_readers(out, *run, step, name.cell);
}

void tell_history(const RunOptions& options, const ExplainRequest& request, std::ostream& out) {
    const CellName name = parse_cell_name(request.history);
    const core::Scenario scenario = scenario_of(options);
    const std::shared_ptr<const Run> run = run_of(scenario, options, {name.tensor});
    const Step& step = step_of(*run, name);
    if (!core::step::is_stream(run->plan(), step))
        throw Error("{tensor}: not a step of the residual stream; expected one such as blocks.0.resid_post",
                    {{"tensor", name.tensor}});
    core::step::write_history(out, step, name.cell, core::finished(core::step::history_of(run, step.id, name.cell)));
}

// Refuses what is no cell.
std::string error_in_cell(const std::string& text) {
    try {
        static_cast<void>(parse_cell_name(text));
        return {};
    } catch (const Error& error) {
        return error.what();
    }
}

}  // namespace

void add_explain(CLI::App& app, const Context& context) {
    const auto request = std::make_shared<ExplainRequest>();
    CLI::App& command = add_running(app, context, "explain",
                                    "Explain one number: the terms that it was computed from, by tensor and token");
    CLI::Option* cell =
        command.add_option("--cell", request->cell, "the cell, such as \"blocks.0.attn.pattern[0, 1, 2, 3]\"")
            ->check(error_in_cell);
    CLI::Option* history =
        command
            .add_option("--history", request->history,
                        "instead: what each head, MLP, bias and norm wrote into this cell of the residual stream, such "
                        "as \"blocks.1.resid_post[0, 3, 5]\"")
            ->check(error_in_cell)
            ->excludes(cell);
    command
        .add_option("--depth", request->depth, "how many levels: 2 also explains the operands of the largest terms (1)")
        ->transform(within(bounds::kDepth));
    CLI::Option* html =
        command.add_flag("--html", request->html, "write a page of HTML with headings and tables instead of text");
    command.add_flag("--read-by", request->readers, "also list the steps, and their cells, that read the cell next")
        ->excludes(html);
    command.callback([context, request, cell, history] {
        if (cell->count() == 0 && history->count() == 0) throw CLI::RequiredError("--cell");
        context.work = [context, request] {
            (request->history.empty() ? explain : tell_history)(context.run, *request, context.out);
        };
    });
}

}  // namespace decoderscope::cli

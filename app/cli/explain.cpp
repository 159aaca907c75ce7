#include "app/cli/commands.h"
#include "app/core/report/written_explanation.h"
#include "app/core/run/labels.h"
#include "engine/base/error.h"

#include <charconv>
#include <ostream>

namespace decoderscope::cli {

namespace {

struct ExplainRequest {
    std::string cell;
    int depth = 1;
    bool html = false;
};

struct NamedCell {
    std::string tensor;
    Cell cell;
};

// "blocks.0.attn.pattern[0, 1, 2, 3]"; spaces may be left out. Nothing if it isn't written so.
std::optional<NamedCell> parse_cell(const std::string& text) {
    const std::size_t open = text.find('[');
    if (open == std::string::npos || open == 0 || text.back() != ']') return std::nullopt;
    NamedCell named{text.substr(0, open), {}};
    const char* at = text.data() + open + 1;
    const char* const end = text.data() + text.size() - 1;
    for (;;) {
        while (at != end && *at == ' ') ++at;
        Index index = 0;
        const auto [after, error] = std::from_chars(at, end, index);
        if (error != std::errc() || index < 0) return std::nullopt;
        named.cell.push_back(index);
        at = after;
        while (at != end && *at == ' ') ++at;
        if (at == end) return named;
        if (*at++ != ',') return std::nullopt;
    }
}

// The step of a cell that the run has. Throws Error saying what was expected.
const Step& step_of(const Run& run, const NamedCell& named) {
    const Ref step = run.plan().find(named.tensor);
    if (step == nullptr)
        throw Error("{tensor}: this run has no such tensor; expected a name such as blocks.0.attn.pattern",
                    {{"tensor", named.tensor}});
    const Tensor& values = run.value(step->id);
    if (named.cell.size() != step->axes.size() || !values.contains(named.cell))
        throw Error("{cell}: no cell of this tensor of shape {shape}, expected an index for each of {axes}",
                    {{"cell", cell_name(named.tensor, named.cell)},
                     {"shape", shape_text(step->axes)},
                     {"axes", axes_text(step->axes)}});
    return *step;
}

void explain(const RunOptions& options, const ExplainRequest& request, std::ostream& out) {
    const NamedCell named = *parse_cell(request.cell);
    const Scenario scenario = scenario_of(options);
    const std::shared_ptr<const Run> run = run_of(scenario, options, {named.tensor});
    const ExplainedCells explained = explained_cells(scenario, *run, step_of(*run, named), named.cell, request.depth);
    if (request.html)
        write_explanation_page(out, scenario, *run, explained);
    else
        write_explanation(out, scenario, *run, explained);
}

}  // namespace

void add_explain(CLI::App& app, const Context& context) {
    const auto request = std::make_shared<ExplainRequest>();
    CLI::App& command = add_running(app, context, "explain",
                                    "Explain one number: the terms that it was computed from, by tensor and token");
    command.add_option("--cell", request->cell, "the cell, such as \"blocks.0.attn.pattern[0, 1, 2, 3]\"")
        ->required()
        ->check([](const std::string& text) {
            return parse_cell(text) ? std::string() : text + ": expected NAME[i, j, …] with an index for each axis";
        });
    command.add_option("--depth", request->depth, "levels: 2 also explains the operands of the largest terms (1)")
        ->check(CLI::Range(1, 32));
    command.add_flag("--html", request->html, "write a page of HTML with headings and tables instead of text");
    command.callback(
        [context, request] { context.work = [context, request] { explain(context.run, *request, context.out); }; });
}

}  // namespace decoderscope::cli

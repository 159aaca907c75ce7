#include "app/cli/commands.h"
#include "app/core/files/link.h"
#include "app/core/files/saved_session.h"
#include "app/core/report/run_differences.h"
#include "app/core/run/open_model.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/load/recorded_run.h"
#include "engine/trace/recorded_file.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace decoderscope::cli {

namespace {

struct CompareRequest {
    std::vector<std::string> runs;
    std::string html;
    bool markdown = false;
    std::optional<double> tolerance;
};

bool is_trace(const std::string& path) {
    if (core::files::is_link(path) || core::files::is_session_path(path)) return false;
    return core::opens_as_trace(path, core::OpenAs::whatever_it_is) || trace::sources::holds_no_parameter(path);
}

// What is to be run, or was; nothing is computed yet.
core::report::ComparedRun opened(const RunOptions& options, const std::string& name) {
    core::report::ComparedRun run;
    run.label = core::files::is_link(name) ? core::files::link_name().english() : name;
    if (is_trace(name)) {
        run.shown.scenario = core::scenario_of(load::run_of_trace(name));
    } else {
        RunOptions of_this;
        of_this.model = name;
        of_this.notes = options.notes;
        run.shown.scenario = scenario_of(of_this);
    }
    if (const load::RecordedRun* recorded = run.shown.scenario.recorded())
        run.trace = std::make_shared<const trace::Trace>(trace::open_trace(recorded->path));
    return run;
}

// All models run on one input: the command line's; otherwise what the first recording was given; otherwise the first
// model's.
void give_input(std::vector<core::report::ComparedRun>& runs, const RunOptions& options) {
    const auto recording = std::ranges::find_if(runs, [](const auto& run) { return run.trace != nullptr; });
    const core::Scenario* first = nullptr;
    for (core::report::ComparedRun& run : runs) {
        core::Scenario& scenario = run.shown.scenario;
        if (!scenario.computes()) continue;
        if (gives_inputs(options))
            take_inputs(scenario, options);
        else if (recording != runs.end())
            scenario = core::on_recorded_input(std::move(scenario), *recording->trace);
        else if (first != nullptr)
            scenario.inputs = first->inputs;
        if (first == nullptr) first = &scenario;
    }
}

core::report::ComparedRuns compared(const RunOptions& options, const CompareRequest& request) {
    std::vector<core::report::ComparedRun> runs;
    for (const std::string& name : request.runs) runs.push_back(opened(options, name));
    give_input(runs, options);
    for (core::report::ComparedRun& run : runs)
        run.shown.run = naming(run.label, [&] { return execute(core::plan_of(run.shown.scenario)); });
    return core::report::compared(std::move(runs), request.tolerance);
}

// Throws the worst judgement of a run, so that a script can tell.
void compare(const RunOptions& options, const CompareRequest& request, std::ostream& out) {
    const core::report::ComparedRuns all = compared(options, request);
    if (!request.html.empty())
        write_whole(request.html, [&](std::ostream& file) { core::report::write_differences(file, all); });
    if (request.markdown) out << core::report::differences_markdown(all);
    for (const Judged judged : {Judged::different, Judged::in_part})
        for (std::size_t i = 0; i < all.differences.size(); ++i) {
            const core::report::RunDifferences& of = all.differences[i];
            if (judged == Judged::different ? of.differs() : of.in_part())
                throw Judgement(judged, message("{run}: {verdict}", {{"run", all.runs[i + 1].label},
                                                                     {"verdict", core::report::verdict_of(of)}}));
        }
}

}  // namespace

void add_compare(CLI::App& app, const Context& context) {
    const auto request = std::make_shared<CompareRequest>();
    CLI::App& command =
        *app.add_subcommand("compare",
                            "Compare runs with the first one, step by step: models, sessions and recordings in any "
                            "mixture, as text, a page or Markdown");
    judge(command, context);
    constexpr int kMostRuns = 32;
    command
        .add_option("RUN", request->runs,
                    "two or more: a bundled model's name, a model's folder or file, a session or a link to one, a "
                    "recording")
        ->required()
        ->expected(2, kMostRuns);
    command.add_option("--html", request->html, "write one .html file with pictures of the differences");
    command.add_flag("--markdown", request->markdown, "print it as Markdown, short enough for a comment");
    command
        .add_option("--tolerance", request->tolerance,
                    "how far numbers may differ, relative to a tensor's largest magnitude (1e-4; 1e-2 for float16, "
                    "8e-2 for bfloat16)")
        ->transform(within(bounds::kTolerance));
    add_input_options(command, context.run);
    command.callback([context, request] {
        if (request->html.empty() && !request->markdown) throw CLI::RequiredError("--html or --markdown");
        context.work = [context, request] { compare(context.run, *request, context.out); };
    });
}

}  // namespace decoderscope::cli

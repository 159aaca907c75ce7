#include "app/core/report/report.h"
#include "app/cli/commands.h"
#include "engine/error.h"
#include "engine/file.h"

namespace decoderscope::cli {

namespace {

struct Wanted {
    std::string path, step;
    Index batch = 0;
    std::optional<Index> head;
};

// Where the model's maker says to look, unless the command line does.
ReportOf report_of(const RunOptions& options, const Wanted& wanted) {
    const Scenario scenario = scenario_of(options);
    ReportOf report{
        {scenario, run_of(scenario, options, {wanted.step})}, wanted.step, {wanted.batch, wanted.head.value_or(0)}, ""};
    if (report.step.empty()) {
        report.step = scenario.model->look_at.step;
        if (!wanted.head) report.place.head = scenario.model->look_at.head;
    } else if (report.shown.run->plan().find(report.step) == nullptr) {
        throw Error(report.step + ": this run has no such tensor; expected a name such as blocks.0.attn.pattern");
    }
    const auto check = [](const char* axis, Index index, Index count) {
        if (index >= count)
            throw Error(std::string(axis) + " " + std::to_string(index) + " is out of range, expected 0 to " +
                        std::to_string(count - 1));
    };
    check("batch", report.place.batch, scenario.inputs.batch());
    check("head", report.place.head, scenario.config().nhead);
    return report;
}

void report(const RunOptions& options, const Wanted& wanted) {
    const ReportOf report = report_of(options, wanted);
    write_whole(wanted.path, [&](std::ostream& out) { write_report(out, report); });
}

}  // namespace

void add_report(CLI::App& app, const Context& context) {
    const auto wanted = std::make_shared<Wanted>();
    CLI::App& command = add_running(app, context, "report",
                                    "Write one page of HTML with the heads, the masks, the norm curves and the edits");
    command.add_option("--out", wanted->path, "the .html file to write")->required();
    command.add_option("--tensor", wanted->step, "the tensor to begin with, such as blocks.0.attn.pattern");
    command.add_option("--batch", wanted->batch, "which row of the batch (0)")->check(CLI::NonNegativeNumber);
    command.add_option("--head", wanted->head, "which head to begin with")->check(CLI::NonNegativeNumber);
    command.callback([context, wanted] { context.work = [context, wanted] { report(context.run, *wanted); }; });
}

}  // namespace decoderscope::cli

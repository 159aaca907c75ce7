#include "app/core/report/report.h"
#include "app/cli/commands.h"
#include "app/core/files/saved_session.h"
#include "app/core/report/talk_page.h"
#include "engine/base/error.h"
#include "engine/base/file.h"

#include <filesystem>
#include <memory>
#include <string>

namespace decoderscope::cli {

namespace {

struct ReportRequest {
    std::string path, step;
    std::optional<Index> batch, head;
};

// The place given on the command line; otherwise the session's, or the one that the model's author suggests.
core::Cursor place_to_look(const core::files::SavedSession& work, const ReportRequest& request) {
    core::Cursor cursor = work.cursor;
    const core::Scenario& scenario = work.scenario;
    if (cursor.step.empty()) cursor = {scenario.look_at().step, {0, scenario.look_at().head}, {}};
    if (!request.step.empty()) cursor = {request.step, {}, {}};
    if (request.batch) cursor.place.batch = *request.batch;
    if (request.head) cursor.place.head = *request.head;
    return cursor;
}

void check(const char* axis, Index index, Index count) {
    if (index >= count)
        throw Error("{axis} {index} is out of range, expected 0 to {highest}",
                    {{"axis", axis}, {"index", index}, {"highest", count - 1}});
}

core::report::ReportOf report_of(const RunOptions& options, const ReportRequest& request) {
    const core::files::SavedSession work = work_of(options);
    const core::Scenario& scenario = work.scenario;
    const core::Cursor cursor = place_to_look(work, request);
    check("batch", cursor.place.batch, scenario.batch());
    check("head", cursor.place.head, scenario.query_heads());
    std::vector<std::string> shown = {cursor.step};
    for (const core::Note* note : core::watched_among(work.notes)) shown.push_back(note->step);
    core::report::ReportOf report{
        {scenario, run_of(scenario, options, shown), work.notes}, cursor.step, cursor.place, ""};
    if (!request.step.empty() && report.shown.run->plan().find(request.step) == nullptr)
        throw Error("{step}: this run has no such tensor; expected a name such as blocks.0.attn.pattern",
                    {{"step", request.step}});
    if (core::files::is_session_path(options.model))
        report.title = std::filesystem::path(options.model).stem().string();
    return report;
}

void report(const RunOptions& options, const ReportRequest& request) {
    const core::report::ReportOf report = report_of(options, request);
    write_whole(request.path, [&](std::ostream& out) { core::report::write_report(out, report); });
}

}  // namespace

void add_report(CLI::App& app, const Context& context) {
    const auto request = std::make_shared<ReportRequest>();
    CLI::App& command = add_running(app, context, "report",
                                    "Write one page of HTML with the heads, the masks, the norm curves and the edits");
    command.add_option("--out", request->path, "the .html file to write")->required();
    command.add_option("--tensor", request->step, "the tensor to show first, such as blocks.0.attn.pattern");
    command.add_option("--batch", request->batch, "which row of the batch")->transform(within(bounds::kFrom0));
    command.add_option("--head", request->head, "which head to show first")->transform(within(bounds::kFrom0));
    command.callback([context, request] { context.work = [context, request] { report(context.run, *request); }; });
}

// A talk is of a session, so it belongs to no run that options could change.
void add_talk(CLI::App& app, const Context& context) {
    struct TalkRequest {
        std::string session, path;
        core::report::TalkPage page;
    };
    const auto request = std::make_shared<TalkRequest>();
    CLI::App& command = *app.add_subcommand(
        "talk", "List the states of a session's talk with the speaker's notes, or write them as a page or a PDF");
    command.add_option("SESSION", request->session, "a session, .dscope")->required();
    command.add_option("--out", request->path, "the .html or .pdf file to write");
    command.add_option("--site", request->page.site,
                       "the browser version's address: each state on the page links to it");
    command.add_flag("--notes", request->page.notes, "put the speaker's notes on the page, too");
    command.callback([context, request] {
        context.work = [context, request] {
            core::files::SavedSession work = core::files::open_session(request->session);
            if (work.talk.empty())
                throw Error("{path}: has no talk, expected a session with one", {{"path", request->session}});
            request->page.title = std::filesystem::path(request->session).stem().string();
            if (!request->path.empty())
                return core::report::write_talk(request->path, work.talk, work.scenario, context.picture_of,
                                                request->page);
            for (std::size_t i = 0; i < work.talk.size(); ++i) {
                context.out << i + 1 << "  " << work.talk[i].sentence << '\n';
                if (!work.talk[i].notes.empty()) context.out << "     " << work.talk[i].notes << '\n';
            }
        };
    });
}

}  // namespace decoderscope::cli

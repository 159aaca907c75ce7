#include "app/cli.h"

#include "app/cli/commands.h"
#include "app/core/files/link.h"
#include "app/core/files/saved_session.h"
#include "app/core/lessons/library.h"
#include "app/core/run/overlay.h"
#include "app/platform.h"
#include "app/views/frame/tab.h"
#include "app/views/shell/stage_picture.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/load/bundled_models.h"
#include "engine/load/recorded_run.h"

#include <cmath>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::app {

namespace {

// A file's numbers over the work that the window opens on.
void lay_over(core::files::SavedSession& work, const std::string& path) {
    work.overlay = std::make_shared<const core::Overlay>(core::read_overlay(path, *core::plan_of(work.scenario)));
}

// "FLOAT", CLI11's name for any number that need not be whole. None of ours may be NaN, infinite or negative.
void check_numbers(CLI::App& command) {
    for (CLI::Option* option : command.get_options())
        if (option->get_type_name().starts_with("FLOAT"))
            option->check(CLI::Validator(
                [](const std::string& text) {
                    double value = -1.0;
                    const bool read = CLI::detail::lexical_cast(text, value);
                    return read && std::isfinite(value) && value >= 0.0
                               ? std::string()
                               : text + ": expected a finite number that is not negative";
                },
                ""));
    for (CLI::App* deeper : command.get_subcommands(nullptr)) check_numbers(*deeper);
}

// "trace with --inputs --out": not what they are set to, which may be a person's text.
std::string asked_for(const CLI::App& app) {
    const std::vector<CLI::App*> commands = app.get_subcommands();
    const CLI::App& command = commands.empty() ? app : *commands.front();
    std::string text = commands.empty() ? "the window" : command.get_name(), with = " with";
    for (const CLI::Option* option : command.get_options())
        if (option->count() > 0 && !option->get_positional()) {
            text += with + " " + option->get_name();
            with.clear();
        }
    return text;
}

}  // namespace

CliResult run_cli(std::span<const std::string> arguments, std::ostream& out, std::ostream& err, const Reader& reader) {
    CliResult result;
    cli::RunOptions run;
    run.notes = &err;
    std::string tour, lesson, overlay, log_path;
    std::shared_ptr<core::Log> log;
    bool embed = false, named = false;
    // Has it read, and asks for a window on it.
    const auto open_window = [&](const std::string& name, const Read& read) {
        LoadProgress unseen;
        result.window = WindowRequest{reader && tour.empty() ? reader(name, read) : read(unseen), tour,
                                      lesson.empty() ? nullptr : core::lessons::find_lesson(lesson), embed, named};
    };
    std::function<void()> work = [&] {
        run.notes = nullptr;  // the window shows them itself
        open_window(run.model, [&](LoadProgress& progress) {
            core::files::SavedSession opened = cli::work_of(run, progress);
            if (!overlay.empty()) lay_over(opened, overlay);
            return opened;
        });
    };

    CLI::App app("Shows how a Transformer decoder computes. Without a command it opens the window.", "decoderscope");
    app.set_version_flag("--version", DECODERSCOPE_VERSION);
    app.allow_windows_style_options(false);  // otherwise "/x" would be an option there, and not a path
    app.require_subcommand(0, 1);
    app.get_formatter()->column_width(34);
    run.model = load::kDefaultModel;
    app.add_option("--model", run.model, std::string(cli::kModelHelp) + "; what the window opens on");
    app.add_option("FILE", run.model, "a session (.dscope), a link to one, or a model to open the window on")
        ->check([](const std::string& path) {
            std::error_code failed;
            return core::files::is_link(path) || core::files::is_session_path(path) ||
                           std::filesystem::exists(path, failed)
                       ? std::string()
                       : path + ": neither a command nor a session nor a link nor a model's path";
        })
        ->excludes("--model");
    cli::add_run_options(app, run);
    app.add_option("--tour", tour, "draw the tour of the model into this folder instead of opening a window");

    app.add_option("--lesson", lesson, "open a lesson in the window: its name (`lessons` lists them), or its .md file");

    app.add_option("--overlay", overlay,
                   "tint the map and timeline by numbers from a file: NAME, value, text as CSV, or JSON");

    app.add_option("--log", log_path,
                   "write what is done, how long it takes and what fails to this file, for a report; before a command");

    app.add_flag("--embed", embed, "only the stage, for a page that embeds it");

    cli::Context context{run,
                         work,
                         out,
                         [&](const std::string& path) {
                             named = true;
                             open_window(path, [&](LoadProgress&) {
                                 return core::files::SavedSession{
                                     .scenario = core::scenario_of(load::run_of_trace(absolute_path(path)))};
                             });
                         },
                         views::shell::stage_picture,
                         {}};
    for (const views::Tab& tab : views::tabs()) context.tabs.push_back(tab.id);
    for (const auto add :
         {cli::add_models,   cli::add_trace,  cli::add_export,  cli::add_explain,  cli::add_formulas, cli::add_report,
          cli::add_talk,     cli::add_sweep,  cli::add_diff,    cli::add_generate, cli::add_bench,    cli::add_names,
          cli::add_train,    cli::add_bisect, cli::add_check,   cli::add_compare,  cli::add_cost,     cli::add_chat,
          cli::add_recorder, cli::add_open,   cli::add_lessons, cli::add_mask})
        add(app, context);
    check_numbers(app);

    try {
        // CLI11 expects the arguments in reverse order.
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
        named = app.count("--model") + app.count("FILE") > 0;
        if (!log_path.empty()) log = std::make_shared<core::Log>(log_path);
        if (log) log->write(asked_for(app) + " of " + run.model);
        work();
        if (result.window) result.window->log = log;
    } catch (const CLI::Success& done) {
        app.exit(done, out, err);
    } catch (const CLI::ParseError& wrong) {
        err << "decoderscope: " << wrong.what() << "; see decoderscope --help\n";
        result.status = 2;
    } catch (const cli::ComparedInPart& agrees) {
        err << "decoderscope: " << agrees.what() << '\n';
        result.status = 3;
    } catch (const Error& failed) {
        err << "decoderscope: " << failed.what() << '\n';
        if (log) log->write(std::string("failed: ") + failed.what());
        result = {.window = std::nullopt, .status = 1};
    } catch (const std::bad_alloc&) {
        err << "decoderscope: " << run.model << ": the run does not fit into this machine's memory\n";
        result.status = 1;
    }
    if (log && !result.window) log->write("ended with status " + std::to_string(result.status));
    return result;
}

int run_program(int count, char** values, const Reader& reader, const std::function<int(const WindowRequest&)>& show) {
    int status = 1;
    try {
        const CliResult result = run_cli(begin_program(count, values), std::cout, std::cerr, reader);
        status = result.window ? show(*result.window) : result.status;
    } catch (const LoadStopped&) {
        status = 0;  // the window was closed
    } catch (const Error& error) {
        std::cerr << "decoderscope: " << error.what() << '\n';
    } catch (const std::exception& error) {
        std::cerr << "decoderscope: internal error: " << error.what() << '\n';
    }
    return end_program(status);
}

}  // namespace decoderscope::app

#include "app/cli.h"

#include "app/cli/commands.h"
#include "app/core/files/link.h"
#include "app/core/files/saved_session.h"
#include "app/core/lessons/library.h"
#include "app/core/run/overlay.h"
#include "app/platform.h"
#include "app/views/frame/tab.h"
#include "app/views/shell/workspace.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/load/bundled_models.h"
#include "engine/load/recorded_run.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <new>
#include <optional>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace decoderscope::app {

namespace {

// A file's numbers over the work that the window opens on.
void lay_over(core::files::SavedSession& work, const std::string& path) {
    work.overlay = std::make_shared<const core::Overlay>(core::read_overlay(path, *core::plan_of(work.scenario)));
}

// Every number that an option takes is read by within(); what has no bounds of its own begins at 0. These are CLI11's
// names for the types.
void check_numbers(CLI::App& command) {
    const auto is_checked = [](CLI::Option& option) {
        try {
            return option.get_validator(0) != nullptr;
        } catch (const CLI::OptionNotFound&) {
            return false;
        }
    };
    for (CLI::Option* option : command.get_options()) {
        if (is_checked(*option)) continue;
        const std::string type = option->get_type_name();
        if (type == "FLOAT") option->transform(cli::within(Bounds<double>{0.0}));
        if (type == "INT") option->transform(cli::within(Bounds<std::int64_t>{0}));
        if (type == "UINT") option->transform(cli::within(Bounds<std::uint64_t>{0}));
    }
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

// Passes on what a person reads, perhaps in a terminal, which would obey the control characters of a name or a text
// from a file. Each is replaced; only lines and tabs stay.
class WithoutControls : public std::streambuf {
public:
    explicit WithoutControls(std::ostream& to) : to_(to) {}

protected:
    int_type overflow(int_type c) override {
        const char one = traits_type::to_char_type(c);
        if (!traits_type::eq_int_type(c, traits_type::eof())) xsputn(&one, 1);
        return to_ ? traits_type::not_eof(c) : traits_type::eof();
    }
    std::streamsize xsputn(const char* from, std::streamsize count) override {
        constexpr std::string_view kReplacement = "\uFFFD";
        std::string text;
        for (const char c : std::string_view(from, static_cast<std::size_t>(count))) {
            const auto byte = static_cast<unsigned char>(c);
            const bool second = std::exchange(waits_, false);  // of a character whose first byte is C2
            if (second && byte < 0xA0U && byte >= 0x80U) {     // U+0080 to U+009F
                text += kReplacement;
                continue;
            }
            if (second) text += '\xC2';
            waits_ = byte == 0xC2U;
            if (waits_) continue;
            const bool is_control = (byte < 0x20U && c != '\n' && c != '\t') || byte == 0x7FU;
            text += is_control ? kReplacement : std::string_view(&c, 1);
        }
        to_ << text;
        return to_ ? count : 0;
    }
    int sync() override { return to_.flush() ? 0 : -1; }

private:
    std::ostream& to_;
    bool waits_ = false;
};

}  // namespace

CliResult run_cli(std::span<const std::string> arguments, std::ostream& to_out, std::ostream& to_err,
                  const Reader& reader) {
    WithoutControls out_buffer(to_out), err_buffer(to_err);
    std::ostream out(&out_buffer), err(&err_buffer);
    out.exceptions(to_out.exceptions());
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

    app.add_option("--overlay", overlay, "tint the strip by numbers from a file: NAME, value, text as CSV, or JSON");

    app.add_option("--log", log_path,
                   "write what is done, how long it takes and what fails to this file, for a report; before a command");

    app.add_flag("--embed", embed, "only the stage, for a page that embeds it");

    cli::Context context{run,
                         work,
                         result.failed,
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
    for (const views::TabPage& way : views::ways_in()) context.tabs.push_back(way.id);
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
        if (!log_path.empty()) log = result.log = std::make_shared<core::Log>(log_path);
        if (log) log->write(asked_for(app) + " of " + run.model);
        work();
        if (result.window) result.window->log = log;
    } catch (const CLI::Success& done) {
        app.exit(done, out, err);
    } catch (const CLI::ParseError& wrong) {
        err << "decoderscope: " << wrong.what() << "; see decoderscope --help\n";
        result.status = 2;
    } catch (const cli::Judgement& found) {
        err << "decoderscope: " << found.what() << '\n';
        result.status = static_cast<int>(found.judged());
    } catch (const Error& failed) {
        err << "decoderscope: " << failed.what() << '\n';
        if (log) log->write(std::string("failed: ") + failed.what());
        result.window.reset();
        result.status = result.failed;
    } catch (const std::ios::failure&) {  // whoever called finds that `to_out` has failed
        result.status = result.failed;
    } catch (const std::bad_alloc&) {
        err << "decoderscope: " << run.model << ": the run does not fit into this machine's memory\n";
        result.status = result.failed;
    }
    if (log && !result.window) log->write("ended with status " + std::to_string(result.status));
    return result;
}

namespace {

// Why nothing can be written to standard output any more; empty if all was. A full disk is noticed only here, when the
// last of it is written.
Sentence output_failure() {
    errno = 0;
    if (std::fflush(stdout) == 0 && std::cout.flush()) return {};
    if (errno == 0) return message("standard output: cannot be written");  // it failed before, in the middle
    return message("standard output: cannot be written: {reason}",
                   {{"reason", std::generic_category().message(errno)}});
}

}  // namespace

int run_program(int count, char** values, const Reader& reader, const std::function<int(const WindowRequest&)>& show) {
    constexpr int kEndedByPipe = 141;  // as a shell says that SIGPIPE ended a program
    int status = 1;
    std::cerr.tie(nullptr);  // what can't be written to standard output would fail here, too
    WithoutControls err_buffer(std::cerr);
    std::ostream err(&err_buffer);
    CliResult result;
    const auto tell = [&](const Sentence& failure) {
        if (failure.empty()) return;
        err << "decoderscope: " << failure.english() << '\n';
        status = result.failed;
    };
    try {
        const std::vector<std::string> arguments = begin_program(count, values);
        std::cout.exceptions(std::ios::badbit);  // what isn't read any more need not be computed
        result = run_cli(arguments, std::cout, std::cerr, reader);
        status = result.window ? show(*result.window) : result.status;
    } catch (const std::ios::failure&) {
        // Said below, as of any output that failed.
    } catch (const std::bad_alloc&) {
        tell(message("there is too little memory to go on; unsaved work is offered at the next start"));
    } catch (const LoadStopped&) {
        status = 0;  // the window was closed
    } catch (const Error& error) {
        err << "decoderscope: " << error.what() << '\n';
    } catch (const std::exception& error) {
        err << "decoderscope: internal error: " << error.what() << '\n';
    }
    std::cout.exceptions(std::ios::goodbit);
    const Sentence unwritten = output_failure();
    if (!unwritten.empty() && nobody_reads_output())
        status = kEndedByPipe;
    else
        tell(unwritten);
    if (result.log) tell(result.log->failure());
    return end_program(status);
}

}  // namespace decoderscope::app

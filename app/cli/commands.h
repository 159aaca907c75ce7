#pragma once

#include "app/cli/run_options.h"

#include <functional>
#include <iosfwd>

// The commands, a file each. Each adds itself to the command line; when parsed, it only sets the work to be done.
namespace decoderscope::cli {

// What a command works with. All of it lasts as long as the command line does.
struct Context {
    RunOptions& run;
    std::function<void()>& work;  // to be done once the whole command line is parsed
    std::ostream& out;
    std::function<void(const std::string& path)> open_trace;  // in the window
};

void add_models(CLI::App& app, const Context& context);
void add_trace(CLI::App& app, const Context& context);
void add_export(CLI::App& app, const Context& context);
void add_explain(CLI::App& app, const Context& context);
void add_report(CLI::App& app, const Context& context);
void add_diff(CLI::App& app, const Context& context);
void add_generate(CLI::App& app, const Context& context);
void add_bench(CLI::App& app, const Context& context);
void add_names(CLI::App& app, const Context& context);
void add_train(CLI::App& app, const Context& context);
void add_bisect(CLI::App& app, const Context& context);
void add_recorder(CLI::App& app, const Context& context);
void add_open(CLI::App& app, const Context& context);
void add_lessons(CLI::App& app, const Context& context);

// A command that runs a model: its name first, then what is run.
[[nodiscard]] inline CLI::App& add_running(CLI::App& app, const Context& context, const std::string& name,
                                           const std::string& does) {
    CLI::App& command = *app.add_subcommand(name, does);
    command.add_option("MODEL", context.run.model, kModelHelp)->required();
    add_run_options(command, context.run);
    return command;
}

}  // namespace decoderscope::cli

#pragma once

#include "app/core/files/saved_session.h"
#include "app/core/report/talk_page.h"
#include "app/core/run/bounds.h"
#include "app/core/run/scenario.h"
#include "engine/base/bounds.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/chat/conversation.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What the commands share: the options that say what to run, and the resulting run.
namespace decoderscope::cli {

// What is read as a trace, as the commands' help says it.
inline constexpr const char* kTraces =
    "the recorder's file or manifest, any safetensors or .npz of tensors, the JSON of Hugging Face's model debugger, "
    "of Polygraphy or of msProbe";

// The options that say what to run.
struct RunOptions {
    std::string model, inputs, edits;
    std::optional<std::string> text, source;  // may be empty: the beginning token alone
    std::optional<std::string> tokens, encoder_tokens;
    std::string messages;               // a file of conversations
    std::string chat_template;          // a ready one by name, one of the model's, or a file; empty: the model's
    std::string train_on;               // one of chat::kTrained; empty: the answers
    chat::Conversation chat;            // the rest of what is said about it
    std::vector<std::string> settings;  // KEY=VALUE
    std::vector<std::string> rows;      // NAME = FORMULA
    std::string other;                  // a trace that rows may read
    std::string lens;                   // a fitted lens's file
    std::string map;                    // a file that says what each tensor is
    std::vector<Index> passes;          // how many positions each pass over the text computes
    std::optional<std::size_t> pass;    // the one that is run; nothing: the whole text in one
    std::optional<std::uint64_t> dropout_seed;
    std::string mutation;           // a mistake to compute with; empty: none
    std::string record = "fit";     // how much is kept: fit, all, patterns
    std::uint64_t memory = 0;       // bytes that the process may take, weights included; 0: what the machine has
    std::ostream* notes = nullptr;  // where to report remarks about the model; nullptr: nowhere
};

inline constexpr const char* kModelHelp =
    "a bundled model's name, a folder with config.json and model.safetensors, a state_dict as .safetensors, or a "
    "session (.dscope) or a link to one with all its contents";

void add_run_options(CLI::App& command, RunOptions& options);
// Adds those options that say what the model is given.
void add_input_options(CLI::App& command, RunOptions& options);
// Adds only --set, for a command that runs nothing.
void add_set_option(CLI::App& command, RunOptions& options);
// What --set says, key by key.
[[nodiscard]] Overrides settings_of(const RunOptions& options);

// What the window opens on: the scenario and, for a session, everything else. Throws Error naming what can't be read or
// doesn't fit.
[[nodiscard]] core::files::SavedSession work_of(const RunOptions& options, LoadProgress& progress);
[[nodiscard]] core::files::SavedSession work_of(const RunOptions& options);
// The scenario to run. Throws the same.
[[nodiscard]] core::Scenario scenario_of(const RunOptions& options);

// Whether the command line says what the model is given, and the scenario with it.
[[nodiscard]] bool gives_inputs(const RunOptions& options);
void take_inputs(core::Scenario& scenario, const RunOptions& options);

// The plan of a scenario; the error for an edit that doesn't fit names its file.
[[nodiscard]] std::shared_ptr<const Plan> plan_naming_files(const core::Scenario& scenario, const RunOptions& options);

// The scenario's run, with these on-demand tensors.
[[nodiscard]] std::shared_ptr<const Run> run_of(const core::Scenario& scenario, const RunOptions& options,
                                                const std::vector<std::string>& asked = {});

// The commands, one file each. Each adds itself to the command line; when parsed, it only sets the work to be done.

// How a command that judges (bisect, compare, diff, check, lessons check, lessons write) ends. Work that fails is a
// refusal, as a wrong command line is; that of any other command ends with 1.
enum class Judged { right = 0, different = 1, refused = 2, in_part = 3 };

// What such a command found, if it isn't right, with the sentence for standard error. `in_part`: what was compared
// agrees, but not all was compared.
class Judgement : public Error {
public:
    Judgement(Judged judged, const Sentence& sentence) : Error(sentence), judged_(judged) {}
    [[nodiscard]] Judged judged() const { return judged_; }

private:
    Judged judged_;
};

// Of a command that has moved to the Python package: where to. Its options are the same there.
[[noreturn]] void tell_moved(const std::string& command, const std::string& instead);

// What a command works with. All of it lasts as long as the command line does.
struct Context {
    RunOptions& run;
    std::function<void()>& work;  // to be done once the whole command line is parsed
    int& failed;                  // the status if that fails
    std::ostream& out;
    std::function<void(const std::string& path)> open_trace;  // in the window
    core::report::PictureOf picture_of;                       // what the window would show of a talk's state
    std::vector<std::string_view> tabs;                       // the ids of the window's tabs
};

void add_models(CLI::App& app, const Context& context);
void add_trace(CLI::App& app, const Context& context);
void add_export(CLI::App& app, const Context& context);
void add_explain(CLI::App& app, const Context& context);
void add_formulas(CLI::App& app, const Context& context);
void add_report(CLI::App& app, const Context& context);
void add_talk(CLI::App& app, const Context& context);
void add_diff(CLI::App& app, const Context& context);
void add_generate(CLI::App& app, const Context& context);
void add_bench(CLI::App& app, const Context& context);
void add_names(CLI::App& app, const Context& context);
void add_train(CLI::App& app, const Context& context);
void add_bisect(CLI::App& app, const Context& context);
void add_check(CLI::App& app, const Context& context);
void add_compare(CLI::App& app, const Context& context);
void add_recorder(CLI::App& app, const Context& context);
void add_open(CLI::App& app, const Context& context);
void add_lessons(CLI::App& app, const Context& context);
void add_sweep(CLI::App& app, const Context& context);
void add_cost(CLI::App& app, const Context& context);
void add_mask(CLI::App& app, const Context& context);
void add_chat(CLI::App& app, const Context& context);

// Makes a command one that judges, and has its help say how it ends.
void judge(CLI::App& command, const Context& context);

// Takes a number within its bounds and no other text: `option->transform(within(bounds))`. It is read here, because the
// library takes −1 for 2^64 − 1 and 010 for 8.
template <class T>
[[nodiscard]] CLI::Validator within(const Bounds<T>& bounds) {
    return {[bounds](std::string& text) {
                const std::optional<T> number = number_within(text, bounds);
                if (number) text = shortest(*number);
                return number ? std::string()
                              : found_text(text).english() + ", expected " + expected_of(bounds).english();
            },
            bounds.is_endless() ? "" : shortest(bounds.least) + ".." + shortest(bounds.most)};
}

namespace bounds = core::bounds;

// A command that runs a model: its name first, then what is run.
[[nodiscard]] inline CLI::App& add_running(CLI::App& app, const Context& context, const std::string& name,
                                           const std::string& does) {
    CLI::App& command = *app.add_subcommand(name, does);
    command.add_option("MODEL", context.run.model, kModelHelp)->required();
    add_run_options(command, context.run);
    return command;
}

}  // namespace decoderscope::cli

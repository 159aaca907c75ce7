#pragma once

#include "app/core/session/scenario.h"
#include "app/core/work/saved_work.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// What the commands share: the options that say what to run, and the resulting run.
namespace decoderscope::cli {

// The options that say what to run.
struct RunOptions {
    std::string model, inputs, edits, tokens, encoder_tokens;
    std::optional<std::string> text, source;  // may be empty: the beginning token alone
    std::vector<std::string> settings;        // KEY=VALUE
    std::string map;                          // a file that says what each tensor is
    std::optional<std::uint64_t> dropout_seed;
    std::string mutation;           // a mistake to compute with; empty: none
    std::string record = "all";     // how much is kept: all, patterns
    std::ostream* notes = nullptr;  // where to report remarks about the model; nullptr: nowhere
};

inline constexpr const char* kModelHelp =
    "a bundled model's name, a folder with config.json and model.safetensors, a state_dict as .safetensors, or a "
    "session (.dscope) or a link to one with all its contents";

void add_run_options(CLI::App& command, RunOptions& options);
// --set alone, for a command that runs nothing.
void add_set_option(CLI::App& command, RunOptions& options);
// What --set says, key by key.
[[nodiscard]] Overrides settings_of(const RunOptions& options);

// What the window opens on: the scenario and, for a session, everything else. Throws Error naming what can't be read or
// doesn't fit.
[[nodiscard]] SavedWork work_of(const RunOptions& options);
// The scenario to run. Throws the same.
[[nodiscard]] Scenario scenario_of(const RunOptions& options);

// The plan of a scenario; the error for an edit that doesn't fit names its file.
[[nodiscard]] std::shared_ptr<const Plan> plan_naming_files(const Scenario& scenario, const RunOptions& options);

// Its run, with these on-demand tensors.
[[nodiscard]] std::shared_ptr<const Run> run_of(const Scenario& scenario, const RunOptions& options,
                                                const std::vector<std::string>& asked = {});

}  // namespace decoderscope::cli

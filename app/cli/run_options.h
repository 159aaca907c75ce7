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

// What the commands share: the options that say what is run, and the run that comes of them.
namespace decoderscope::cli {

// The options that say what is run.
struct RunOptions {
    std::string model, inputs, edits, tokens, encoder_tokens;
    std::optional<std::string> text, source;  // may be empty: the beginning token alone
    std::vector<std::string> settings;        // KEY=VALUE
    std::optional<std::uint64_t> dropout_seed;
    std::string record = "all";     // how much: all, patterns
    std::ostream* notes = nullptr;  // where to say what was noticed in the model; nullptr: nowhere
};

inline constexpr const char* kModelHelp =
    "a bundled model's name, a folder with config.json and model.safetensors, a state_dict as .safetensors, or a "
    "session (.dscope) with all its contents";

void add_run_options(CLI::App& command, RunOptions& options);

// What the window opens on: the scenario and, of a session, all else. Throws Error naming what can't be read or doesn't
// fit.
[[nodiscard]] SavedWork work_of(const RunOptions& options);
// What is run. Throws the same.
[[nodiscard]] Scenario scenario_of(const RunOptions& options);

// The plan of a scenario; an edit that doesn't fit is told with its file.
[[nodiscard]] std::shared_ptr<const Plan> plan_naming_files(const Scenario& scenario, const RunOptions& options);

// The run of it, with these tensors that are only made when asked for.
[[nodiscard]] std::shared_ptr<const Run> run_of(const Scenario& scenario, const RunOptions& options,
                                                const std::vector<std::string>& asked = {});

}  // namespace decoderscope::cli

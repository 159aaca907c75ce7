#pragma once

#include "app/core/work/saved_work.h"

#include <iosfwd>
#include <optional>
#include <span>
#include <string>

namespace decoderscope {

// What the command line asks for beside its own commands: the window.
struct WindowRequest {
    SavedWork work;
    std::string tour;  // a folder to draw the tour into instead of opening a window; empty: open it
};

// What a command line came to.
struct CliResult {
    std::optional<WindowRequest> window;  // what is left to do: to open it
    int status = 0;                       // 0 done, 1 the work failed, 2 the command line was wrong
};

// Runs a command, or reads what the window is to open with; --help lists them. `arguments` are those behind the
// program's name. Writes answers to `out` and one line about what failed to `err`.
[[nodiscard]] CliResult run_cli(std::span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace decoderscope

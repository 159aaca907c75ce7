#pragma once

#include "app/core/files/saved_session.h"
#include "app/core/session/log.h"
#include "engine/base/message.h"
#include "engine/files/mapped_file.h"

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace decoderscope::core::lessons {
struct Lesson;
}

namespace decoderscope::app {

// What the command line can ask for besides its own commands: the window.
struct WindowRequest {
    core::files::SavedSession work;
    std::string tour;  // a folder to draw the tour into instead of opening a window; empty: open it
    std::shared_ptr<const core::lessons::Lesson> lesson;  // to open; nullptr: none
    bool embed = false;                                   // the stage alone, for a page that embeds it
    bool is_named = false;  // a model, a session or a link was named: the window shows all that it has
    std::shared_ptr<core::Log> log = nullptr;  // of what is done; nullptr: none
    Sentence said = {};  // why it opens on something other than what was asked for; empty: it doesn't
};

// The result of a command line.
struct CliResult {
    std::optional<WindowRequest> window;  // if set, still to be opened
    int status = 0;  // 0 done, 1 the work failed, 2 the command line was wrong; of a command that judges cli::Judged
    int failed = 1;  // the status if its output turns out not to be written
    std::shared_ptr<core::Log> log = nullptr;  // the window's, too; nullptr: none
};

// Reads what the window should open. Throws Error naming what can't be read.
using Read = std::function<core::files::SavedSession(LoadProgress&)>;
// Has the model of this name read, or the session, and may show meanwhile how far that is. Throws what it throws, or
// LoadStopped if the person no longer wants it.
using Reader = std::function<core::files::SavedSession(const std::string& name, const Read& read)>;

// Runs a command, or reads what the window should open; --help lists them. `arguments` exclude the program's name.
// Writes output to `out` and one line about a failure to `err`. Without a reader all is read before it returns.
[[nodiscard]] CliResult run_cli(std::span<const std::string> arguments, std::ostream& out, std::ostream& err,
                                const Reader& reader = {});

// What main() does: runs its arguments' command, or shows what the window should open, by `show`, which returns the
// exit status. Output goes to standard output. If anything throws, or standard output or the log couldn't be written,
// writes one line about that to standard error and returns 1, or 2 for a command that judges.
[[nodiscard]] int run_program(int count, char** values, const Reader& reader,
                              const std::function<int(const WindowRequest&)>& show);

}  // namespace decoderscope::app

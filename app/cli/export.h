#pragma once

#include <csignal>
#include <cstddef>
#include <iosfwd>
#include <string>

namespace decoderscope::cli {

// Shows the progress of long work as a line in a terminal, removed at the end; writes nothing if there is no terminal.
// While it lives, Ctrl+C stops the work between two parts instead of killing the program in the middle of one.
class Progress {
public:
    Progress(std::string what, std::size_t parts);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // Begins a part. Throws ExportStopped if Ctrl+C was pressed.
    void advance();

private:
    std::string what_;
    std::size_t done_ = 0, parts_;
    bool shown_;
    void (*handler_before_)(int);
};

}  // namespace decoderscope::cli

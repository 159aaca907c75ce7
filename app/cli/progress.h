#pragma once

#include <csignal>
#include <cstddef>
#include <iosfwd>
#include <string>

namespace decoderscope::cli {

// How far a long work is, in a line that a terminal shows and that is gone at the end; elsewhere nothing is written.
// While it lives, Ctrl+C ends the work between two parts of it rather than the program in the middle of one.
class Progress {
public:
    Progress(std::string what, std::size_t parts);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // A part begins. Throws ExportStopped where Ctrl+C was pressed.
    void advance();

private:
    std::string what_;
    std::size_t done_ = 0, parts_;
    bool shown_;
    void (*handler_before_)(int);
};

}  // namespace decoderscope::cli

#pragma once

#include "engine/base/message.h"

#include <chrono>
#include <fstream>
#include <mutex>
#include <string>
#include <string_view>

namespace decoderscope::core {

// A log that a person can attach to a report: what the program ran on, what was opened, which commands followed, how
// long each run took, and what was said of failures. Of models it has names, paths and sizes, but no number; of what
// was typed, nothing that isn't in an error. A line each, with the seconds since it began.
class Log {
public:
    // Begins with the program's version, the system and the machine. Throws Error if the file can't be written.
    explicit Log(const std::string& path);

    void write(std::string_view line);
    // Why a line of it couldn't be written, as on a full disk; empty if all were.
    [[nodiscard]] Sentence failure() const;

private:
    std::string path_;
    mutable std::mutex mutex_;
    std::ofstream file_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace decoderscope::core

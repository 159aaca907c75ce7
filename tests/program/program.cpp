#include "tests/program/program.h"

#include "tests/sanitized.h"

#include <sys/wait.h>

#include <cstdio>
#include <memory>
#include <stdexcept>

namespace decoderscope::testing {

namespace {

std::string quoted(const std::string& word) {
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

}  // namespace

Ended run_program(const std::vector<std::string>& arguments, const std::string& output) {
    // A program that doesn't end, or takes all memory, is ended by the system. exec: the signal that ends the program
    // is not the shell's to report.
    const std::string limits = kSanitized ? "" : "ulimit -t 60 && ulimit -d 4000000 && ";
    std::string line = limits + "exec " + quoted(DECODERSCOPE_PROGRAM);
    for (const std::string& argument : arguments) line += " " + quoted(argument);
    line += " 2>&1 >" + output + " </dev/null";
    std::FILE* pipe = ::popen(line.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("cannot start " + line);
    Ended ended;
    char bytes[4096];
    while (const std::size_t count = std::fread(bytes, 1, sizeof bytes, pipe)) ended.err.append(bytes, count);
    const int how = ::pclose(pipe);
    ended.killed = WIFSIGNALED(how);
    ended.status = ended.killed ? WTERMSIG(how) : WEXITSTATUS(how);
    return ended;
}

}  // namespace decoderscope::testing

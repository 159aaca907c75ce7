#pragma once

#include <string>
#include <vector>

// The built program, as a person's shell starts it: what a linker or an optimiser makes of an error is seen only there.
namespace decoderscope::testing {

struct Ended {
    int status = 0;       // what it handed back to the shell
    bool killed = false;  // by a signal, such as that of a segmentation fault, whose number is the status
    std::string err;      // its standard error
};

// Runs DECODERSCOPE_PROGRAM with these arguments and without an input, and waits for its end. Its output goes to this
// file; "&-": it is closed.
[[nodiscard]] Ended run_program(const std::vector<std::string>& arguments, const std::string& output = "/dev/null");

}  // namespace decoderscope::testing

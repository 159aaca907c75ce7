#pragma once

#include "app/cli.h"

#include <sstream>
#include <string>
#include <vector>

namespace decoderscope::testing {

using namespace decoderscope::app;

// What a run of the command line leaves behind.
struct Outcome {
    int status = 0;
    bool window = false;
    std::string out, err;
};

inline Outcome run(const std::vector<std::string>& arguments) {
    std::ostringstream out, err;
    const CliResult result = run_cli(arguments, out, err);
    return {result.status, result.window.has_value(), out.str(), err.str()};
}

// One line on standard error and nothing else.
inline bool is_one_line(const std::string& text) { return !text.empty() && text.find('\n') == text.size() - 1; }

}  // namespace decoderscope::testing

// The command line under node. There is no window.

#include "app/cli.h"

#include <iostream>
#include <string>
#include <vector>

int main(int count, char** values) {
    const auto program = [&] {
        const std::vector<std::string> arguments(values + 1, values + count);
        const decoderscope::CliResult result = decoderscope::run_cli(arguments, std::cout, std::cerr);
        if (!result.window) return result.status;
        std::cerr << "decoderscope: under node there is no window; decoderscope --help lists what needs none\n";
        return 1;
    };
    return decoderscope::exit_status(program, std::cerr);
}

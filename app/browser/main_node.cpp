// The command line under node. There is no window.

#include "app/cli.h"
#include "engine/error.h"

#include <exception>
#include <iostream>
#include <string>
#include <vector>

int main(int count, char** values) {
    try {
        const std::vector<std::string> arguments(values + 1, values + count);
        const decoderscope::CliResult result = decoderscope::run_cli(arguments, std::cout, std::cerr);
        if (!result.window) return result.status;
        std::cerr << "decoderscope: under node there is no window; decoderscope --help lists what needs none\n";
    } catch (const decoderscope::Error& error) {
        std::cerr << "decoderscope: " << error.what() << '\n';
    } catch (const std::exception& error) {
        std::cerr << "decoderscope: internal error: " << error.what() << '\n';
    }
    return 1;
}

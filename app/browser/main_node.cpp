// The command line under node. There is no window.

#include "app/cli.h"

#include <iostream>

int main(int count, char** values) {
    return decoderscope::app::run_program(count, values, {}, [](const decoderscope::app::WindowRequest&) {
        std::cerr << "decoderscope: under node there is no window; decoderscope --help lists what needs none\n";
        return 1;
    });
}

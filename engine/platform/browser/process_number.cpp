// A browser has no processes: the page's script gives each tab a number (app/window/browser/page.js). Under node there
// is one.
#include "engine/platform/process.h"

#include <emscripten/em_js.h>

// clang-format off
EM_JS(int, number_of_tab, (), { return Module.number ?? process.pid; });
// clang-format on

namespace decoderscope::platform {

long process_number() { return number_of_tab(); }

std::unique_ptr<Program> Program::started(const std::vector<std::string>&) { return nullptr; }

}  // namespace decoderscope::platform

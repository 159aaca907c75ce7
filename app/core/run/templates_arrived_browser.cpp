// A page's program comes in two parts (scripts/browser.sh).
#include "app/core/run/conversations.h"

#include <emscripten.h>

EM_JS(int, page_awaits_second_part, (), { return Module.awaitsSecondPart ? 1 : 0; });

namespace decoderscope::core {

bool runs_templates() { return page_awaits_second_part() == 0; }

}  // namespace decoderscope::core

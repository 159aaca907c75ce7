#include "app/file_picker.h"

#include <emscripten/em_js.h>

// clang-format off
EM_JS(void, page_pick, (), { Module.page.pick(); });
// clang-format on

namespace decoderscope {

void pick_files() { page_pick(); }

}  // namespace decoderscope

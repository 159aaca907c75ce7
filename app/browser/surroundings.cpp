#include "app/surroundings.h"

#include <emscripten/em_js.h>

// clang-format off
EM_JS(int, page_prefers, (const char* what), { return matchMedia(UTF8ToString(what)).matches ? 1 : 0; });
// clang-format on

namespace decoderscope {

Surroundings surroundings() {
    return {.dark = page_prefers("(prefers-color-scheme: dark)") != 0,
            .reduced_motion = page_prefers("(prefers-reduced-motion: reduce)") != 0,
            .picks_files = true,
            .shows_folders = false};
}

}  // namespace decoderscope

// A page can show no folder: what is in it is downloaded instead.
#include "app/folder.h"

#include <emscripten/em_js.h>

// clang-format off
EM_JS(void, page_download, (const char* path), { Module.page.download(UTF8ToString(path)); });
// clang-format on

namespace decoderscope {

Sentence open_folder(const std::string& folder) {
    page_download(folder.c_str());
    return {};
}

}  // namespace decoderscope

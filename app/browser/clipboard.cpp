// A picture on a page's clipboard.
#include "app/clipboard.h"

#include <emscripten/em_js.h>

#include <cstdint>

// clang-format off
EM_JS(int, page_copy_png, (const uint8_t* bytes, int count), {
    if (typeof ClipboardItem === 'undefined' || !navigator.clipboard || !navigator.clipboard.write) return 0;
    const picture = new Blob([HEAPU8.slice(bytes, bytes + count)], {type: 'image/png'});
    navigator.clipboard.write([new ClipboardItem({'image/png': picture})]).catch(() => {});
    return 1;
});
// clang-format on

namespace decoderscope {

CopyResult copy_png(const std::string& png) {
    if (page_copy_png(reinterpret_cast<const std::uint8_t*>(png.data()), static_cast<int>(png.size())) != 0)
        return {message("Copied as a picture."), false};
    return {message("The picture was not copied: this browser keeps no pictures on its clipboard. Export it as a PNG."),
            true};
}

}  // namespace decoderscope

// The large font with Chinese, Japanese and Korean is loaded when the first such character is to be drawn.
#include "app/more_fonts.h"

#include "engine/index.h"

#include <emscripten/em_js.h>

#include <algorithm>

// clang-format off
EM_JS(double, page_bring_wide_font, (), { return Module.page.bringWideFont(); });
// clang-format on

namespace decoderscope {

namespace {

constexpr char32_t kFirstWide = 0x2E80;  // the first block of Chinese, Japanese and Korean

}  // namespace

Sentence fetch_fonts(std::span<const char32_t> missing) {
    if (std::ranges::none_of(missing, [](char32_t code) { return code >= kFirstWide; })) return {};
    const double megabytes = page_bring_wide_font();
    if (megabytes <= 0) return {};  // it is there, and lacks them; or this site has none
    return message("Loading the font of Chinese, Japanese and Korean: {size} MB …",
                   {{"size", static_cast<Index>(megabytes + 0.5)}});
}

}  // namespace decoderscope

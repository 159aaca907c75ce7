#include "app/core/text/characters.h"
#include "app/platform.h"
#include "engine/base/index.h"

#include <emscripten/em_js.h>
#include <emscripten/em_macros.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>

// A picture on a page's clipboard.

// clang-format off
EM_JS(int, page_copy_png, (const uint8_t* bytes, int count), {
    if (typeof ClipboardItem === 'undefined' || !navigator.clipboard || !navigator.clipboard.write) return 0;
    const picture = new Blob([HEAPU8.slice(bytes, bytes + count)], {type: 'image/png'});
    navigator.clipboard.write([new ClipboardItem({'image/png': picture})]).catch(() => {});
    return 1;
});
// clang-format on

namespace decoderscope::app {

std::vector<std::string> begin_program(int count, char** values) { return {values + 1, values + count}; }

bool nobody_reads_output() { return false; }

int end_program(int status) { return status; }

CopyResult copy_png(const std::string& png) {
    if (page_copy_png(reinterpret_cast<const std::uint8_t*>(png.data()), static_cast<int>(png.size())) != 0)
        return {message("Copied as a picture."), false};
    return {
        message("The picture was not copied: this browser can't put pictures on the clipboard. Export it as a PNG."),
        true};
}

}  // namespace decoderscope::app

// clang-format off
EM_JS(void, page_pick, (), { Module.page.pick(); });
// clang-format on

namespace decoderscope::app {

void pick_files() { page_pick(); }

std::string folder_for_files() { return "/downloads"; }  // as in page.js

Sentence open_folder(const std::string& folder) {
    return message("{folder}: a browser can't show folders; files that are written are downloaded",
                   {{"folder", folder}});
}

}  // namespace decoderscope::app

// clang-format off
EM_JS(int, page_speak, (const char* text, const char* language), {
    if (typeof speechSynthesis === 'undefined') return 0;
    const said = new SpeechSynthesisUtterance(UTF8ToString(text));
    said.lang = UTF8ToString(language).replace('_', '-');
    speechSynthesis.cancel();
    speechSynthesis.speak(said);
    return 1;
});
// clang-format on

namespace decoderscope::app {

Sentence speak(const std::string& text, const std::string& language) {
    if (page_speak(text.c_str(), language.c_str()) != 0) return {};
    return message("Not spoken: this browser has no voice.");
}

}  // namespace decoderscope::app

// A page's links lead to itself.

// clang-format off
EM_JS_DEPS(decoderscope_link_base, "$stringToNewUTF8");
EM_JS(char*, page_address, (), { return stringToNewUTF8(location.origin + location.pathname); });
// clang-format on

namespace decoderscope::app {

core::files::LinkBase link_base(const core::files::Settings&) {
    static const std::string address = [] {
        const std::unique_ptr<char, decltype(&std::free)> text(page_address(), std::free);
        return std::string(text.get());
    }();
    return {address, false};
}

}  // namespace decoderscope::app

// The fonts of the first picture have few characters, and others are on their way. The large ones, with Chinese,
// Japanese and Korean, and with emoji, are loaded when the first such character is to be drawn.

// clang-format off
EM_JS(double, page_bring_font, (const char* file), { return Module.page.bringFont(UTF8ToString(file)); });
EM_JS(int, page_awaits_fonts, (), { return Module.page.awaitsFonts() ? 1 : 0; });
// clang-format on

namespace decoderscope::app {

std::optional<Sentence> fetch_fonts(std::span<const char32_t> missing) {
    // 0: it isn't asked for; or it is there, and lacks them; or this site has none.
    const auto megabytes = [&](bool (*is_of)(char32_t), const char* file) {
        return std::ranges::any_of(missing, is_of) ? static_cast<Index>(page_bring_font(file) + 0.5) : 0;
    };
    const Index wide = megabytes(core::is_east_asian, "NotoSansCJK"), emoji = megabytes(core::is_emoji, "Symbola_hint");
    if (wide > 0) return message("Loading the font for Chinese, Japanese and Korean: {size} MB …", {{"size", wide}});
    if (emoji > 0) return message("Loading the font for emoji: {size} MB …", {{"size", emoji}});
    if (page_awaits_fonts() != 0) return Sentence();
    return std::nullopt;
}

}  // namespace decoderscope::app

// clang-format off
EM_JS(int, page_prefers, (const char* what), { return matchMedia(UTF8ToString(what)).matches ? 1 : 0; });
// clang-format on

namespace decoderscope::app {

core::files::PlatformInfo surroundings() {
    return {.dark = page_prefers("(prefers-color-scheme: dark)") != 0,
            .reduced_motion = page_prefers("(prefers-reduced-motion: reduce)") != 0,
            .picks_files = true,
            .shows_folders = false};
}

}  // namespace decoderscope::app

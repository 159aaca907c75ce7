// Unicode's tables as the browser has them.
#include "engine/base/error.h"
#include "engine/tokenizer/unicode.h"

#include <emscripten/em_js.h>

// clang-format off
// By CharacterClass. Without a backslash, of which it depends on the compiler's version how many arrive.
EM_JS(int, browser_is_of, (int code, int wanted), {
    const of = name => String.fromCharCode(92) + 'p{' + name + '}';
    const word = '[' + of('L') + of('M') + of('Nd') + of('Nl') + of('Pc') + ']';
    return new RegExp([of('N'), of('P'), word][wanted], 'u').test(String.fromCodePoint(code));
});

// How many bytes the text has in that form; browser_normalized() writes them.
EM_JS(int, browser_normalize, (const char* text, int bytes, int composed, int compatible), {
    const form = 'NF' + (compatible ? 'K' : "") + (composed ? 'C' : 'D');
    const given = new TextDecoder().decode(HEAPU8.slice(text, text + bytes));
    Module.normalized = new TextEncoder().encode(given.normalize(form));
    return Module.normalized.length;
});
EM_JS(void, browser_normalized, (char* to), { HEAPU8.set(Module.normalized, to); });
// clang-format on

namespace decoderscope::tokenizer {

bool is_of(char32_t code, CharacterClass wanted) {
    return code <= 0x10FFFF && browser_is_of(static_cast<int>(code), static_cast<int>(wanted)) != 0;
}

std::string normalized(const std::string& text, bool composed, bool compatible) {
    if (!is_utf8(text)) throw Error("the text can't be normalised: expected UTF-8");
    const int bytes = browser_normalize(text.data(), static_cast<int>(text.size()), composed, compatible);
    std::string written(static_cast<std::size_t>(bytes), '\0');
    browser_normalized(written.data());
    return written;
}

}  // namespace decoderscope::tokenizer

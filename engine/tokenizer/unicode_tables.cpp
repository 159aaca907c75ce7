// Unicode's tables as utf8proc has them.
#include "engine/base/error.h"
#include "engine/tokenizer/unicode.h"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>

namespace decoderscope::tokenizer {

namespace {

struct FreeText {
    void operator()(utf8proc_uint8_t* text) const { std::free(text); }  // utf8proc allocates with malloc
};

bool is_between(utf8proc_category_t category, utf8proc_category_t first, utf8proc_category_t last) {
    return category >= first && category <= last;
}

}  // namespace

bool is_of(char32_t code, CharacterClass wanted) {
    const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
    switch (wanted) {
        case CharacterClass::numeric:
            return is_between(category, UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO);
        case CharacterClass::punctuation:
            return is_between(category, UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO);
        case CharacterClass::word:
            return is_between(category, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_NL) || category == UTF8PROC_CATEGORY_PC;
    }
    return false;
}

std::string normalized(const std::string& text, bool composed, bool compatible) {
    const auto options = static_cast<utf8proc_option_t>(
        UTF8PROC_STABLE | (composed ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) | (compatible ? UTF8PROC_COMPAT : 0));
    utf8proc_uint8_t* written = nullptr;
    const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                               static_cast<utf8proc_ssize_t>(text.size()), &written, options);
    const std::unique_ptr<utf8proc_uint8_t, FreeText> owned(written);
    if (size < 0) throw Error("the text can't be normalised: {reason}", {{"reason", utf8proc_errmsg(size)}});
    return {reinterpret_cast<const char*>(written), static_cast<std::size_t>(size)};
}

}  // namespace decoderscope::tokenizer

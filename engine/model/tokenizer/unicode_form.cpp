#include "engine/model/tokenizer/unicode_form.h"

#include "engine/error.h"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>

namespace decoderscope {

namespace {

struct FreeText {
    void operator()(utf8proc_uint8_t* text) const { std::free(text); }  // utf8proc allocates with malloc
};

}  // namespace

std::optional<UnicodeForm> UnicodeForm::named(std::string_view name) {
    if (name == "NFC") return UnicodeForm{true, false};
    if (name == "NFD") return UnicodeForm{false, false};
    if (name == "NFKC") return UnicodeForm{true, true};
    if (name == "NFKD") return UnicodeForm{false, true};
    return std::nullopt;
}

void UnicodeForm::operator()(Stretch& stretch) const {
    const auto options = static_cast<utf8proc_option_t>(
        UTF8PROC_STABLE | (composed ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) | (compatible ? UTF8PROC_COMPAT : 0));
    utf8proc_uint8_t* written = nullptr;
    const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(stretch.text.data()),
                                               static_cast<utf8proc_ssize_t>(stretch.text.size()), &written, options);
    const std::unique_ptr<utf8proc_uint8_t, FreeText> owned(written);
    if (size < 0) throw Error("the text can't be normalized: {reason}", {{"reason", utf8proc_errmsg(size)}});
    stretch.text.assign(reinterpret_cast<const char*>(written), static_cast<std::size_t>(size));
}

}  // namespace decoderscope

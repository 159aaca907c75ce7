#include "engine/tokenizer/unicode.h"

#include <utf8proc.h>

namespace decoderscope::tokenizer {

namespace {

const utf8proc_uint8_t* bytes_of(std::string_view text) {
    return reinterpret_cast<const utf8proc_uint8_t*>(text.data());
}

}  // namespace

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        utf8proc_int32_t code = 0;
        const utf8proc_ssize_t bytes =
            utf8proc_iterate(bytes_of(text), static_cast<utf8proc_ssize_t>(text.size()), &code);
        if (bytes <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(bytes));
    }
    return true;
}

CodePoint first_code_point(std::string_view text) {
    utf8proc_int32_t code = 0;
    const utf8proc_ssize_t bytes = utf8proc_iterate(bytes_of(text), static_cast<utf8proc_ssize_t>(text.size()), &code);
    return {static_cast<char32_t>(code), bytes > 0 ? static_cast<std::size_t>(bytes) : 1};
}

std::size_t bytes_of_last(std::string_view text) {
    std::size_t bytes = 0;
    while (bytes < text.size() && (static_cast<unsigned char>(text[text.size() - ++bytes]) & 0xC0U) == 0x80U) {
    }
    return bytes;
}

bool is_white_space(char32_t code) {
    return (code >= 0x09 && code <= 0x0D) || code == 0x20 || code == 0x85 || code == 0xA0 || code == 0x1680 ||
           (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F ||
           code == 0x3000;
}

bool is_numeric(char32_t code) { return is_of(code, CharacterClass::numeric); }

bool is_punctuation(char32_t code) {
    const bool ascii = (code >= 0x21 && code <= 0x2F) || (code >= 0x3A && code <= 0x40) ||
                       (code >= 0x5B && code <= 0x60) || (code >= 0x7B && code <= 0x7E);
    return ascii || is_of(code, CharacterClass::punctuation);
}

bool is_word_character(char32_t code) {
    const bool circled = (code >= 0x24B6 && code <= 0x24E9) || (code >= 0x1F130 && code <= 0x1F149) ||
                         (code >= 0x1F150 && code <= 0x1F169) || (code >= 0x1F170 && code <= 0x1F189);
    const bool joiner = code == 0x200C || code == 0x200D;
    return circled || joiner || is_of(code, CharacterClass::word);
}

}  // namespace decoderscope::tokenizer

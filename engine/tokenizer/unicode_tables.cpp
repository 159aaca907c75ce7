// Unicode's tables as utf8proc has them.
#include "engine/base/error.h"
#include "engine/tokenizer/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace decoderscope::tokenizer {

namespace {

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

// In utf8proc's own order of steps, but for one: it moves each mark to its place one step at a time, which takes the
// square of their number.
std::string normalized(const std::string& text, bool composed, bool compatible) {
    const auto options = static_cast<utf8proc_option_t>(
        UTF8PROC_STABLE | (composed ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) | (compatible ? UTF8PROC_COMPAT : 0));
    const auto checked = [](utf8proc_ssize_t size) {
        if (size < 0) throw Error("the text can't be normalised: {reason}", {{"reason", utf8proc_errmsg(size)}});
        return size;
    };
    std::vector<utf8proc_int32_t> codes;
    codes.reserve(text.size() + 1);
    for (std::string_view rest = text; !rest.empty();) {
        utf8proc_int32_t code = 0;
        rest.remove_prefix(
            static_cast<std::size_t>(checked(utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(rest.data()),
                                                              static_cast<utf8proc_ssize_t>(rest.size()), &code))));
        std::array<utf8proc_int32_t, 32> parts{};  // no character has more than 18
        const auto count = checked(utf8proc_decompose_char(code, parts.data(), parts.size(), options, nullptr));
        codes.insert(codes.end(), parts.begin(), parts.begin() + count);
    }
    const auto mark = [](utf8proc_int32_t code) { return utf8proc_get_property(code)->combining_class; };
    const auto is_mark = [&](utf8proc_int32_t code) { return mark(code) != 0; };
    for (auto at = codes.begin(); at != codes.end();) {
        const auto first = std::find_if(at, codes.end(), is_mark);
        at = std::find_if_not(first, codes.end(), is_mark);
        std::ranges::stable_sort(first, at, {}, mark);
    }
    const auto count = static_cast<utf8proc_ssize_t>(codes.size());
    codes.push_back(0);  // the room that is needed for the end
    const auto size = checked(utf8proc_reencode(codes.data(), count, options));
    return {reinterpret_cast<const char*>(codes.data()), static_cast<std::size_t>(size)};
}

}  // namespace decoderscope::tokenizer

#include "engine/model/tokenizer/gpt2_words.h"

#include "engine/error.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace decoderscope {

namespace {

struct Free {
    void operator()(pcre2_code* code) const { pcre2_code_free(code); }
    void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};
using Code = std::unique_ptr<pcre2_code, Free>;
using Match = std::unique_ptr<pcre2_match_data, Free>;

// PCRE2's own \s has U+0085 and U+180E and lacks U+FEFF.
std::string pattern() {
    const std::string space =
        R"(\t-\r\x{20}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF})";
    return R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^)" + space + R"(\p{L}\p{N}]+|[)" + space + R"(]+(?![^)" +
           space + R"(])|[)" + space + R"(]+)";
}

Code compile() {
    const std::string text = pattern();
    int error = 0;
    PCRE2_SIZE at = 0;
    Code code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), PCRE2_UTF | PCRE2_UCP, &error, &at,
                            nullptr));
    if (!code) throw std::logic_error("GPT-2's words: the pattern is wrong at " + std::to_string(at));
    return code;
}

}  // namespace

std::vector<std::string_view> gpt2_words(std::string_view text) {
    static const Code code = compile();
    const Match match(pcre2_match_data_create_from_pattern(code.get(), nullptr));
    if (!match) throw std::bad_alloc();
    std::vector<std::string_view> words;
    // The whole text is checked to be UTF-8 once, with its first word.
    std::uint32_t options = PCRE2_ANCHORED;
    for (std::size_t at = 0; at < text.size();) {
        const int found = pcre2_match(code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at, options,
                                      match.get(), nullptr);
        if (found < 0 && at == 0) throw Error("the text is no UTF-8");
        if (found < 0) throw Error("the text can't be cut into words from byte {at} on", {{"at", at}});
        const std::size_t end = pcre2_get_ovector_pointer(match.get())[1];
        words.push_back(text.substr(at, end - at));
        at = end;
        options |= PCRE2_NO_UTF_CHECK;
    }
    return words;
}

}  // namespace decoderscope

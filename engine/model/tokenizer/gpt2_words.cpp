#include "engine/model/tokenizer/gpt2_words.h"

#include "engine/error.h"
#include "engine/model/tokenizer/oniguruma.h"
#include "engine/model/tokenizer/unicode.h"

namespace decoderscope {

const RegularExpression& gpt2_pattern() {
    static const RegularExpression pattern(
        pcre2_pattern(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"));
    return pattern;
}

std::vector<std::string_view> gpt2_words(std::string_view text) {
    if (!is_utf8(text)) throw Error("the text is no UTF-8");
    std::vector<std::string_view> words;
    for (const Span& word : gpt2_pattern().matches(text))
        words.push_back(text.substr(word.begin, word.end - word.begin));
    return words;
}

}  // namespace decoderscope

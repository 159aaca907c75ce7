#include "engine/model/tokenizer/byte_level.h"

#include "engine/model/tokenizer/byte_alphabet.h"
#include "engine/model/tokenizer/gpt2_words.h"

#include <string_view>

namespace decoderscope {

namespace {

std::string written(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) text += written_byte(static_cast<unsigned char>(byte));
    return text;
}

}  // namespace

ByteLevel ByteLevel::read(JsonObject& json) {
    static_cast<void>(json.find("trim_offsets"));  // changes no id
    return {json.boolean("add_prefix_space", true), json.boolean("use_regex", true)};
}

Stretches ByteLevel::operator()(const Stretch& stretch) const {
    const std::string text = (prefix_space && !stretch.text.starts_with(' ') ? " " : "") + stretch.text;
    if (!gpt2_words) return {{written(text), stretch.begins_text}};
    Stretches words;
    for (const Span& word : gpt2_pattern().matches(text))
        words.push_back({written(std::string_view(text).substr(word.begin, word.end - word.begin)),
                         stretch.begins_text && word.begin == 0});
    return words;
}

}  // namespace decoderscope

#include "engine/model/tokenizer/split_by_class.h"

#include "engine/model/tokenizer/unicode.h"

namespace decoderscope {

namespace {

bool is_sign(char32_t code) { return !is_white_space(code) && !is_word_character(code); }

}  // namespace

Stretches SplitAtSpaces::operator()(const Stretch& stretch) const {
    return cut_at(stretch, characters_with(stretch.text, is_white_space), AtMatches::removed);
}

Stretches SplitWordsAndSigns::operator()(const Stretch& stretch) const {
    Stretches stretches;
    for (const Stretch& word : SplitAtSpaces()(stretch))
        for (Stretch& part : cut_at(word, characters_with(word.text, is_sign), AtMatches::contiguous))
            stretches.push_back(std::move(part));
    return stretches;
}

Stretches SplitNumbers::operator()(const Stretch& stretch) const {
    return cut_at(stretch, characters_with(stretch.text, is_numeric),
                  each_digit ? AtMatches::isolated : AtMatches::contiguous);
}

SplitPunctuation SplitPunctuation::read(JsonObject& json) {
    return {json.find("behavior") == nullptr ? AtMatches::isolated : read_at_matches(json, "behavior")};
}

Stretches SplitPunctuation::operator()(const Stretch& stretch) const {
    return cut_at(stretch, characters_with(stretch.text, is_punctuation), behaviour);
}

}  // namespace decoderscope

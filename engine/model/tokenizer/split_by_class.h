#pragma once

#include "engine/model/tokenizer/split.h"

namespace decoderscope {

// Steps that cut by what a character is.

// "WhitespaceSplit": what lies between white space.
struct SplitAtSpaces {
    [[nodiscard]] Stretches operator()(const Stretch& stretch) const;
};

// "Whitespace": words, and runs of signs; white space is left out.
struct SplitWordsAndSigns {
    [[nodiscard]] Stretches operator()(const Stretch& stretch) const;
};

// "Digits": numbers apart from the rest, whole or digit by digit.
struct SplitNumbers {
    bool each_digit = false;

    [[nodiscard]] static SplitNumbers read(JsonObject& json) { return {json.boolean("individual_digits", false)}; }
    [[nodiscard]] Stretches operator()(const Stretch& stretch) const;
};

// "Punctuation".
struct SplitPunctuation {
    AtMatches behaviour = AtMatches::isolated;

    [[nodiscard]] static SplitPunctuation read(JsonObject& json);
    [[nodiscard]] Stretches operator()(const Stretch& stretch) const;
};

}  // namespace decoderscope

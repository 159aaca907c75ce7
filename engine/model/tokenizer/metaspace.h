#pragma once

#include "engine/json_object.h"
#include "engine/model/tokenizer/stretch.h"

#include <string>

namespace decoderscope {

// SentencePiece's way to write spaces: each is a visible character, "▁", and one stands before a text.
struct Metaspace {
    enum class Prefix { always, first, never };  // before each stretch, before the first, before none

    std::string replacement;  // one character
    Prefix prefix = Prefix::always;
    bool split = true;  // before each replacement

    // The same object describes the pre-tokenizer and the decoder.
    [[nodiscard]] static Metaspace read(JsonObject& json);
    [[nodiscard]] Stretches operator()(const Stretch& stretch) const;
};

}  // namespace decoderscope

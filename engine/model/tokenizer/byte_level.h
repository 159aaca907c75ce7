#pragma once

#include "engine/json_object.h"
#include "engine/model/tokenizer/stretch.h"

namespace decoderscope {

// The step "ByteLevel": cuts a text into GPT-2's words, unless an earlier step has cut it, and writes their bytes in
// the byte alphabet, in which the vocabulary is written.
struct ByteLevel {
    bool prefix_space = false;
    bool gpt2_words = true;

    [[nodiscard]] static ByteLevel read(JsonObject& json);
    [[nodiscard]] Stretches operator()(const Stretch& stretch) const;
};

}  // namespace decoderscope

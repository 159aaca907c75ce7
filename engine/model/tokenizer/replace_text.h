#pragma once

#include "engine/model/tokenizer/stretch.h"
#include "engine/model/tokenizer/text_pattern.h"

#include <string>
#include <string_view>

namespace decoderscope {

// Writes the same text in place of everything that a pattern matches: "▁" for " ", or the other way round in a decoder.
struct ReplaceText {
    TextPattern pattern;
    std::string content;

    [[nodiscard]] static ReplaceText read(JsonObject& json);
    void operator()(Stretch& stretch) const;
    [[nodiscard]] std::string replaced(std::string_view text) const;
};

}  // namespace decoderscope

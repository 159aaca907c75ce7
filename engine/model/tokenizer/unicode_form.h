#pragma once

#include "engine/model/tokenizer/stretch.h"

#include <optional>
#include <string_view>

namespace decoderscope {

// Unicode's normalization forms NFC, NFD, NFKC and NFKD: one way to write each accented letter, and, with K, each
// ligature, width or superscript.
struct UnicodeForm {
    bool composed = true, compatible = false;

    // "NFC"; nothing if the name is none of the four.
    [[nodiscard]] static std::optional<UnicodeForm> named(std::string_view name);
    void operator()(Stretch& stretch) const;
};

}  // namespace decoderscope

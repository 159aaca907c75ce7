#pragma once

#include "engine/json_object.h"
#include "engine/model/tokenizer/stretch.h"

#include <string>

namespace decoderscope {

// Puts a text before each stretch: Llama 2's "▁".
struct PrependText {
    std::string text;

    [[nodiscard]] static PrependText read(JsonObject& json) { return {json.text("prepend")}; }
    void operator()(Stretch& stretch) const {
        if (!stretch.text.empty()) stretch.text.insert(0, text);
    }
};

}  // namespace decoderscope

#pragma once

#include "engine/json_object.h"
#include "engine/model/tokenizer/stretch.h"

namespace decoderscope {

// Removes white space at the ends of a stretch.
struct StripSpaces {
    bool left = false, right = false;

    [[nodiscard]] static StripSpaces read(JsonObject& json);
    void operator()(Stretch& stretch) const;
};

}  // namespace decoderscope

#pragma once

#include "app/core/picture/colormap.h"
#include "engine/plan.h"

#include <string_view>

namespace decoderscope {

// The colour of a meaning in map, timeline, stage and exports: the Okabe–Ito set, which can be read with red-green
// deficiency, with a neutral grey for the residual stream and a brown for the output.
[[nodiscard]] Rgba meaning_color(Meaning meaning);

// "query", "residual stream", …, for legends.
[[nodiscard]] std::string_view meaning_name(Meaning meaning);

}  // namespace decoderscope

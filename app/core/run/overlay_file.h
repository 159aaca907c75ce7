#pragma once

#include "app/core/run/overlay.h"
#include "engine/base/json_object.h"
#include "engine/graph/plan.h"

#include <string>
#include <string_view>

namespace decoderscope::core {

// Whether a path is that of a file with numbers to colour by: CSV, or JSON that is a list.
[[nodiscard]] bool is_overlay_path(const std::string& path);

// Reads a file of numbers for the steps of this plan. CSV has lines NAME, value, text, the text optional, and perhaps a
// first line that begins with "name". JSON is a list of {"name": …, "value": …, "text": …}. A NAME is a step, a cell
// ("blocks.0.attn.z[0, 1, 2, 3]") or a part of the map. Throws Error naming the file, the line and what was expected.
[[nodiscard]] Overlay read_overlay(const std::string& path, const Plan& plan);
// As above, for a file's text.
[[nodiscard]] Overlay parse_overlay(std::string_view text, const std::string& path, const Plan& plan);

// {"name": …, "value": …, "text": …}. Throws Error naming the key.
[[nodiscard]] OverlayValue read_overlay_value(JsonObject json);

}  // namespace decoderscope::core

#pragma once

#include "app/core/heatmap.h"

#include <string>
#include <string_view>

namespace decoderscope {

// Whether a path ends in one of the formats that a heatmap can be written in: .png .svg .csv .npy .json, in any case.
[[nodiscard]] bool is_export_path(std::string_view path);

// Writes one heatmap in the format of the path's ending. The file appears whole or not at all. Throws Error naming the
// path where its ending is none of the five or it cannot be written.
void export_heatmap(const Heatmap& heatmap, const std::string& path);

}  // namespace decoderscope

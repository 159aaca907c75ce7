#pragma once

#include "app/core/picture/heatmap.h"
#include "app/core/report/page.h"

namespace decoderscope {

// A heatmap's numbers as a table for readers who don't see the picture. Of a large one the first rows and columns, with
// a sentence that says what was left out.
[[nodiscard]] Page::Table table_of(const Heatmap& heatmap);

}  // namespace decoderscope

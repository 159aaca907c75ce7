#pragma once

#include "app/core/picture/heatmap.h"
#include "app/views/heads/heads_tab.h"
#include "app/views/widgets/widgets.h"

#include <optional>

namespace decoderscope {

// A pattern as lines from query tokens (left) to key tokens (right), as thick as their weights. While a token is lit,
// only its lines are drawn, with their numbers. Returns the token under the mouse; a click pins or unpins it.
std::optional<PatternToken> draw_bipartite(const Ui& ui, const Heatmap& pattern, std::optional<PatternToken> lit,
                                           std::optional<PatternToken>& pinned, Area area);

}  // namespace decoderscope

#pragma once

#include "app/core/heads/pattern_lines.h"
#include "app/core/picture/heatmap.h"
#include "app/views/heads/heads_tab.h"
#include "app/views/widgets/widgets.h"

#include <optional>

namespace decoderscope {

// A pattern as lines from query tokens (left) to key tokens (right), as thick as their weights: those that `lines`
// says. While a token is lit, all of its lines are drawn and no others, with their numbers. Returns the token under the
// mouse; a click pins or unpins it.
std::optional<PatternToken> draw_bipartite(const Ui& ui, const Heatmap& pattern, const PatternLines& lines,
                                           std::optional<PatternToken> lit, std::optional<PatternToken>& pinned,
                                           Area area);

}  // namespace decoderscope

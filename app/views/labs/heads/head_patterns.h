#pragma once

#include "app/core/figure/heatmap.h"
#include "app/core/labs/heads/head_scores.h"
#include "app/core/labs/heads/shown_heads.h"
#include "app/views/frame/view_state.h"
#include "app/views/labs/heads/lab.h"
#include "app/views/widgets/widgets.h"

#include <optional>

namespace decoderscope::views::heads {

// How the grid's cells are drawn.
struct CellStyle {
    bool named = false;   // "layer 3 head 5" over the picture: the heads are sorted
    core::Range weights;  // the range that the colours of all pictures span
    bool dense = false;   // little room: the bar lies behind the number, not under it
};

// The height of a cell's text, above and below its picture.
[[nodiscard]] float cell_text_height(const Ui& ui, CellStyle style);

// One head of the grid: its pattern, the measure as number and bar, and the dot that switches it. A click opens it.
void draw_head_cell(const Ui& ui, const core::Session& session, ViewState& state, const core::heads::HeadScore& score,
                    CellStyle style, Area box, Commands& commands);

// A pattern as lines from query tokens (left) to key tokens (right), as thick as their weights: those that `lines`
// says. While a token is lit, all of its lines are drawn and no others, with their numbers. Returns the token under the
// mouse; a click pins or unpins it.
std::optional<PatternToken> draw_bipartite(const Ui& ui, const core::Heatmap& pattern,
                                           const core::heads::PatternLines& lines, std::optional<PatternToken> lit,
                                           std::optional<PatternToken>& pinned, Area area);

}  // namespace decoderscope::views::heads

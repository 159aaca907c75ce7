#pragma once

#include "app/core/heads/head_scores.h"
#include "app/views/shell/view_state.h"

namespace decoderscope {

// How the grid's cells are drawn.
struct CellStyle {
    bool named = false;  // "layer 3 head 5" over the picture: the heads are sorted
    Range weights;       // the range that the colours of all pictures span
    bool dense = false;  // little room: the bar lies behind the number, not under it
};

// The height of a cell's text, above and below its picture.
[[nodiscard]] float cell_text_height(const Ui& ui, CellStyle style);

// One head of the grid: its pattern, the measure as number and bar, and the dot that switches it. A click opens it.
void draw_head_cell(const Ui& ui, const Session& session, ViewState& state, const HeadScore& score, CellStyle style,
                    Area box, Commands& commands);

}  // namespace decoderscope

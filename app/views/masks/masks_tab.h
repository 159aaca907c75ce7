#pragma once

#include "app/core/session/scenario.h"
#include "app/views/shell/view_state.h"
#include "app/views/widgets/heatmap_view.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace decoderscope {

// What the brush paints at once.
enum class MaskTool { cell, row, column };

// What the Masks tab remembers from frame to frame.
struct MasksTabState {
    MaskTool tool = MaskTool::cell;
    bool all_heads = false;
    Index band = 2;                   // keys that a local window spans, including the query's own
    std::optional<bool> brush_keeps;  // what the brush sets, from its first cell on
    Spot last_painted = {-1, -1};
    std::optional<CellRect> hovered;        // query and key under the mouse, as of the last frame
    std::optional<CellRect> hovered_next;   // the same, as this frame finds it
    std::optional<Index> chosen_position;   // for the leak test; nothing: the last one that is not padding
    Index chosen_batch = 0;                 // where it was chosen
    Index leak_position = 0;                // the one that is changed now
    std::optional<Variation> asked;         // requested from the session for the leak test
    std::uint64_t asked_for = 0;            // the number of the last request
    std::optional<Index> dragged;           // the batch row whose length handle is being dragged
    std::map<std::string, Viewport> views;  // by a picture's title
};

void draw_masks_tab(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);

}  // namespace decoderscope

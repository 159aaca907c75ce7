#pragma once

#include "app/core/session/session.h"
#include "app/core/tabs/step/tiles.h"
#include "app/views/frame/view_state.h"

#include <optional>
#include <string>
#include <utility>

namespace decoderscope::views {

// A step with its picture and the picture's place.
struct Card {
    const Step& step;
    Area area;
    bool is_result = false;  // a click explains a cell; on other cards a click goes to the cell's step
    std::optional<core::Place> place = std::nullopt;  // nothing: the cursor's
};

// What paints masks: while it is on, clicks do.
struct MaskBrush {
    bool on = false;
    bool keeps = false;  // what it sets, from its first cell on
    Spot last = {-1, -1};
};

// The cell under the mouse, and its tensor.
using Hovered = std::optional<std::pair<std::string, Cell>>;

// Draws a step's heatmap at the cursor's place, with tooltip, brush and selection, and turns gestures into commands.
// `lit` are the cells to outline. `hovered` is set if the mouse is on a cell.
void draw_card(const Ui& ui, const core::Session& session, ViewState& state, const Card& card,
               const std::optional<core::CellRect>& lit, Hovered& hovered, Commands& commands);

// The tooltip of a cell of a step's picture: its name and value, where it is, what hides it, what it was without edits,
// and what is noted there. `tile`: what was read of a picture without numbers.
void cell_tooltip(const Ui& ui, const core::Session& session, const Step& step, const core::step::ShownHeatmap& shown,
                  const core::Slice& slice, const HeatmapGesture& gesture,
                  const core::Value<core::step::ShownTile>& tile = {});

// Whether painting on this step's picture means painting a mask: queries against keys.
[[nodiscard]] bool shows_mask(const core::Session& session, const Step& step);

}  // namespace decoderscope::views

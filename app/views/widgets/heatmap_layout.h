#pragma once

#include "app/views/widgets/heatmap_view.h"
#include "app/views/widgets/row_layout.h"

#include <optional>

namespace decoderscope::views {

// Where the parts of a heatmap are on the screen.
struct HeatmapLayout {
    Area cells;               // the visible part of the cells
    ImVec2 cell;              // the size of one
    ImVec2 origin;            // where cell (0, 0) starts; outside `cells` once panned
    float least_zoom = 1.0F;  // at which all cells fit
    float column_labels_y = 0.0F;
    float leaning = 0.0F;                             // how far words reach up that lean above the columns; 0: they lie
    float column_numbers = 0.0F, row_numbers = 0.0F;  // what the positions take: above the labels, left of them
    float legend_y = 0.0F;
};

// Lays out a heatmap in an area; keeps the viewport on the matrix.
[[nodiscard]] HeatmapLayout lay_out(const Ui& ui, const HeatmapDrawing& drawing, Viewport& view, Area area);

// Where some cells are on the screen.
[[nodiscard]] Area box_of(const HeatmapLayout& layout, const core::CellRect& cells);
// The cells that are at least partly visible.
[[nodiscard]] core::CellRect seen_cells(const HeatmapLayout& layout, const core::Heatmap& heatmap);
// The cell at a point of the screen.
[[nodiscard]] std::optional<Spot> spot_at(const HeatmapLayout& layout, const core::Heatmap& heatmap, ImVec2 point);

// ---- sizes, before there is a place

// What labels take: as much as the widest, up to `most`.
[[nodiscard]] float label_width(const Ui& ui, const std::vector<std::string>& labels, float most);
// The least width and height of a cell that the mouse hits surely. Matrices of more rows or columns than this are
// pictures rather than tables: they may have smaller cells.
inline constexpr float kHittable = 16.0F, kHittableHeight = 14.0F;
// With narrower cells, or lower ones, a small matrix scrolls rather than shrinks.
inline constexpr float kLeastHit = 11.0F;
// Where every row has its label.
inline constexpr float kLabelledHeight = 11.0F;
inline constexpr Index kFew = 32;

// What a heatmap's size depends on.
struct HeatmapNeeds {
    Index rows = 1, columns = 1;
    ImVec2 around = {0, 0};  // what its labels, title and legend take beside the cells
};
// `width` is an estimate of its width: the legend may take more lines where it is narrow.
[[nodiscard]] HeatmapNeeds needs_of(const Ui& ui, const core::Heatmap& heatmap, float width,
                                    Legend legend = Legend::full);

// How many characters a cell of this size holds; none if it is too low for a digit.
[[nodiscard]] std::size_t characters_in(const Ui& ui, ImVec2 cell);
// The width of a cell in which so many characters fit.
[[nodiscard]] float number_width(const Ui& ui, int characters);

// The size of a cell in a room for all of them: square, unless it would be too narrow for its number or too low for its
// label.
[[nodiscard]] ImVec2 fitted_cell(const Ui& ui, Index rows, Index columns, ImVec2 room);

// The size of a whole picture with cells just large enough to hit; of one in which numbers fit; and the largest that is
// of use. Matrices with many rows or columns need less for each.
struct HeatmapSizes {
    ImVec2 least, good, most;
};
[[nodiscard]] HeatmapSizes sizes_of(const Ui& ui, const HeatmapNeeds& needs);

// The height of an unzoomed heatmap in an area of this width and at most this height.
[[nodiscard]] float fitted_height(const Ui& ui, const core::Heatmap& heatmap, float width, float most);
[[nodiscard]] float fitted_height(const Ui& ui, const HeatmapNeeds& needs, float width, float most);

// The heights that it can use in an area of this width.
[[nodiscard]] SizeHint wanted_height(const Ui& ui, const HeatmapNeeds& needs, float width);
// Its height in a page that scrolls, of which `view` is seen at once: all of it is, if its cells stay large enough to
// hit.
[[nodiscard]] float height_in_view(const Ui& ui, const HeatmapNeeds& needs, const SizeHint& want, float view);

// Draws the seen cells of a heatmap where a layout has them: colours, hatches, numbers, marks, and the selected and the
// hovered cell with their rows and columns. `tile`: what is in sight of one without numbers.
void draw_inside(const Ui& ui, const HeatmapDrawing& drawing, const HeatmapLayout& layout, std::optional<Spot> hovered,
                 const DrawnTile& tile = {});

// What surrounds a heatmap's cells.

// The title with the colour of its meaning, and the names of the axes if there is room; or a note in place of them,
// beside which the title is shortened.
void draw_title(const Ui& ui, const HeatmapDrawing& drawing, Area area, const std::string& note = {});

// The cells whose rows and columns are pointed out.
struct PointedOut {
    std::optional<Spot> hovered, selected;
};

// The number of a position beside its token, smaller than the token: its size, and how it is written.
[[nodiscard]] ImVec2 position_number_size(const Ui& ui, Index position);
void draw_position_number(const Ui& ui, ImVec2 at, ImU32 color, Index position);

// Where columns or rows are positions with tokens, their numbers, small, above the tokens or left of them: all of them,
// or none if cells would lose digits for them, or get hard to hit.
void draw_position_numbers(const Ui& ui, const HeatmapDrawing& drawing, const HeatmapLayout& layout,
                           const core::CellRect& seen, Area area);

// Every column has its label, shortened to the room beside its neighbours' where they crowd. Only labels without room
// for a character, and indices, which can't be shortened, are left out at even steps. Words that would be cut lean,
// where the cells leave room for that. Pointed out columns have theirs in full.
void draw_column_labels(const Ui& ui, const HeatmapDrawing& drawing, const HeatmapLayout& layout,
                        const core::CellRect& seen, Area area, const PointedOut& pointed);

void draw_row_labels(const Ui& ui, const HeatmapDrawing& drawing, const HeatmapLayout& layout,
                     const core::CellRect& seen, Area area, const PointedOut& pointed);

}  // namespace decoderscope::views

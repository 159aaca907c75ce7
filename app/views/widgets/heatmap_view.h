#pragma once

#include "app/core/figure/heatmap.h"
#include "app/core/figure/heatmap_image.h"
#include "app/views/widgets/widgets.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope::views {

// What is drawn below a heatmap.
enum class Legend {
    full,  // the colour bar, and what each hatch means
    bar,   // the colour bar only: the hatches are explained next to it
    none,
};

// How many rows of text the legend takes at this width; 0 for none.
[[nodiscard]] int legend_rows(const Ui& ui, const core::Heatmap& heatmap, Legend legend, float width);

// Draws the colour bar with its exact range, and what each hatch means, from `start` on.
void draw_legend(const Ui& ui, const core::Heatmap& heatmap, Legend legend, ImVec2 start, float width);

// The colours of a range from left to right, in so many pieces.
void draw_color_bar(const Ui& ui, Area area, core::Range range, core::Scale scale, core::ColorMap map, int pieces);
// The hatch for a block of cells that is hidden by several masks at once.
void draw_hatch(const Ui& ui, std::uint8_t causes, Area box, float spacing);

// The mark of a note: a box's upper left corner cut off.
void draw_note_mark(const Ui& ui, Area box);

// A cell that a file has a number for, in the colour of that.
struct ColoredCell {
    Index row = 0, column = 0;
    ImU32 color = 0;
};

// Row and column of a heatmap's cell.
using Spot = std::pair<Index, Index>;

// How far a heatmap is zoomed in, and which point of it is at the top left. Kept from frame to frame.
struct Viewport {
    float zoom = 1.0F;       // 1: all of it fits
    ImVec2 origin = {0, 0};  // in cells
};

// The key of a heatmap by what it shows: a step's name, or a tab's with a number for each of its pictures.
[[nodiscard]] std::uint64_t heatmap_key(std::string_view what, std::uint64_t number = 0);
// The version of a picture: a hash of the theme and of all else that it depends on.
[[nodiscard]] std::uint64_t picture_version(const Theme& theme, std::initializer_list<Index> parts);

// What is in sight of a heatmap whose numbers aren't read whole.
struct DrawnTile {
    core::Tile tile = {};
    const core::Heatmap* heatmap = nullptr;  // of its blocks; nullptr: nothing of it was read yet
    const std::vector<std::uint8_t>* changed = nullptr;
    std::uint64_t version = 0;
    std::string note = {};  // what the blocks are, instead of the names of the axes
};

// One heatmap to draw.
struct HeatmapDrawing {
    const core::Heatmap& heatmap;
    std::uint64_t key = 0;      // identifies its texture and its widget
    std::uint64_t version = 0;  // changes with the values
    ImU32 color = 0;            // of its meaning, next to the title
    std::string words = {};     // what it is, before the title that names it; left out without room for both
    std::optional<Spot> selected;
    std::optional<Spot> ringed;                          // to be clicked
    std::optional<core::CellRect> lit;                   // the cells that the hovered or selected one was computed from
    const std::vector<std::uint8_t>* changed = nullptr;  // [row, column]: differs from the unedited run
    std::span<const core::NotedCell> notes;              // what is pinned to cells and rows
    std::span<const ColoredCell> colored;                // by a file's numbers: each has a mark
    bool stale = false;                                  // newer numbers are being computed
    bool paintable = false;  // the mask can be painted here: with the right button, or with the left while `painting`
    bool painting = false;
    Legend legend = Legend::full;
    bool grid = false;              // hairlines around the cells: for pictures that may be of a single colour
    bool numbers_positions = true;  // beside their tokens; not of pictures in a line, whose cells are of one size
    bool labels_rows = true;        // otherwise a picture to the left has the same rows, and their labels
    bool keeps_hittable = false;    // the cells of a small matrix stay large enough to hit: without room, it is panned
    std::function<DrawnTile(const core::CellRect& seen)> tile = {};  // of a heatmap without numbers
    bool scrolls_with = false;  // the wheel scrolls what it is in, and zooms with Ctrl
};

// What the user did with it.
struct HeatmapGesture {
    std::optional<Spot> hovered;
    std::optional<Spot> clicked;
    std::optional<Spot> painted;  // the brush is on this cell
    bool paint_begins = false;    // and the stroke starts here
    Area cell = {};               // where the hovered cell is
    Area cells = {};              // where all cells are that are seen
};

// Draws a heatmap with title, axes, token labels and legend into an area: one texture, enlarged as far as it fits, with
// its numbers where they have room. The hovered and the selected cell are marked with their rows and columns. The wheel
// zooms at the pointer, the middle button (or the left, where not all is visible) pans, a double click fits.
[[nodiscard]] HeatmapGesture draw_heatmap(const Ui& ui, const HeatmapDrawing& drawing, Viewport& view, Area area);

struct TooltipLine {
    ImFont* font;
    ImU32 color;
    std::string text;
};

// Shows lines about the hovered cell of a heatmap, at its corner: they cover neither the cell nor its row and column.
void draw_cell_tooltip(const Ui& ui, const HeatmapGesture& gesture, std::span<const TooltipLine> lines);

// Gives the next tooltip that place; for one of about so many lines. Where there is room it covers nothing of `apart`,
// which has other numbers that it explains: it is above or below that, whichever is nearer to the cell.
void place_cell_tooltip(const Ui& ui, const HeatmapGesture& gesture, int lines, const Area& apart = {});

}  // namespace decoderscope::views

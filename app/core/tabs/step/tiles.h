#pragma once

#include "app/core/derived/derived.h"
#include "app/core/figure/colormap.h"
#include "app/core/figure/heatmap_image.h"
#include "app/core/jobs/resumable.h"
#include "app/core/run/snapshot.h"
#include "app/core/run/step_picture.h"
#include "app/core/tabs/step/shown_step.h"

#include <functional>
#include <optional>
#include <span>
#include <vector>

// Pictures of so many cells that they aren't read whole, such as a pattern of 16,384 queries and keys: only what is in
// sight, and where cells are smaller than pixels, the strongest of each block of them. Before all rows are read, a
// block shows the first of its rows.
namespace decoderscope::core::step {

// Whether a step's picture has so many cells.
[[nodiscard]] bool comes_by_tiles(const Run& run, const Step& step, const Slice& slice);

// The tile with these cells of a picture, and some around them, so that a picture that is moved needs few of them. At
// most about a thousand blocks each way.
[[nodiscard]] Tile tile_around(const CellRect& seen, Index rows, Index columns);

// A tile as it is shown.
struct ShownTile {
    static constexpr std::size_t kKept = 8;

    Tile tile;
    Heatmap heatmap;                    // a cell for each block
    std::vector<std::uint8_t> changed;  // as in ShownHeatmap; of cells, not of blocks of them
    bool all_rows = true;               // otherwise the first row of each block
    Sentence note;                      // what the blocks are; empty if they are cells

    // Whether this cell of the picture is one of these, and differs.
    [[nodiscard]] bool changed_at(Index row, Index column) const;
};

// The best that there is of the tile around `seen`, and better is computed in the background: from its first rows to
// all of them, in the range of those of the whole picture that were read. Empty while nothing is.
[[nodiscard]] Value<ShownTile> shown_tile(Derived& derived, const Snapshot& shown, const Step& step, Place place,
                                          const CellRect& seen);

// A picture of that many cells as its first rows have it, in blocks.
[[nodiscard]] Resumable<Heatmap> first_rows(std::shared_ptr<const Run> run, StepId id, Slice slice);
// Of how many rows it shows one; empty if the step's picture has fewer cells.
[[nodiscard]] Sentence note_of_small_picture(const Run& run, const Step& step, const Slice& slice);

// Gives `take` some rows of a picture, with the sink's weight last: only these are read.
void read_rows(const Run& run, const Step& step, const Slice& slice, Index first, Index count,
               const std::function<void(std::span<const float>)>& take);

// The numbers of one row of a step's picture.
struct ShownRow {
    static constexpr std::size_t kKept = 16;
    std::vector<float> numbers;
};
[[nodiscard]] Value<ShownRow> shown_row(Derived& derived, const Snapshot& shown, const Step& step, Place place,
                                        Index row);

// One number, without those that are made beside it if possible.
[[nodiscard]] float one_number(const Tensor& tensor, const Cell& cell);

// As shown_heatmap, but without numbers if the picture comes by tiles.
[[nodiscard]] Value<ShownHeatmap> shown_card(Derived& derived, const Snapshot& shown, const Step& step, Place place);

// Small pictures of steps: colours alone.

// The colours of a step's pictures, one row of pixels after the other, with the pictures as they are in the grid and
// nothing between them.
struct Pixels {
    static constexpr std::size_t kKept = 4;  // whoever shows them keeps them as a texture

    std::vector<Rgba> colors;
    Index width = 0, height = 0;
};

// How they are wanted.
struct PixelsWanted {
    PictureSize each;             // of a picture: at most its cells
    Index heads = 1, across = 1;  // how many pictures, and how many of them in a row of the grid
    Place place;                  // of several pictures, each has its own head
    ColorMap sequential = ColorMap::viridis;
    bool dark = true;
    std::optional<Range> range = {};  // that the colours span; nothing: the step's own

    [[nodiscard]] Index down() const { return (heads + across - 1) / across; }
};

// A pixel shows the strongest of its cells, as reduced_colors has it, so that no extreme can hide. Of a picture that
// comes by tiles (tiles.h) only its first rows are read. Empty while many numbers are being read. The step must have
// values.
[[nodiscard]] Value<Pixels> shown_pixels(Derived& derived, const Snapshot& shown, const Step& step,
                                         const PixelsWanted& wanted);

// A step's numbers at a place, as shown_heatmap has them; empty while a large tensor is read, and if the picture
// comes by tiles.
[[nodiscard]] Value<ShownHeatmap> shown_numbers(Derived& derived, const Snapshot& shown, const Step& step, Place place);

// What the colours of a step depend on, beside that: they are the same as long as these are.
[[nodiscard]] Origins painted_from(const Run& run, const Step& step);

}  // namespace decoderscope::core::step

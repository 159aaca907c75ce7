#pragma once

#include "app/core/figure/colormap.h"
#include "app/core/figure/heatmap.h"
#include "engine/base/message.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace decoderscope::core {

// A block of cells of a heatmap.
struct CellRect {
    Index row = 0, column = 0, rows = 0, columns = 0;
    bool operator==(const CellRect&) const = default;
};

// A part of a picture that isn't read whole, in blocks of cells: a heatmap beside it has a cell for each block.
struct Tile {
    CellRect cells;                         // of the picture
    Index rows_each = 1, columns_each = 1;  // of a block; smaller at the end

    [[nodiscard]] Index rows() const { return (cells.rows + rows_each - 1) / rows_each; }
    [[nodiscard]] Index columns() const { return (cells.columns + columns_each - 1) / columns_each; }
    [[nodiscard]] bool is_exact() const { return rows_each == 1 && columns_each == 1; }
    bool operator==(const Tile&) const = default;
};

// The strongest cells of some rows, as reduced_colors has them, without a heatmap of all of them.
class Strongest {
public:
    explicit Strongest(Index columns) : keys_(static_cast<std::size_t>(columns)) { forget(); }
    // A row's values from a column on, and which of them no mask hides (0: hidden); none are if it is empty.
    void add(Index first, std::span<const float> values, std::span<const float> kept);
    // The strongest since it was emptied, of these columns; nothing if all are hidden.
    [[nodiscard]] std::optional<float> among(Index first, Index end) const;
    void forget();

private:
    std::vector<std::int32_t> keys_;
};

// The colour of one cell. A masked cell gets the muted colour of its mask. But NaN always shows as NaN: a row with
// nothing left to attend to must not look like any other masked row.
[[nodiscard]] Rgba cell_color(const Heatmap& heatmap, Index row, Index column, ColorMap map, bool dark);

// What the cells of a heatmap show beside the colours of its range.
struct MarksIn {
    std::vector<Mark> marks;  // each that occurs, in the order of Mark; of masked cells NaN alone
    bool has_scale = true;    // some cell has a colour of the range; or nothing is NaN
};
[[nodiscard]] MarksIn marks_in(const Heatmap& heatmap);

// One pixel per cell, [row, column].
[[nodiscard]] std::vector<Rgba> cell_colors(const Heatmap& heatmap, ColorMap map, bool dark);

// The colours of a smaller picture, height × width pixels, row by row. A pixel shows the strongest of its cells, so
// that no extreme is lost: NaN first, then ±∞, then the largest magnitude, of zeros one that rounding made; a masked
// cell other than NaN only if there is nothing else. Every cell of `seen` belongs to a pixel. `seen` lies inside the
// heatmap and is not empty; a side with more pixels than cells repeats cells.
[[nodiscard]] std::vector<Rgba> reduced_colors(const Heatmap& heatmap, const CellRect& seen, Index height, Index width,
                                               ColorMap map, bool dark);

// How a masked cell is hatched, so that masks can be distinguished without colour.
enum class Hatch {
    none,
    forward,   // ////
    backward,  // leaning the other way
    cross,     // both
    level,     // ====
    upright,   // ||||
    grid,      // both of these
    dots,
};

// The muted colour of a masked cell: that of its strongest cause, in the order hand, custom, padding, window,
// causal. `causes` are flags of hidden_by, at least one. A column that isn't a key has one for legends only.
[[nodiscard]] Rgba hidden_color(std::uint8_t causes, bool dark);
// The colour of the hatch on it.
[[nodiscard]] Rgba hatch_color(std::uint8_t causes, bool dark);
// Causal alone is forward, window level, padding backward, custom dots, hand cross; no key is upright. With several
// causes, the colour shows the strongest; the hatch shows the lines of causal and padding (cross: both), those of a
// weaker window, or dots.
[[nodiscard]] Hatch hatch_of(std::uint8_t causes);
// "causal mask", "causal + padding mask", "masked manually", "no key: the sink", …, for legends.
[[nodiscard]] std::string hidden_text(std::uint8_t causes);
[[nodiscard]] Sentence hidden_sentence(std::uint8_t causes);

// Hatched cells with the same causes, joined into blocks so that a hatch is drawn in few pieces. Blocks don't overlap
// and cover every hatched cell; empty if the heatmap has none.
struct HiddenBlock {
    CellRect cells;
    std::uint8_t causes = hidden_by::nothing;
};
[[nodiscard]] std::vector<HiddenBlock> hidden_blocks(const Heatmap& heatmap);

}  // namespace decoderscope::core

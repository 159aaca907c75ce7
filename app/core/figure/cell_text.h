#pragma once

#include "app/core/figure/heatmap.h"
#include "app/core/figure/heatmap_image.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::core {

// How the numbers of one matrix are written into its cells.
struct CellFormat {
    std::size_t room = 0;     // characters that a cell holds
    int decimals = 0;         // of every number that has room for them, so that columns compare
    bool scientific = false;  // all numbers are so small that decimals would show none of their digits
    bool operator==(const CellFormat&) const = default;
};

// The format for the visible cells of a matrix: the most decimals, to at most four significant digits, that most of its
// numbers have room for.
[[nodiscard]] CellFormat cell_format(const Heatmap& heatmap, const CellRect& seen, std::size_t room);

// A number as its cell shows it: "0.95", ".95", "−1e9", "−∞", "NaN"; empty if it doesn't fit in any form. Read back, it
// is the number at the digits that it has. Only zero itself is "0": among larger numbers a magnitude that the decimals
// can't show is "0.00". Whole numbers have no decimals; a number too long for the format has fewer, or is in scientific
// notation.
[[nodiscard]] std::string cell_text(double value, const CellFormat& format);

// Where the number of masked cells stands if it has no room in them.
enum class FillPlace { in_cells, in_legend };

// The texts of the visible cells, [row, column] of `seen`; none at all if a number would have no room: in one picture
// all cells have their digits or none has. Only masked cells may all stay empty if all of them hold one number, the
// mask's fill, and the legend says it.
[[nodiscard]] std::vector<std::string> cell_texts(const Heatmap& heatmap, const CellRect& seen, std::size_t room,
                                                  FillPlace said = FillPlace::in_cells);

// The one number that all masked cells hold; nothing if there are none, or several numbers.
[[nodiscard]] std::optional<float> fill_of(const Heatmap& heatmap);

// Which masks hide cells, with the number that all of these hold: "padding mask: −1e9". Zero is expected, and left out.
[[nodiscard]] std::string filled_text(std::uint8_t causes, std::optional<float> fill);

}  // namespace decoderscope::core

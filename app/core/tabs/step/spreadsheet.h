#pragma once

#include "app/core/derived/derived.h"
#include "app/core/figure/heatmap.h"
#include "app/core/figure/heatmap_image.h"
#include "app/core/run/slice.h"
#include "app/core/session/session.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

// A slice of a tensor as a table of exact numbers, sorted by one of its rows or columns.
namespace decoderscope::core::step {

// The row (or column) by which a table's columns (or rows) are sorted; none: in their own order.
struct SheetSort {
    std::optional<Index> by;
    bool smallest_first = false;
    bool operator==(const SheetSort&) const = default;

    // The next one after a click on a head: largest first, smallest first, unsorted.
    [[nodiscard]] SheetSort clicked(Index head) const;
};

// The rows in the order of their values in a column, and the columns in the order of a row's. Equal values keep their
// order; NaN is last either way.
[[nodiscard]] std::vector<Index> sorted_rows(const Heatmap& heatmap, const SheetSort& sort);
[[nodiscard]] std::vector<Index> sorted_columns(const Heatmap& heatmap, const SheetSort& sort);

// The order of a shown table, and how wide its numbers are.
struct SheetOrder {
    std::vector<Index> rows, columns;
    std::size_t longest = 0;  // characters of the longest number; of large tables, as long as any can be
    std::size_t head = 0;     // characters of the longest head of a row, up to 16
};
[[nodiscard]] Value<SheetOrder> shown_order(Derived& derived, const Snapshot& shown, const Step& step, Place place,
                                            const SheetSort& rows, const SheetSort& columns);

// The most cells that are copied as text.
inline constexpr Index kMostCopied = 1'000'000;

// Cells of the table as text with tabs, one line per row, with all digits, with a plain minus and "inf", as
// spreadsheets read it. `block` is of places in `order`, not of the tensor. With heads, the labels come first.
[[nodiscard]] std::string tab_separated(const Heatmap& heatmap, const SheetOrder& order, const CellRect& block,
                                        bool heads);

// "3 e": a row's or column's head; just the index if its label is no more than that.
[[nodiscard]] std::string sheet_head(std::span<const std::string> labels, Index at);

}  // namespace decoderscope::core::step

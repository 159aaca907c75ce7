#pragma once

#include "engine/graph/run.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::core {

// Which masks hide a cell, as flags: what its hatch says.
namespace hidden_by {
inline constexpr std::uint8_t nothing = 0;
using masked_by::causal, masked_by::window, masked_by::padding, masked_by::custom, masked_by::segments;
inline constexpr std::uint8_t hand = 32;  // painted: an edit
// No mask hides it, but its column isn't a key: it is an attention sink's weight, drawn in its value's colour, and
// hatched.
inline constexpr std::uint8_t no_key = 64;
// In a recording, which has no masks: a number so low beside the others that another program put it there to hide the
// cell.
inline constexpr std::uint8_t fill = 128;

[[nodiscard]] constexpr bool masked(std::uint8_t causes) { return (causes & ~no_key) != nothing; }
}  // namespace hidden_by

// How values become colours.
enum class Scale {
    sequential,  // weights and probabilities: from 0 up
    diverging,   // signed values: about zero
};

struct Range {
    float low = 0.0F;
    float high = 1.0F;
    bool operator==(const Range&) const = default;
};

// A note that is pinned to a cell, or to a row.
struct NotedCell {
    Index row = 0;
    std::optional<Index> column;  // nothing: all of the row
    std::string text;
};

// One picture of numbers: two axes of a tensor at fixed indices of the others, with all labels that a view or an export
// needs. A plain value.
struct Heatmap {
    std::string title;                  // "blocks.0.attn.pattern"
    std::string subtitle;               // "batch 0, head 1"
    std::string row_axis, column_axis;  // "query", "key"
    Index rows = 0, columns = 0;
    std::vector<std::string> row_labels, column_labels;  // as many as rows and columns: tokens, or indices
    std::vector<float> values;                           // [row, column]
    std::vector<std::uint8_t> hidden;                    // [row, column], of hidden_by; empty if no mask applies
    std::vector<std::uint8_t> vanished;  // [row, column]: 1 if only rounding made it 0; empty if there is no such cell
    Scale scale = Scale::diverging;
    Range range;                     // what the colour map spans; finite, low < high
    std::vector<std::string> texts;  // [row, column]: shown in the cells instead of numbers; mostly empty
    std::vector<NotedCell> notes;    // numbered from 1 where they are drawn
    bool has_sink = false;           // the last column isn't a key: it is what each row gives to the attention's sink
    std::vector<Index> kept_rows, kept_columns;  // of a part of a picture (crop.h): their numbers there; empty: all

    [[nodiscard]] float at(Index row, Index column) const {
        return values[static_cast<std::size_t>(row * columns + column)];
    }
    // Whether the cell has vanished that lies at this place of `values`.
    [[nodiscard]] bool has_vanished(std::size_t at) const { return !vanished.empty() && vanished[at] != 0; }
    // The columns of the tensor itself.
    [[nodiscard]] Index own_columns() const { return columns - (has_sink ? 1 : 0); }
};

// The range that the finite values span: [0, max] for a sequential scale (0 to 1 if there are no finite values),
// symmetric about zero for a diverging one. Never empty.
[[nodiscard]] Range range_of(std::span<const float> values, Scale scale);
// The range of the cells that no mask hides, in the heatmap's own scale.
[[nodiscard]] Range range_of_seen(const Heatmap& heatmap);
// The highest of the numbers that fill hidden cells: −10⁴ or lower (PyTorch's finfo.min, −1e9), and a thousand times as
// large as any other. Nothing if there are none.
[[nodiscard]] std::optional<float> highest_fill(std::span<const float> values);
// The range that holds both.
[[nodiscard]] inline Range spanning(Range a, Range b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

}  // namespace decoderscope::core

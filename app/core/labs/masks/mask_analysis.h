#pragma once

#include "app/core/run/slice.h"

#include <string>
#include <vector>

namespace decoderscope::core::masks {

// The masks of one attention at a place, each by itself and all combined. The values are 1 where a key may be seen and
// 0 where it may not; `hidden` says by which mask. All are [query, key].
struct MaskParts {
    Heatmap causal;    // all ones if the attention is not causal
    Heatmap window;    // all ones without a sliding window
    Heatmap padding;   // all ones if there is no padding mask
    Heatmap drawn;     // the input's custom_mask, and what was painted over it
    Heatmap combined;  // causal AND window AND padding AND custom, then what was painted: as recorded
    bool is_causal = false, has_window = false, has_padding = false, has_drawn = false;
    std::vector<std::uint8_t> opened;   // [query, key]: painted as kept where the other masks hide it: a hole
    std::vector<std::uint8_t> painted;  // [query, key]: painted, whatever the other masks say
    Index hidden = 0;                   // how many cells of `combined` are 0
};

// `attention` is one of the run's ("blocks.0.attn"), and its mask has values.
[[nodiscard]] MaskParts mask_parts(const Scenario& scenario, const Run& run, const std::string& attention, Place place);

// A query that sees no key at all, and the softmax of its row.
struct EmptyRow {
    Index query = 0;
    bool nan = false;                 // under −∞: 0/0
    float least = 0.0F, most = 0.0F;  // otherwise the range of its weights: all 1/keys if the fill is finite
    bool operator==(const EmptyRow&) const = default;
};

// What the fill does to one head of one batch row, measured on the recorded numbers.
struct FillConsequences {
    float fill = 0.0F;
    Index cells = 0, masked = 0;  // of [query, key]; includes rows with nothing left
    // Kept scores at or below a finite fill: masked keys weigh as much there, or more. None under −∞.
    std::vector<std::pair<Index, Index>> below;  // query, key
    float lowest_kept = 0.0F;                    // the lowest score that is kept; +∞ if none is
    // The weight on masked keys, summed over a row's masked cells, in rows that have something left.
    float largest_leak = 0.0F;
    Index leakiest_query = -1;  // -1 if no row leaks
    std::vector<float> leaks;   // [query]; 0 for rows with nothing left
    std::vector<EmptyRow> empty_rows;
};
// `attention` is one of the run's; its scores, mask and pattern have values.
[[nodiscard]] FillConsequences fill_consequences(const Run& run, const std::string& attention, Place place, Index nhead,
                                                 float fill);

// A computed step that holds NaN.
struct NanStep {
    StepId id = 0;
    std::string name;
    Index count = 0, size = 0;
    Cell first;  // in row-major order
};
// The steps with NaN in the order of computation: where it starts and how far it spreads. Empty if there is none.
[[nodiscard]] std::vector<NanStep> nan_trail(const Run& run);
// As above, given the trail of an earlier run: a tensor that both runs share is not read again.
[[nodiscard]] std::vector<NanStep> nan_trail(const Run& run, const Run& earlier, const std::vector<NanStep>& known);

}  // namespace decoderscope::core::masks

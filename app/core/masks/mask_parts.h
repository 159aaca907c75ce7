#pragma once

#include "app/core/step/slice.h"

namespace decoderscope {

// The masks of one attention at a place, each by itself and all combined. The values are 1 where a key may be seen and
// 0 where it may not; `hidden` says by which mask. All are [query, key].
struct MaskParts {
    Heatmap causal;    // all ones if the attention is not causal
    Heatmap window;    // all ones without a sliding window
    Heatmap padding;   // all ones if there is no padding mask
    Heatmap drawn;     // the input's custom_mask, and what was painted over it
    Heatmap combined;  // causal AND window AND padding AND custom, then what was painted: as recorded
    bool is_causal = false, has_window = false, has_padding = false, has_drawn = false;
    std::vector<std::uint8_t> opened;  // [query, key]: painted as kept where the other masks hide it: a hole
    Index hidden = 0;                  // how many cells of `combined` are 0
};

// `attention` is one of the run's ("blocks.0.attn"), and its mask has values.
[[nodiscard]] MaskParts mask_parts(const Scenario& scenario, const Run& run, const std::string& attention, Place place);

}  // namespace decoderscope

#pragma once

#include "app/core/labs/masks/shown_masks.h"
#include "app/views/widgets/widgets.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace decoderscope::views::masks {

// Where a picture of the Masks tab is.
struct MaskSlot {
    Area area;
    bool labels_rows = true;  // otherwise the first picture of its line has the labels
};

// One of the masks by itself.
struct SingleMask {
    const core::Heatmap& heatmap;
    std::uint8_t cause;
    bool is_there = true;  // else the attention has none of this kind

    [[nodiscard]] bool hides() const { return std::ranges::find(heatmap.values, 0.0F) != heatmap.values.end(); }
};
// Those of the model and of its input. What is drawn manually isn't among them.
[[nodiscard]] std::vector<SingleMask> single_masks(const core::masks::MaskParts& parts);

// Where all of them are: the masks combined and apart, and the scores' way to the output.
struct MaskSlots {
    std::vector<MaskSlot> parts;  // all masks combined, then each by itself that hides something
    std::array<MaskSlot, 4> chain;
    MaskSlot drawn;  // what is drawn manually: at the end, so that the first stroke moves nothing
    Area words;      // which masks hide nothing, and below that the padding's length handles
    float bottom;    // of the last line
};

// Lays out the pictures by their cells, which stay large enough to be painted: in as many lines as they need, from the
// top of the area, whose height they share where it is enough. Otherwise the bottom is below the area's.
[[nodiscard]] MaskSlots lay_out_masks(const Ui& ui, const core::masks::ShownMasks& shown, Area area);

}  // namespace decoderscope::views::masks

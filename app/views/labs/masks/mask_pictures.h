#pragma once

#include "app/core/labs/masks/shown_masks.h"
#include "app/views/widgets/widgets.h"

#include <array>
#include <vector>

namespace decoderscope::views::masks {

// Where a picture of the Masks tab is.
struct MaskSlot {
    Area area;
    bool labels_rows = true;  // otherwise the first picture of its line has the labels
};

// Where all of them are: the masks apart and combined, and the scores' way to the output.
struct MaskSlots {
    std::vector<MaskSlot> parts;  // the masks apart, in the order of MaskParts, and combined
    std::array<MaskSlot, 4> chain;
    Area lengths;  // the padding's length handles
    float bottom;  // of the last line
};

// Lays out the pictures by their cells, which stay large enough to be painted: in as many lines as they need, from the
// top of the area, whose height they share where it is enough. Otherwise the bottom is below the area's.
[[nodiscard]] MaskSlots lay_out_masks(const Ui& ui, const core::masks::ShownMasks& shown, Area area);

}  // namespace decoderscope::views::masks

#pragma once

#include "app/views/widgets/widgets.h"
#include "engine/model/tokenizer/tokenizer.h"

#include <span>
#include <string>

namespace decoderscope {

// A piece as a chip shows it: a space is "·", a line break "↵", a tab "→"; bytes that form no character are "\E3".
[[nodiscard]] std::string chip_text(std::string_view piece);

// A token's colour: always the same for an id, and distinct from those of neighbouring ids.
[[nodiscard]] ImU32 chip_color(Index id, bool dark);

// One row of a batch as chips.
struct ChipRow {
    std::span<const float> ids;
    std::span<const float> mask;  // 0 = padding; empty: no padding
    Index first = 0;              // the first token to show
    bool from_end = false;        // show the end rather than the beginning
};

// Draws as many chips as fit into the area, and the number left out. A chip's tooltip tells its id and piece.
void draw_chips(const Ui& ui, const Tokenizer& tokenizer, const ChipRow& row, Area area);

}  // namespace decoderscope

#pragma once

#include "app/views/widgets/widgets.h"
#include "engine/model/tokenizer/tokenizer.h"

#include <span>
#include <string>

namespace decoderscope {

// A piece as a chip shows it: a space is "·", a line break "↵", a tab "→"; bytes that are no character are "\E3".
[[nodiscard]] std::string chip_text(std::string_view piece);

// A token's colour: the same for the same id, apart from those of the ids beside it.
[[nodiscard]] ImU32 chip_color(Index id, bool dark);

// One row of a batch as chips.
struct ChipRow {
    std::span<const float> ids;
    std::span<const float> mask;  // 0 = padding; empty: none is
    Index first = 0;              // the token to begin with
    bool from_end = false;        // show the end rather than the beginning
};

// Draws as many chips as fit into the area, and how many are left out. Under the mouse a chip tells its id and piece.
void draw_chips(const Ui& ui, const Tokenizer& tokenizer, const ChipRow& row, Area area);

}  // namespace decoderscope

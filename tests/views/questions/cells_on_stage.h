#pragma once

#include "tests/views/driver.h"

#include <optional>
#include <string>

namespace decoderscope::testing {

// Where a cell of a tensor is drawn on the stage: a point in it, found by what the window says is under the mouse.
// Nothing if the cell isn't drawn.
std::optional<ImVec2> place_of_cell(Driver& d, const std::string& tensor, Index row, Index column);

// Clicks on that cell: one gesture. Returns whether it is drawn.
bool click_cell(Driver& d, const std::string& tensor, Index row, Index column);

// A number as the inspector writes it, without spaces.
std::string as_seen(std::string text);

}  // namespace decoderscope::testing

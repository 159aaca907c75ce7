#pragma once

#include "app/core/session/session.h"
#include "app/views/frame/cards.h"
#include "app/views/frame/lab.h"

#include <vector>

namespace decoderscope::views::step {

[[nodiscard]] Lab step_lab();

// How a step's pictures are laid out: operands, the operation between, the result.
struct Arrangement {
    std::vector<Card> operands;
    Area operation, result;
    bool downwards = false;  // the operands are above the result, otherwise left of it
    float bottom = 0.0F;     // of all; below the area's if its height leaves too little for cells that can be hit
};

// The operands beside the result or above it, however the cells of all of them become the most readable: square, large
// enough for their numbers, above all those of the result. The pictures share all of the area that is of use to them.
[[nodiscard]] Arrangement arrange(const Ui& ui, const core::Session& session, const Step& result, Area area);

}  // namespace decoderscope::views::step

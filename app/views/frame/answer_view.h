#pragma once

#include "app/core/answer/answer.h"
#include "app/views/frame/commands.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/widgets.h"

#include <cstdint>
#include <optional>
#include <string>

namespace decoderscope::views {

// What the mouse does with an answer.
struct AnswerGesture {
    // What was clicked and leads nowhere by itself: a cell of a picture, a row of a table, a place along curves (its
    // column).
    bool clicked = false;
    std::size_t picture = 0;
    Index row = 0, column = 0;
    std::optional<std::string> sort = std::nullopt;  // what its table is to be sorted by
    float end = 0.0F;                                // where what is said ends
};

// An answer on the stage: what is said, then its table, its curves or its pictures, which share the room; of several
// parts one below the other, and beside them, if there is room, those that are aside. Cells and rows that are of steps
// lead to them. `version` identifies the answer. `chosen`: the row of its table, or the place along its curves, that is
// marked.
AnswerGesture draw_answer_parts(const Ui& ui, const char* id, const core::Answer& answer, std::uint64_t version,
                                Area area, ViewState& state, Commands& commands,
                                std::optional<std::size_t> chosen = std::nullopt);

}  // namespace decoderscope::views

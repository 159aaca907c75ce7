#include "tests/views/questions/cells_on_stage.h"

#include <cmath>

namespace decoderscope::testing {

using namespace decoderscope::views;

namespace {

// The row and column of the tensor under a point; nothing if another one is, or none.
std::optional<std::pair<Index, Index>> cell_under(Driver& d, const std::string& tensor, ImVec2 at) {
    d.hands.push(MouseMove{at.x, at.y});
    d.settle();
    if (!d.state.hovered || d.state.hovered->first != tensor) return std::nullopt;
    const Cell& cell = d.state.hovered->second;
    return std::pair{cell.size() < 2 ? 0 : cell[cell.size() - 2], cell.back()};
}

}  // namespace

std::optional<ImVec2> place_of_cell(Driver& d, const std::string& tensor, Index row, Index column) {
    const Area stage = d.stage();
    constexpr float kStep = 14.0F;
    const std::pair wanted = {row, column};
    for (float y = stage.high.y - kStep; y > stage.low.y; y -= kStep) {
        std::optional<std::pair<Index, Index>> in_line;
        for (float x = stage.high.x - kStep; x > stage.low.x; x -= kStep * 2.0F) {
            const auto under = cell_under(d, tensor, {x, y});
            if (under == wanted) return ImVec2{x, y};
            if (!under) {
                if (in_line) break;
                continue;
            }
            in_line = under;
            if (under->first != row) break;
            // The right line: along it, finer.
            for (float fine = x; fine > stage.low.x; fine -= 2.0F)
                if (cell_under(d, tensor, {fine, y}) == wanted) return ImVec2{fine - 1.0F, y};
            for (float fine = x; fine < stage.high.x; fine += 2.0F)
                if (cell_under(d, tensor, {fine, y}) == wanted) return ImVec2{fine + 1.0F, y};
        }
    }
    return std::nullopt;
}

bool click_cell(Driver& d, const std::string& tensor, Index row, Index column) {
    const auto at = place_of_cell(d, tensor, row, column);
    if (!at) return false;
    d.hands.click(at->x, at->y);
    d.settle();
    return true;
}

std::string as_seen(std::string text) {
    std::erase(text, ' ');
    return text;
}

}  // namespace decoderscope::testing

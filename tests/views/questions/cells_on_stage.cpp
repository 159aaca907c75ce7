#include "tests/views/questions/cells_on_stage.h"

#include <utility>
#include <vector>

namespace decoderscope::testing {

using namespace decoderscope::views;

namespace {

// The row and column of the tensor under a point; nothing if another one is, or none.
std::optional<std::pair<Index, Index>> cell_under(Driver& d, const std::string& tensor, ImVec2 at) {
    d.point(at);
    if (!d.state.hovered || d.state.hovered->first != tensor) return std::nullopt;
    const Cell& cell = d.state.hovered->second;
    return std::pair{cell.size() < 2 ? 0 : cell[cell.size() - 2], cell.back()};
}

// Rows grow downwards and columns to the right: the half that the wanted one is in.
void halve(float& low, float& high, Index here, Index wanted) {
    if (here < wanted) low = (low + high) / 2.0F;
    if (here > wanted) high = (low + high) / 2.0F;
}

// The point of a picture that shows this row and column of the tensor; nothing if it is another tensor's, or they are
// cut off.
std::optional<ImVec2> place_in(Driver& d, const std::string& tensor, Area picture, std::pair<Index, Index> wanted) {
    for (int halved = 0; halved < 16; ++halved) {
        const ImVec2 middle = {(picture.low.x + picture.high.x) / 2.0F, (picture.low.y + picture.high.y) / 2.0F};
        const auto under = cell_under(d, tensor, middle);
        if (!under || *under == wanted) return under ? std::optional(middle) : std::nullopt;
        halve(picture.low.y, picture.high.y, under->first, wanted.first);
        halve(picture.low.x, picture.high.x, under->second, wanted.second);
    }
    return std::nullopt;
}

}  // namespace

std::optional<ImVec2> place_of_cell(Driver& d, const std::string& tensor, Index row, Index column) {
    const Area stage = d.stage();
    const std::vector<Area> pictures = d.pictures();  // as they are now: the search draws frames
    for (auto picture = pictures.rbegin(); picture != pictures.rend(); ++picture) {
        if (!stage.contains(picture->low)) continue;
        if (const auto at = place_in(d, tensor, *picture, {row, column})) return at;
    }
    return std::nullopt;
}

bool click_cell(Driver& d, const std::string& tensor, Index row, Index column) {
    const auto at = place_of_cell(d, tensor, row, column);
    if (!at) return false;
    d.click({at->x, at->y});
    return true;
}

std::string as_seen(std::string text) {
    std::erase(text, ' ');
    return text;
}

}  // namespace decoderscope::testing

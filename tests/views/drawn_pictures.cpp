#include "tests/views/drawn_pictures.h"

#include "app/views/widgets/imgui_compat.h"
#include "tests/catch.h"
#include "tests/views/imgui_atlas.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>

namespace decoderscope::testing {

using namespace decoderscope::testing;

std::vector<DrawnPicture> drawn_textures(const ImDrawData& frame, const ImFontAtlas& atlas) {
    std::vector<DrawnPicture> pictures;
    for (int l = 0; l < frame.CmdListsCount; ++l) {
        const ImDrawList& list = *frame.CmdLists[l];
        for (const ImDrawCmd& command : list.CmdBuffer) {
            if (command.UserCallback != nullptr || command.GetTexID() == font_texture(atlas)) continue;
            // A picture is a quad of six indices.
            for (unsigned i = 0; i + 5 < command.ElemCount; i += 6) {
                const auto vertex = [&](unsigned n) -> const ImDrawVert& {
                    const ImDrawIdx index = list.IdxBuffer[static_cast<int>(command.IdxOffset + i + n)];
                    return list.VtxBuffer[static_cast<int>(index + command.VtxOffset)];
                };
                const ImVec2 a = vertex(0).pos, c = vertex(2).pos;
                const ImVec4& clip = command.ClipRect;
                const Area seen = {{std::max(a.x, clip.x), std::max(a.y, clip.y)},
                                   {std::min(c.x, clip.z), std::min(c.y, clip.w)}};
                if (seen.width() > 0.0F && seen.height() > 0.0F) pictures.push_back({{a, c}, seen, command.GetTexID()});
            }
        }
    }
    return pictures;
}

std::vector<Area> drawn_pictures(const ImDrawData& frame, const ImFontAtlas& atlas) {
    std::vector<Area> seen;
    for (const DrawnPicture& picture : drawn_textures(frame, atlas)) seen.push_back(picture.seen);
    return seen;
}

DrawnHeatmap::DrawnHeatmap(const std::vector<DrawnText>& all, const std::vector<Area>& pictures, std::string_view title,
                           int rows, int columns)
    : all_(all), rows_(rows), columns_(columns) {
    // The picture that is nearest below a title of this text.
    float nearest = std::numeric_limits<float>::max();
    for (const DrawnText& piece : all) {
        if (piece.text.find(title) == std::string::npos) continue;
        for (const Area& picture : pictures) {
            const float below = picture.low.y - piece.high.y, right = picture.low.x - piece.low.x;
            if (below < 0.0F || right < -24.0F || picture.high.x < piece.low.x) continue;
            if (const float distance = below + std::abs(right); distance < nearest) {
                nearest = distance;
                cells_ = picture;
                title_ = {piece.low, piece.high};
            }
        }
    }
    INFO("the heatmap " << title);
    REQUIRE(nearest < 400.0F);
}

ImVec2 DrawnHeatmap::cell_size() const {
    return {cells_.width() / static_cast<float>(columns_), cells_.height() / static_cast<float>(rows_)};
}

Area DrawnHeatmap::cell(int row, int column) const {
    const ImVec2 size = cell_size();
    const ImVec2 low = {cells_.low.x + size.x * static_cast<float>(column),
                        cells_.low.y + size.y * static_cast<float>(row)};
    return {low, {low.x + size.x, low.y + size.y}};
}

ImVec2 DrawnHeatmap::middle(int row, int column) const {
    const Area box = cell(row, column);
    return {(box.low.x + box.high.x) * 0.5F, (box.low.y + box.high.y) * 0.5F};
}

std::string DrawnHeatmap::number(int row, int column) const { return text_in(cell(row, column)); }

namespace {

// A label without its position's number, which is drawn before it.
std::string without_number(const std::string& label, int position) {
    const std::string number = std::to_string(position);
    return label.size() > number.size() && label.starts_with(number) ? label.substr(number.size()) : label;
}

// Of a label of letters; what stands beside it has no digits either.
bool has_number(const std::string& label, int position) {
    std::string digits;
    std::ranges::copy_if(label, std::back_inserter(digits), [](char c) { return c >= '0' && c <= '9'; });
    return digits == std::to_string(position) && label.size() > digits.size();
}

}  // namespace

std::string DrawnHeatmap::above(int column) const {
    const Area box = cell(0, column);
    return text_in({{box.low.x, title_.high.y + 1.0F}, {box.high.x, cells_.low.y}});
}

std::string DrawnHeatmap::left_of(int row) const {
    const Area box = cell(row, 0);
    return text_in({{title_.low.x - 24.0F, box.low.y}, {cells_.low.x, box.high.y}});
}

std::string DrawnHeatmap::column_label(int column) const { return without_number(above(column), column); }
std::string DrawnHeatmap::row_label(int row) const { return without_number(left_of(row), row); }
bool DrawnHeatmap::numbers_column(int column) const { return has_number(above(column), column); }
bool DrawnHeatmap::numbers_row(int row) const { return has_number(left_of(row), row); }

std::string DrawnHeatmap::text_in(Area area) const {
    std::string found;
    for (const DrawnText& piece : all_) {
        if (!area.contains({area.low.x, piece.middle().y})) continue;
        for (std::size_t i = 0; i < piece.text.size(); ++i)
            if (piece.x[i] >= area.low.x && piece.x[i] < area.high.x) found += piece.text[i];
    }
    return found;
}

}  // namespace decoderscope::testing

#pragma once

#include "app/views/widgets/widgets.h"
#include "tests/views/drawn_text.h"

#include <imgui.h>

#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::testing {

using namespace decoderscope::views;

// Where the pictures of a rendered frame are: everything that was drawn with a texture other than the font's, without
// what was clipped away.
[[nodiscard]] std::vector<Area> drawn_pictures(const ImDrawData& frame, const ImFontAtlas& atlas);

// One of them: all of it, how much of it can be seen, and its texture.
struct DrawnPicture {
    Area whole, seen;
    ImTextureID texture;
};
[[nodiscard]] std::vector<DrawnPicture> drawn_textures(const ImDrawData& frame, const ImFontAtlas& atlas);

// A heatmap as it was drawn, found by its title.
class DrawnHeatmap {
public:
    // Fails the test if there is none. `all` are the frame's texts; `rows` and `columns` are the matrix's.
    DrawnHeatmap(const std::vector<DrawnText>& all, const std::vector<Area>& pictures, std::string_view title, int rows,
                 int columns);

    [[nodiscard]] Area cells() const { return cells_; }
    [[nodiscard]] ImVec2 cell_size() const;
    [[nodiscard]] Area cell(int row, int column) const;
    [[nodiscard]] ImVec2 middle(int row, int column) const;
    // The text inside a cell, and that of a column's or a row's label, without spaces.
    [[nodiscard]] std::string number(int row, int column) const;
    [[nodiscard]] std::string column_label(int column) const;
    [[nodiscard]] std::string row_label(int row) const;
    // Whether the label, of letters, has its position beside it.
    [[nodiscard]] bool numbers_column(int column) const;
    [[nodiscard]] bool numbers_row(int row) const;

private:
    [[nodiscard]] std::string text_in(Area area) const;
    [[nodiscard]] std::string above(int column) const;
    [[nodiscard]] std::string left_of(int row) const;

    std::vector<DrawnText> all_;
    Area title_, cells_;
    int rows_, columns_;
};

}  // namespace decoderscope::testing

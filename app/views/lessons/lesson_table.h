#pragma once

#include "app/core/lessons/shown_page.h"
#include "app/views/widgets/widgets.h"

#include <span>
#include <vector>

namespace decoderscope {

// What a column of a table needs.
struct ColumnNeeds {
    float cells = 0.0F;    // the widest cell
    float word = 0.0F;     // the widest word of its heading
    float heading = 0.0F;  // the heading in one line
};

// How wide the columns are in this much room, without the gaps between them: headings break into lines before a cell
// is cut; where even that is too wide, the widest column is cut.
[[nodiscard]] std::vector<float> column_widths(std::span<const ColumnNeeds> columns, float room);

// A table of a lesson in the panel's flow.
void draw_lesson_table(const Ui& ui, const lessons::ShownTable& table);

}  // namespace decoderscope

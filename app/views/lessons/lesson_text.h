#pragma once

#include "app/core/lessons/page.h"
#include "app/core/lessons/prose.h"
#include "app/views/widgets/widgets.h"

#include <span>
#include <vector>

namespace decoderscope::views::lesson_panel {

// A text of a lesson in as many lines as the width needs: words, emphasis, code and computed numbers. Draws it at `at`
// and returns its height; without `draws` it only measures.
float draw_spans(const Ui& ui, const core::lessons::Shown& text, ImVec2 at, float width, ImU32 color,
                 bool draws = true);

// Draws the same text in the panel's flow, indented by `indent`.
void spans_line(const Ui& ui, const core::lessons::Shown& text, ImU32 color, float indent = 0.0F);

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
void draw_lesson_table(const Ui& ui, const core::lessons::ShownTable& table);

}  // namespace decoderscope::views::lesson_panel

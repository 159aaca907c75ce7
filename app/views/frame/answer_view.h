#pragma once

#include "app/core/answer/answer.h"
#include "app/core/answer/table.h"
#include "app/core/generate/prediction.h"
#include "app/views/frame/commands.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/heatmap_view.h"
#include "app/views/widgets/widgets.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// What a person does with a table: clicks on the title that it is to be sorted by, in English, or "order" for as it
// came; or on a row.
struct TableGesture {
    std::optional<std::string> sort;
    std::optional<std::size_t> row;
};

// How a table is used: `tip` says more of the row under the mouse, `scroll` may scroll within the part that scrolls, of
// the height that it is given (widgets.h).
struct TableUse {
    std::string_view here = {};                        // the step whose row is lit
    std::optional<std::size_t> chosen = std::nullopt;  // the row that is marked
    std::function<void(std::size_t)> tip = nullptr;
    std::function<void(float)> scroll = nullptr;
};

// An answer in rows, below its notes: they scroll, with bars under or beside their numbers, or marks.
[[nodiscard]] TableGesture draw_table(const Ui& ui, const char* id, const core::Table& table, Area area,
                                      const TableUse& use = {});
// The height of its titles, and of a row.
[[nodiscard]] float table_line(const Ui& ui);

// An answer in matrices: heatmaps with the same rows and columns, which show the same cells.
struct Matrices {
    std::span<const core::Heatmap* const> heatmaps;
    std::uint64_t key = 0;      // of the first one's texture and widget; the others have the next ones
    std::uint64_t version = 0;  // changes with the values
    ImU32 color = 0;
    bool stale = false;
    std::optional<Spot> selected = std::nullopt;
    const std::vector<std::uint8_t>* marked = nullptr;  // cells of the last one
};

struct MatricesGesture {
    HeatmapGesture pointed;  // of the one under the mouse
    Area cells;              // around the cells of all
    std::optional<Spot> clicked;
};

// Draws each into its area; all share zoom and position, and the cell that was pointed at is lit in all. `hovered` is
// kept by the caller from frame to frame.
MatricesGesture draw_matrices(const Ui& ui, const Matrices& matrices, ViewState& state, std::span<const Area> areas,
                              std::optional<Spot>& hovered);

// Where pictures of this shape stand: three side by side; where the rows are long, two above one.
[[nodiscard]] std::vector<Area> areas_of_three(const Ui& ui, const core::Heatmap& heatmap, Area area);

// What a run says next in a row of its batch: the end of the text, the most probable token and how probable it is, in
// the panel's flow. `letter` stands before it, where two are compared. Nothing where the model predicts no tokens or a
// logit is NaN.
void answer_box(const Ui& ui, core::Derived& derived, const core::Scenario& scenario,
                const std::shared_ptr<const Run>& run, Index batch, std::string_view letter = {});

}  // namespace decoderscope::views

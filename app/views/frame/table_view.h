#pragma once

#include "app/core/answer/table.h"
#include "app/views/widgets/widgets.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace decoderscope::views {

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
// The height that it has without scrolling, and without notes.
[[nodiscard]] float table_height(const Ui& ui, const core::Table& table);

}  // namespace decoderscope::views

#include "app/core/report/heatmap_table.h"

#include "app/core/text/numbers.h"
#include "engine/translate.h"

#include <algorithm>

namespace decoderscope {

namespace {

constexpr Index kMostCells = 1024;
constexpr Index kMostColumns = 64;

// "query 2 “r”", or "d_model 5" where the label is just the index.
std::string heading(const std::string& axis, const std::vector<std::string>& labels, Index at) {
    const std::string index = std::to_string(at), &label = labels[static_cast<std::size_t>(at)];
    const std::string number = label == index ? index : tr("{index} “{token}”", {{"index", index}, {"token", label}});
    return axis.empty() ? number : tr("{axis} {index}", {{"axis", axis}, {"index", number}});
}

std::string caption_of(const Heatmap& heatmap, Index rows, Index columns) {
    const std::string name = heatmap.subtitle.empty()
                                 ? heatmap.title
                                 : tr("{tensor}, {place}", {{"tensor", heatmap.title}, {"place", heatmap.subtitle}});
    if (rows == heatmap.rows && columns == heatmap.columns) return name;
    return tr(
        "{name}: the first {rows} of {all_rows} rows and {columns} of {all_columns} columns; the rest is left "
        "out here, export it as CSV",
        {{"name", name},
         {"rows", rows},
         {"all_rows", heatmap.rows},
         {"columns", columns},
         {"all_columns", heatmap.columns}});
}

}  // namespace

Page::Table table_of(const Heatmap& heatmap) {
    const Index columns = std::min(heatmap.columns, kMostColumns);
    const Index rows = std::min(heatmap.rows, std::max<Index>(1, kMostCells / std::max<Index>(1, columns)));
    Page::Table table{caption_of(heatmap, rows, columns), {heatmap.row_axis}, {}};
    for (Index column = 0; column < columns; ++column)
        table.columns.push_back(heading(heatmap.column_axis, heatmap.column_labels, column));
    for (Index row = 0; row < rows; ++row) {
        std::vector<std::vector<Page::Text>>& cells = table.rows.emplace_back();
        cells.push_back({{heading(heatmap.row_axis, heatmap.row_labels, row), ""}});
        for (Index column = 0; column < columns; ++column) {
            const auto at = static_cast<std::size_t>(row * heatmap.columns + column);
            const std::string number = heatmap.texts.empty()
                                           ? short_number_text(static_cast<double>(heatmap.values[at]), 4)
                                           : heatmap.texts[at];
            const bool hidden = !heatmap.hidden.empty() && heatmap.hidden[at] != hidden_by::nothing;
            cells.push_back({{hidden ? tr("{number}, masked", {{"number", number}}) : number, ""}});
        }
    }
    return table;
}

}  // namespace decoderscope

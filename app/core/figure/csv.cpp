#include "app/core/figure/csv.h"

#include "app/core/figure/json.h"
#include "app/core/text/characters.h"

#include <array>
#include <charconv>
#include <cmath>
#include <ostream>
#include <string>

namespace decoderscope::core {
namespace {

constexpr const char* line_end = "\r\n";

// "causal", "causal+padding"; empty if nothing hides the cell.
std::string masked_text(const Heatmap& heatmap, std::size_t at) {
    std::string text;
    for (const std::string_view cause : mask_causes(heatmap.hidden.empty() ? hidden_by::nothing : heatmap.hidden[at]))
        text += (text.empty() ? "" : "+") + std::string(cause);
    return text;
}

template <class Number>
std::string value_text(Number value) {
    if (std::isnan(value)) return "nan";
    std::array<char, 64> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    return {buffer.data(), end.ptr};
}

void write_cells(std::ostream& out, const Panel& panel) {
    const Heatmap heatmap = panel.heatmap();
    std::size_t at = 0;
    for (Index row = 0; row < heatmap.rows; ++row) {
        for (Index column = 0; column < heatmap.columns; ++column, ++at) {
            out << csv_field(panel.tensor) << "," << csv_field(heatmap.subtitle) << "," << row << "," << column << ","
                << csv_field(heatmap.row_labels[static_cast<std::size_t>(row)]) << ","
                << csv_field(heatmap.column_labels[static_cast<std::size_t>(column)]) << ","
                << value_text(heatmap.values[at]) << "," << masked_text(heatmap, at);
            out << line_end;
        }
    }
}

void write_points(std::ostream& out, const Chart& chart) {
    for (const ChartCurve& curve : chart.curves)
        for (const DepthPoint& point : curve.curve.points)
            out << csv_field(chart.name) << "," << csv_field(curve.run) << "," << csv_field(curve.curve.name) << ","
                << csv_field(point.step) << "," << value_text(point.depth) << "," << value_text(point.value)
                << line_end;
}

}  // namespace

std::string csv_field(const std::string& text) {
    const std::string valid = valid_utf8(text);
    if (valid.find_first_of(",\"\r\n") == std::string::npos) return valid;
    std::string quoted = "\"";
    for (const char c : valid) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
}

void write_csv(std::ostream& out, const Exhibit& exhibit) {
    if (exhibit.panels.size() == 1 && exhibit.charts.empty()) return write_csv(out, exhibit.panels.front().heatmap());
    if (!exhibit.panels.empty()) out << "tensor,place,row,column,row label,column label,value,masked" << line_end;
    for (const Panel& panel : exhibit.panels) write_cells(out, panel);
    if (!exhibit.panels.empty() && !exhibit.charts.empty()) out << line_end;
    if (!exhibit.charts.empty()) out << "chart,run,curve,step,depth,value" << line_end;
    for (const Chart& chart : exhibit.charts) write_points(out, chart);
}

void write_csv(std::ostream& out, const Heatmap& heatmap) {
    out << csv_field(heatmap.row_axis + "\\" + heatmap.column_axis);
    for (const std::string& label : heatmap.column_labels) out << "," << csv_field(label);
    out << line_end;
    for (Index row = 0; row < heatmap.rows; ++row) {
        out << csv_field(heatmap.row_labels[static_cast<std::size_t>(row)]);
        for (Index column = 0; column < heatmap.columns; ++column) out << "," << value_text(heatmap.at(row, column));
        out << line_end;
    }
}

}  // namespace decoderscope::core

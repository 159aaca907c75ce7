#include "app/core/figure/csv_and_json.h"

#include "app/core/text/characters.h"
#include "engine/base/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ostream>
#include <span>

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
    const auto number = [](const std::vector<Index>& kept, Index at) {
        return kept.empty() ? at : kept[static_cast<std::size_t>(at)];
    };
    std::size_t at = 0;
    for (Index row = 0; row < heatmap.rows; ++row) {
        for (Index column = 0; column < heatmap.columns; ++column, ++at) {
            out << csv_field(panel.tensor) << "," << csv_field(heatmap.subtitle) << ","
                << number(heatmap.kept_rows, row) << "," << number(heatmap.kept_columns, column) << ","
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

// JSON that keeps keys in the order they are set in, and numbers as floats: 0.1 stays 0.1.
using FloatJson =
    nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, std::int64_t, std::uint64_t, float>;

FloatJson json_number(float value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
    return value;
}

FloatJson causes(std::uint8_t hidden) {
    FloatJson list = FloatJson::array();
    for (const std::string_view cause : mask_causes(hidden)) list.push_back(cause);
    return list;
}

// [row][column] of what `of` returns for each element, without the sink's column.
template <class T, class Function>
FloatJson matrix(const Heatmap& heatmap, const std::vector<T>& elements, Function of) {
    FloatJson rows = FloatJson::array();
    for (Index row = 0; row < heatmap.rows; ++row) {
        FloatJson line = FloatJson::array();
        for (Index column = 0; column < heatmap.own_columns(); ++column) {
            line.push_back(of(elements[static_cast<std::size_t>(row * heatmap.columns + column)]));
        }
        rows.push_back(std::move(line));
    }
    return rows;
}

FloatJson labels(std::span<const std::string> texts) {
    FloatJson list = FloatJson::array();
    for (const std::string& text : texts) list.push_back(valid_utf8(text));
    return list;
}

FloatJson object_of(const Heatmap& heatmap) {
    FloatJson object;
    object["tensor"] = valid_utf8(heatmap.title);
    object["subtitle"] = valid_utf8(heatmap.subtitle);
    object["row_axis"] = valid_utf8(heatmap.row_axis);
    object["column_axis"] = valid_utf8(heatmap.column_axis);
    object["rows"] = labels(heatmap.row_labels);
    object["columns"] = labels(std::span(heatmap.column_labels).first(static_cast<std::size_t>(heatmap.own_columns())));
    object["scale"] = heatmap.scale == Scale::sequential ? "sequential" : "diverging";
    object["range"] = FloatJson::array({json_number(heatmap.range.low), json_number(heatmap.range.high)});
    object["values"] = matrix(heatmap, heatmap.values, json_number);
    if (heatmap.has_sink) {
        object["sink"] = FloatJson::array();
        for (Index row = 0; row < heatmap.rows; ++row)
            object["sink"].push_back(json_number(heatmap.at(row, heatmap.own_columns())));
    }
    if (!heatmap.kept_rows.empty()) {
        object["kept_rows"] = heatmap.kept_rows;
        object["kept_columns"] = heatmap.kept_columns;
    }
    const bool masked = std::any_of(heatmap.hidden.begin(), heatmap.hidden.end(), hidden_by::masked);
    if (masked) object["masked"] = matrix(heatmap, heatmap.hidden, causes);
    if (!heatmap.vanished.empty())
        object["vanished"] = matrix(heatmap, heatmap.vanished, [](std::uint8_t vanished) { return vanished != 0; });
    for (const NotedCell& note : heatmap.notes) {
        FloatJson one = {{"row", note.row}};
        if (note.column) one["column"] = *note.column;
        one["text"] = valid_utf8(note.text);
        object["notes"].push_back(std::move(one));
    }
    if (!heatmap.texts.empty())
        object["texts"] = matrix(heatmap, heatmap.texts, [](const std::string& text) { return valid_utf8(text); });
    return object;
}

// A list of lists gets one line per inner list, anything else one line.
void write_value(std::ostream& out, const FloatJson& value) {
    const bool is_matrix = value.is_array() && !value.empty() && value.front().is_array();
    if (!is_matrix) {
        out << value.dump();
        return;
    }
    const char* before = "[\n    ";
    for (const FloatJson& row : value) {
        out << before << row.dump();
        before = ",\n    ";
    }
    out << "\n  ]";
}

// An object with one line per key.
void write_object(std::ostream& out, const FloatJson& object) {
    const char* before = "{\n  ";
    for (const auto& [key, value] : object.items()) {
        out << before << FloatJson(key).dump() << ": ";
        write_value(out, value);
        before = ",\n  ";
    }
    out << "\n}";
}

FloatJson curve_of(const ChartCurve& curve) {
    FloatJson object;
    object["run"] = curve.run;
    object["curve"] = curve.curve.name;
    object["steps"] = FloatJson::array();
    object["depths"] = FloatJson::array();
    object["values"] = FloatJson::array();
    for (const DepthPoint& point : curve.curve.points) {
        object["steps"].push_back(point.step);
        object["depths"].push_back(json_number(static_cast<float>(point.depth)));
        object["values"].push_back(json_number(static_cast<float>(point.value)));
    }
    return object;
}

FloatJson chart_of(const Chart& chart) {
    FloatJson object;
    object["chart"] = chart.name;
    object["title"] = chart.title;
    object["measure"] = chart.caption;
    object["blocks"] = chart.blocks;
    object["curves"] = FloatJson::array();
    for (const ChartCurve& curve : chart.curves) object["curves"].push_back(curve_of(curve));
    return object;
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
    if (exhibit.panels.size() == 1 && exhibit.charts.empty())
        return write_csv(out, exhibit.panels.front().heatmap(), exhibit.panels.front().part);
    if (!exhibit.panels.empty()) out << "tensor,place,row,column,row label,column label,value,masked" << line_end;
    for (const Panel& panel : exhibit.panels) write_cells(out, panel);
    if (!exhibit.panels.empty() && !exhibit.charts.empty()) out << line_end;
    if (!exhibit.charts.empty()) out << "chart,run,curve,step,depth,value" << line_end;
    for (const Chart& chart : exhibit.charts) write_points(out, chart);
}

void write_csv(std::ostream& out, const Heatmap& heatmap, const std::string& part) {
    out << csv_field(heatmap.row_axis + "\\" + heatmap.column_axis + (part.empty() ? "" : " (" + part + ")"));
    for (const std::string& label : heatmap.column_labels) out << "," << csv_field(label);
    out << line_end;
    for (Index row = 0; row < heatmap.rows; ++row) {
        out << csv_field(heatmap.row_labels[static_cast<std::size_t>(row)]);
        for (Index column = 0; column < heatmap.columns; ++column) out << "," << value_text(heatmap.at(row, column));
        out << line_end;
    }
}

std::vector<std::string_view> mask_causes(std::uint8_t hidden) {
    constexpr std::array<std::string_view, 7> names = {"causal",   "window", "padding", "custom",
                                                       "segments", "hand",   "no key"};
    std::vector<std::string_view> causes;
    for (std::size_t i = 0; i < names.size(); ++i)
        if ((hidden >> i & 1U) != 0) causes.push_back(names[i]);
    return causes;
}

void write_json(std::ostream& out, const Heatmap& heatmap) {
    write_object(out, object_of(heatmap));
    out << "\n";
}

void write_json(std::ostream& out, const Exhibit& exhibit) {
    if (exhibit.panels.size() == 1 && exhibit.charts.empty()) {
        FloatJson object = object_of(exhibit.panels.front().heatmap());
        if (!exhibit.caption.empty()) object["caption"] = valid_utf8(exhibit.caption);
        write_object(out, object);
        out << "\n";
        return;
    }
    out << "{\"title\": " << FloatJson(valid_utf8(exhibit.title)).dump()
        << ",\n\"caption\": " << FloatJson(valid_utf8(exhibit.caption)).dump();
    const char* before = ",\n\"heatmaps\": [\n";
    for (const Panel& panel : exhibit.panels) {
        out << before;
        write_object(out, object_of(panel.heatmap()));
        before = ",\n";
    }
    if (!exhibit.panels.empty()) out << "]";
    before = ",\n\"charts\": [\n";
    for (const Chart& chart : exhibit.charts) {
        out << before;
        write_object(out, chart_of(chart));
        before = ",\n";
    }
    if (!exhibit.charts.empty()) out << "]";
    out << "}\n";
}

}  // namespace decoderscope::core

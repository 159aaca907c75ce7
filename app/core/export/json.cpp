#include "app/core/export/json.h"

#include "app/core/export/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <string_view>

namespace decoderscope {
namespace {

// JSON with keys in the order in which they are set, and with numbers as floats: 0.1 stays 0.1.
using Json =
    nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, std::int64_t, std::uint64_t, float>;

Json number(float value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
    return value;
}

Json causes(std::uint8_t hidden) {
    constexpr std::array<std::string_view, 4> names = {"causal", "padding", "custom", "hand"};
    Json list = Json::array();
    for (std::size_t i = 0; i < names.size(); ++i) {
        if ((hidden >> i & 1U) != 0) list.push_back(names[i]);
    }
    return list;
}

// [row][column] of what `of` makes of each element.
template <class T, class Function>
Json matrix(const Heatmap& heatmap, const std::vector<T>& elements, Function of) {
    Json rows = Json::array();
    for (Index row = 0; row < heatmap.rows; ++row) {
        Json line = Json::array();
        for (Index column = 0; column < heatmap.columns; ++column) {
            line.push_back(of(elements[static_cast<std::size_t>(row * heatmap.columns + column)]));
        }
        rows.push_back(std::move(line));
    }
    return rows;
}

Json labels(const std::vector<std::string>& texts) {
    Json list = Json::array();
    for (const std::string& text : texts) list.push_back(valid_utf8(text));
    return list;
}

Json object_of(const Heatmap& heatmap) {
    Json object;
    object["tensor"] = valid_utf8(heatmap.title);
    object["subtitle"] = valid_utf8(heatmap.subtitle);
    object["row_axis"] = valid_utf8(heatmap.row_axis);
    object["column_axis"] = valid_utf8(heatmap.column_axis);
    object["rows"] = labels(heatmap.row_labels);
    object["columns"] = labels(heatmap.column_labels);
    object["scale"] = heatmap.scale == Scale::sequential ? "sequential" : "diverging";
    object["range"] = Json::array({number(heatmap.range.low), number(heatmap.range.high)});
    object["values"] = matrix(heatmap, heatmap.values, number);
    const bool masked = std::any_of(heatmap.hidden.begin(), heatmap.hidden.end(), [](auto cell) { return cell != 0; });
    if (masked) object["masked"] = matrix(heatmap, heatmap.hidden, causes);
    return object;
}

// A list of lists stands on a line for each of them, anything else on one line.
void write_value(std::ostream& out, const Json& value) {
    const bool is_matrix = value.is_array() && !value.empty() && value.front().is_array();
    if (!is_matrix) {
        out << value.dump();
        return;
    }
    const char* before = "[\n    ";
    for (const Json& row : value) {
        out << before << row.dump();
        before = ",\n    ";
    }
    out << "\n  ]";
}

}  // namespace

void write_json(std::ostream& out, const Heatmap& heatmap) {
    const char* before = "{\n  ";
    const Json object = object_of(heatmap);
    for (const auto& [key, value] : object.items()) {
        out << before << Json(key).dump() << ": ";
        write_value(out, value);
        before = ",\n  ";
    }
    out << "\n}\n";
}

}  // namespace decoderscope

#include "app/core/export/csv.h"

#include "app/core/export/text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <ostream>
#include <string>

namespace decoderscope {
namespace {

constexpr const char* line_end = "\r\n";

std::string value_text(float value) {
    if (std::isnan(value)) return "nan";
    std::array<char, 64> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    return {buffer.data(), end.ptr};
}

// A field in quotes where it holds what would end it.
std::string field(const std::string& text) {
    const std::string valid = valid_utf8(text);
    if (valid.find_first_of(",\"\r\n") == std::string::npos) return valid;
    std::string quoted = "\"";
    for (const char c : valid) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
}

}  // namespace

void write_csv(std::ostream& out, const Heatmap& heatmap) {
    out << field(heatmap.row_axis + "\\" + heatmap.column_axis);
    for (const std::string& label : heatmap.column_labels) out << "," << field(label);
    out << line_end;
    for (Index row = 0; row < heatmap.rows; ++row) {
        out << field(heatmap.row_labels[static_cast<std::size_t>(row)]);
        for (Index column = 0; column < heatmap.columns; ++column) out << "," << value_text(heatmap.at(row, column));
        out << line_end;
    }
}

}  // namespace decoderscope

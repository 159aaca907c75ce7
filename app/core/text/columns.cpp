#include "app/core/text/columns.h"

#include "app/core/text/characters.h"

#include <algorithm>
#include <ostream>

namespace decoderscope::core {

namespace {

std::size_t columns_of(const std::string& text) { return characters(text).size(); }

}  // namespace

void write_columns(std::ostream& out, const std::vector<std::vector<std::string>>& rows, std::size_t texts) {
    if (rows.empty()) return;
    std::vector<std::size_t> widths(rows.front().size());
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns_of(row[i]));
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string space(widths[i] - columns_of(row[i]), ' ');
            line += (i == 0 ? "" : "  ") + (i < texts ? row[i] + space : space + row[i]);
        }
        out << line.substr(0, line.find_last_not_of(' ') + 1) << '\n';
    }
}

}  // namespace decoderscope::core

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::core {

// One record of a CSV file (RFC 4180).
struct CsvRecord {
    std::vector<std::string> fields;  // without the blanks around them
    int line = 0;                     // where it begins, from 1
};

// The records of a text; empty lines are left out. A comma in brackets doesn't end a field, so that a cell's name needs
// no quotes. Throws Error naming `path` and the line if a quoted field doesn't end, or if there are more than `most`
// records.
[[nodiscard]] std::vector<CsvRecord> read_csv(std::string_view text, const std::string& path, std::size_t most);

}  // namespace decoderscope::core

#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

namespace decoderscope::core {

// A table for a terminal, a line for each row: columns side by side, the first `texts` of them aligned to the left and
// the others, which are numbers, to the right. All rows have as many columns.
void write_columns(std::ostream& out, const std::vector<std::vector<std::string>>& rows, std::size_t texts);

}  // namespace decoderscope::core

#pragma once

#include "engine/error.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope::lessons {

// A line of a lesson's block: "key: value".
struct BlockLine {
    std::string key, value;
    int line = 0;
};

// The lines of a block whose contents begin at `line` of the file. Throws Error with the line.
[[nodiscard]] std::vector<BlockLine> read_block_lines(const std::string& contents, int line, const std::string& path);

// Runs `work`; an Error gets the file and the line in front.
template <class Work>
auto at_line(const std::string& path, int line, Work work) {
    return naming(path + ":" + std::to_string(line), work);
}

}  // namespace decoderscope::lessons

#pragma once

#include <algorithm>
#include <span>

namespace decoderscope {

// Code points from the first to the last.
struct CodeRange {
    char32_t first, last;
};

[[nodiscard]] inline bool is_in(char32_t code, std::span<const CodeRange> ranges) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [code](const CodeRange& range) { return code >= range.first && code <= range.last; });
}

}  // namespace decoderscope

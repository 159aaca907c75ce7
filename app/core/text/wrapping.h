#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope {

// A text broken at its spaces into lines of at most `width`, as measured by `measure(const std::string&)`. A wider word
// gets its own line. The last of `most` lines takes the rest, however wide. An empty text has no lines.
template <class Width, class Measure>
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, Width width, Measure measure,
                                               std::size_t most = std::numeric_limits<std::size_t>::max()) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        std::string word(text.substr(at, end - at));
        std::string longer = lines.empty() ? word : lines.back() + " " + word;
        if (lines.empty() || (lines.size() < most && measure(longer) > width))
            lines.push_back(std::move(word));
        else
            lines.back() = std::move(longer);
        at = end + 1;
    }
    return lines;
}

}  // namespace decoderscope

#include "app/core/lessons/block_lines.h"

#include "app/core/text/trimmed.h"
#include "app/core/text/wrapping.h"

#include <cctype>
#include <sstream>

namespace decoderscope::lessons {

namespace {

constexpr std::string_view kBlanks = " \t\r";

bool is_key(std::string_view text) {
    if (text.empty()) return false;
    for (const char c : text)
        if (std::islower(static_cast<unsigned char>(c)) == 0 && c != '_') return false;
    return true;
}

}  // namespace

std::vector<BlockLine> read_block_lines(const std::string& contents, int line, const std::string& path) {
    std::vector<BlockLine> lines;
    std::istringstream in(contents);
    for (std::string text; std::getline(in, text); ++line) {
        const std::string whole(trimmed(text, kBlanks));
        if (whole.empty() || text.starts_with('#')) continue;
        if (text.starts_with("  ")) {
            at_line(path, line, [&] {
                if (lines.empty()) throw Error("a line begins with spaces; expected a key first");
            });
            std::string& value = lines.back().value;
            if (!value.empty()) value += between_lines(value, whole);
            value += whole;
            continue;
        }
        const auto colon = text.find(':');
        const std::string key = text.substr(0, colon);
        at_line(path, line, [&] {
            if (colon == std::string::npos || !is_key(key))
                throw Error("\"{text}\"; expected \"key: value\", or two spaces before what goes on",
                            {{"text", whole}});
        });
        lines.push_back({key, std::string(trimmed(std::string_view(text).substr(colon + 1), kBlanks)), line});
    }
    return lines;
}

}  // namespace decoderscope::lessons

#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::core {

// The largest width that a text can have, in em: a safe upper estimate for Inter, Helvetica, Arial and DejaVu Sans (or,
// monospaced, JetBrains Mono and DejaVu Sans Mono), so that a layout fits whichever of them is installed.
[[nodiscard]] double text_width_em(std::string_view text, bool bold, bool monospace);

// The text, or as much of its beginning as fits in `width_em` together with "…".
[[nodiscard]] std::string elided(std::string_view text, double width_em, bool bold, bool monospace);

// A part of a text that stays on one line.
struct TextPiece {
    std::size_t begin = 0, size = 0;  // in bytes
    bool spaced = false;              // a space comes before it, unless it begins a line
    bool new_line = false;            // begins a line in any case
    bool operator==(const TextPiece&) const = default;
};

// Cuts a text where a line may end: at spaces, at line breaks, and around Chinese and Japanese characters, which are
// written without spaces; but no line begins with a closing mark or ends with an opening one.
[[nodiscard]] std::vector<TextPiece> pieces_of(std::string_view text);

// What a line break in a source stands for: a space, but nothing between Chinese or Japanese characters.
[[nodiscard]] std::string_view between_lines(std::string_view above, std::string_view below);

// A text broken into lines of at most `width`, as measured by `measure(const std::string&)`. A wider word gets its own
// line. The last of `most` lines takes the rest, however wide. An empty text has no lines.
template <class Width, class Measure>
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, Width width, Measure measure,
                                               std::size_t most = std::numeric_limits<std::size_t>::max()) {
    std::vector<std::string> lines;
    for (const TextPiece& piece : pieces_of(text)) {
        const std::string_view word = text.substr(piece.begin, piece.size);
        std::string longer = (lines.empty() ? std::string() : lines.back() + (piece.spaced ? " " : "")).append(word);
        const bool breaks = lines.size() < most && (piece.new_line || measure(longer) > width);
        if (lines.empty() || breaks)
            lines.emplace_back(word);
        else
            lines.back() = std::move(longer);
    }
    return lines;
}

}  // namespace decoderscope::core

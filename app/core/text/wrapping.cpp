#include "app/core/text/wrapping.h"

#include "app/core/text/scripts.h"
#include "app/core/text/utf8.h"

#include <optional>

namespace decoderscope {

namespace {

bool is_one_of(char32_t code, std::u32string_view marks) { return marks.find(code) != std::u32string_view::npos; }

// Marks that no line begins with, and marks that no line ends with.
bool closes(char32_t code) { return is_one_of(code, U",.;:!?%)]}…—·”’、。，．；：！？％）】》〉」』〕々ー～"); }
bool opens(char32_t code) { return is_one_of(code, U"([{“‘（【《〈「『〔"); }

// Whether a line may end between two characters that no space separates.
bool may_break(char32_t left, char32_t right) {
    return (is_unspaced(left) || is_unspaced(right)) && !closes(right) && !opens(left);
}

}  // namespace

std::vector<TextPiece> pieces_of(std::string_view text) {
    std::vector<TextPiece> pieces;
    std::optional<char32_t> last;  // of the piece; nothing where the next one begins
    bool spaced = false, new_line = false;
    std::size_t at = 0;
    for (const Utf8Character& character : characters(text)) {
        const std::size_t size = character.bytes.size();
        if (character.code == ' ' || character.code == '\n') {
            const bool line_break = character.code == '\n';
            // The second space or line break in a row: nothing stands between them.
            if (!last && !pieces.empty() && (line_break ? new_line : spaced)) {
                pieces.push_back({at, 0, spaced, new_line});
                new_line = false;
            }
            spaced = !line_break;
            new_line = new_line || line_break;
            last.reset();
        } else {
            if (!last || may_break(*last, character.code)) {
                pieces.push_back({at, 0, spaced, new_line});
                spaced = new_line = false;
            }
            pieces.back().size += size;
            last = character.code;
        }
        at += size;
    }
    return pieces;
}

std::string_view between_lines(std::string_view above, std::string_view below) {
    const std::vector<Utf8Character> left = characters(above);
    if (left.empty() || below.empty()) return " ";
    return is_unspaced(left.back().code) && is_unspaced(character_at(below, 0).code) ? "" : " ";
}

}  // namespace decoderscope

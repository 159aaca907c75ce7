#include "app/core/text/text_layout.h"

#include "app/core/text/characters.h"

#include <array>
#include <cstdint>

namespace decoderscope::core {

namespace {

constexpr char32_t minus_sign = 0x2212, infinity_sign = 0x221E, ellipsis = 0x2026;

bool takes_no_room(char32_t code) {
    constexpr std::array<CodeRange, 7> ranges = {{{0x0300, 0x036F},
                                                  {0x1AB0, 0x1AFF},
                                                  {0x200B, 0x200F},
                                                  {0x20D0, 0x20FF},
                                                  {0xFE00, 0xFE0F},
                                                  {0xFE20, 0xFE2F},
                                                  {0xE0100, 0xE01EF}}};
    return is_in(code, ranges);
}

bool is_emoji(char32_t code) {
    constexpr std::array<CodeRange, 2> ranges = {{{0x2600, 0x27BF}, {0x1F000, 0x1FAFF}}};
    return is_in(code, ranges);
}

// The widest of Inter, Nimbus Sans (Helvetica, Arial) and DejaVu Sans, in thousandths of an em, from ' ' to '~'.
constexpr std::array<std::int16_t, 95> ascii_widths = {
    318, 401, 460, 838, 638, 951, 780, 275, 391, 391, 500, 838, 318, 461,  318, 357, 637, 637, 637,
    637, 643, 637, 637, 637, 637, 637, 337, 337, 838, 838, 838, 556, 1015, 685, 687, 728, 771, 667,
    611, 778, 752, 295, 543, 667, 563, 890, 753, 788, 667, 788, 722, 667,  643, 742, 685, 989, 686,
    667, 686, 391, 357, 391, 838, 556, 500, 613, 635, 559, 635, 616, 361,  635, 634, 278, 278, 580,
    278, 975, 634, 612, 635, 635, 412, 523, 393, 634, 592, 818, 592, 592,  542, 637, 337, 637, 838};

double proportional_width(char32_t code) {
    if (code >= ' ' && code <= '~') return ascii_widths[code - U' '] / 1000.0;
    if (is_emoji(code)) return 1.4;
    if (code == minus_sign || code == infinity_sign) return 0.97;
    return 1.1;
}

bool is_in_monospaced_fonts(char32_t code) {
    return code < 0x0530 || code == minus_sign || code == infinity_sign || code == ellipsis;
}

double character_width(char32_t code, bool bold, bool monospace) {
    if (takes_no_room(code)) return 0.0;
    if (monospace && is_in_monospaced_fonts(code)) return 0.61;
    return proportional_width(code) * (bold ? 1.2 : 1.0);
}

bool is_one_of(char32_t code, std::u32string_view marks) { return marks.find(code) != std::u32string_view::npos; }

// Marks that no line begins with, and marks that no line ends with.
bool closes(char32_t code) { return is_one_of(code, U",.;:!?%)]}…—·”’、。，．；：！？％）】》〉」』〕々ー～"); }
bool opens(char32_t code) { return is_one_of(code, U"([{“‘（【《〈「『〔"); }

// Whether a line may end between two characters that no space separates.
bool may_break(char32_t left, char32_t right) {
    return (is_unspaced(left) || is_unspaced(right)) && !closes(right) && !opens(left);
}

}  // namespace

double text_width_em(std::string_view text, bool bold, bool monospace) {
    double width = 0.0;
    for (const Utf8Character& character : characters(text)) width += character_width(character.code, bold, monospace);
    return width;
}

std::string elided(std::string_view text, double width_em, bool bold, bool monospace) {
    if (text_width_em(text, bold, monospace) <= width_em) return std::string(text);
    constexpr std::string_view dots = "…";
    double room = width_em - text_width_em(dots, bold, monospace);
    std::string kept;
    for (const Utf8Character& character : characters(text)) {
        room -= character_width(character.code, bold, monospace);
        if (room < 0) break;
        kept += character.bytes;
    }
    return kept.append(dots);
}

std::vector<TextPiece> pieces_of(std::string_view text) {
    std::vector<TextPiece> pieces;
    char32_t last = 0;   // of the piece
    bool begins = true;  // the next character begins a piece
    bool spaced = false, new_line = false;
    std::size_t at = 0;
    for (const Utf8Character& character : characters(text)) {
        const std::size_t size = character.bytes.size();
        if (character.code == ' ' || character.code == '\n') {
            const bool line_break = character.code == '\n';
            // The second space or line break in a row: nothing stands between them.
            if (begins && !pieces.empty() && (line_break ? new_line : spaced)) {
                pieces.push_back({at, 0, spaced, new_line});
                new_line = false;
            }
            spaced = !line_break;
            new_line = new_line || line_break;
            begins = true;
        } else {
            if (begins || may_break(last, character.code)) {
                pieces.push_back({at, 0, spaced, new_line});
                spaced = new_line = false;
            }
            pieces.back().size += size;
            last = character.code;
            begins = false;
        }
        at += size;
    }
    return pieces;
}

std::string_view between_lines(std::string_view above, std::string_view below) {
    if (above.empty() || below.empty()) return " ";
    std::size_t last = above.size() - 1;  // where its last character begins
    while (last > 0 && (static_cast<unsigned char>(above[last]) & 0xC0U) == 0x80U) --last;
    return is_unspaced(character_at(above, last).code) && is_unspaced(character_at(below, 0).code) ? "" : " ";
}

}  // namespace decoderscope::core

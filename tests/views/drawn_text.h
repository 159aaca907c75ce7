#pragma once

#include <imgui.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::testing {

// A piece of text as it was drawn: neighbouring glyphs of one line, without those clipped away.
struct DrawnText {
    std::string text;      // spaces are not drawn, and so are missing
    ImVec2 low, high;      // of its glyphs, as far as they can be seen
    std::vector<float> x;  // the middle of the glyph that each byte of the text belongs to
    ImU32 color = 0;       // of its first glyph

    [[nodiscard]] ImVec2 middle() const { return {(low.x + high.x) * 0.5F, (low.y + high.y) * 0.5F}; }
    // The middle of a part of it.
    [[nodiscard]] ImVec2 middle_of(std::string_view part) const;
};

// A text as it is drawn.
inline std::string without_spaces(std::string text) {
    std::erase(text, ' ');
    return text;
}

// The text of a rendered frame, read back from its vertices: each glyph is identified by its corner in the font's
// texture. So a test sees what a user would see, whatever drew it.
// Turned text isn't among it.
[[nodiscard]] std::vector<DrawnText> drawn_text(const ImDrawData& frame, const ImFontAtlas& atlas);
// The text that is turned, as labels that lean.
[[nodiscard]] std::vector<DrawnText> turned_text(const ImDrawData& frame, const ImFontAtlas& atlas);

// The first piece that contains `part` (without spaces), by value, as each frame makes a new list.
[[nodiscard]] std::optional<DrawnText> find_text(const std::vector<DrawnText>& pieces, std::string_view part);

}  // namespace decoderscope::testing

#include "app/views/widgets/prose.h"

#include "app/core/text/utf8.h"
#include "app/core/text/wrapping.h"
#include "app/views/widgets/imgui_compat.h"

#include <limits>

namespace decoderscope {

namespace {

// Not ImGui's own wrapping, which would break a number at its decimal point. Returns the y below the lines.
float draw_lines(const Ui& ui, ImFont* font, ImVec2 at, float width, float pitch, ImU32 color, const std::string& text,
                 std::size_t most) {
    const auto measure = [font](const std::string& line) { return compat::text_size(font, line).x; };
    for (const std::string& line : wrapped(text, width, measure, most)) {
        draw_text(ui, font, at, color, line, width);
        at.y += pitch;
    }
    return at.y;
}

// How much of a word fits: up to a mark where a name may be cut, or as many characters as there is room for.
std::size_t fitting_part(ImFont* font, std::string_view word, float width) {
    std::size_t fits = character_at(word, 0).bytes.size(), after_mark = 0;
    for (std::size_t next = fits; next < word.size(); next += character_at(word, next).bytes.size()) {
        if (compat::text_size(font, word.substr(0, next)).x > width) break;
        fits = next;
        if (std::string_view("./,;:_-").find(word[next - 1]) != std::string_view::npos) after_mark = next;
    }
    return after_mark > 0 ? after_mark : fits;
}

}  // namespace

std::vector<std::string> lines_of(ImFont* font, std::string_view text, float width) {
    std::vector<std::string> lines;
    const auto measure = [font](const std::string& line) { return compat::text_size(font, line).x; };
    for (const std::string& line : wrapped(text, width, measure)) {
        std::string_view rest = line;
        while (!rest.empty() && measure(std::string(rest)) > width) {  // a panel without room has a negative width
            const std::size_t part = fitting_part(font, rest, width);
            if (part >= rest.size()) break;
            lines.emplace_back(rest.substr(0, part));
            rest.remove_prefix(part);
        }
        lines.emplace_back(rest);
    }
    return lines;
}

std::string in_lines(ImFont* font, std::string_view text, float width) {
    std::string broken;
    for (const std::string& line : lines_of(font, text, width)) (broken += broken.empty() ? "" : "\n") += line;
    return broken;
}

float draw_prose(const Ui& ui, ImVec2 at, float width, ImU32 color, const std::string& text, int lines) {
    const float pitch = compat::font_size(ui.fonts.caption) + ui.px(4);
    return draw_lines(ui, ui.fonts.caption, at, width, pitch, color, text, static_cast<std::size_t>(lines));
}

float text_block(const Ui& ui, ImFont* font, ImU32 color, Area area, const std::string& text) {
    const float pitch = compat::font_size(font) + ui.px(3);
    return draw_lines(ui, font, area.low, area.width(), pitch, color, text, std::numeric_limits<std::size_t>::max()) -
           area.low.y;
}

}  // namespace decoderscope

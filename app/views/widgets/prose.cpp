#include "app/views/widgets/prose.h"

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

}  // namespace

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

#include "app/views/widgets/number_strip.h"

#include "app/views/widgets/imgui_compat.h"

#include <algorithm>
#include <cmath>

namespace decoderscope {

void draw_number_strip(const Ui& ui, const NumberStrip& strip, Area area) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const auto n = static_cast<float>(strip.values.size());
    const auto y = [&](double value) {
        const double place =
            (value - static_cast<double>(strip.range.low)) / static_cast<double>(strip.range.high - strip.range.low);
        return area.high.y - static_cast<float>(std::clamp(place, 0.0, 1.0)) * area.height();
    };
    if (strip.deviation > 0.0)
        list.AddRectFilled({area.low.x, y(strip.centre + strip.deviation)},
                           {area.high.x, y(strip.centre - strip.deviation)}, with_alpha(strip.color, 0.16F));
    const float bar = std::max(area.width() / n, 1.0F);
    const float space = bar >= 3.0F * ui.fonts.scale ? ui.px(1) : 0.0F;
    const auto bars = static_cast<std::size_t>(std::min(n, area.width()));
    for (std::size_t i = 0; i < bars; ++i) {
        const std::size_t first = i * strip.values.size() / bars,
                          last = std::max(first + 1, (i + 1) * strip.values.size() / bars);
        float least = 0.0F, most = 0.0F;
        for (std::size_t v = first; v < last; ++v) {
            least = std::min(least, strip.values[v]);
            most = std::max(most, strip.values[v]);
        }
        const float x = area.low.x + static_cast<float>(i) * bar;
        list.AddRectFilled(
            {x, y(static_cast<double>(most))},
            {x + bar - space, std::max(y(static_cast<double>(least)), y(static_cast<double>(most)) + 1.0F)},
            strip.color);
    }
    for (const double edge : {strip.centre - strip.deviation, strip.centre + strip.deviation})
        if (strip.deviation > 0.0)
            list.AddLine({area.low.x, y(edge)}, {area.high.x, y(edge)}, with_alpha(ui.theme.text, 0.35F));
    list.AddLine({area.low.x, y(0.0)}, {area.high.x, y(0.0)}, ui.theme.line);
    const float mean = std::floor(y(strip.mean)) + 0.5F;
    if (std::isfinite(strip.mean)) list.AddLine({area.low.x, mean}, {area.high.x, mean}, ui.theme.text, ui.px(1.25F));
    compat::add_rect(list, area.low, area.high, ui.theme.line);
}

std::optional<Index> column_under_mouse(const NumberStrip& strip, Area area, bool& clicked) {
    ImGui::SetCursorScreenPos(area.low);
    clicked = ImGui::InvisibleButton(strip.id, {std::max(area.width(), 1.0F), std::max(area.height(), 1.0F)});
    if (!ImGui::IsItemHovered()) return std::nullopt;
    const auto n = static_cast<Index>(strip.values.size());
    const float part = (ImGui::GetIO().MousePos.x - area.low.x) / area.width();
    return std::clamp<Index>(static_cast<Index>(part * static_cast<float>(n)), 0, n - 1);
}

}  // namespace decoderscope

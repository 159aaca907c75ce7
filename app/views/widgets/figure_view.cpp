#include "app/views/widgets/figure_view.h"

#include "app/core/text/characters.h"
#include "app/core/text/text_layout.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/theme.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

namespace decoderscope::views {

namespace {

// A font's size and ascent for a letter of one pixel's em size. Dear ImGui counts a font's size from line to line.
struct Metrics {
    float size = 1.0F, ascent = 1.0F;
};

Metrics metrics_of(ImFont* font, bool bold, bool monospace) {
    constexpr std::string_view sample = "0123456789";
    const float loaded = compat::font_size(font), width = compat::text_size(font, sample).x;
    const auto em = static_cast<float>(core::text_width_em(sample, bold, monospace));
    const float size = width > 0.0F ? em * loaded / width : 1.0F;
    return {size, size * compat::ascent(*font) / loaded};
}

struct Pen {
    const Ui& ui;
    ImDrawList& list;
    PlacedFigure placed;
    std::uint64_t version;
    std::uint64_t grids = 0;

    [[nodiscard]] float length(double units) const { return placed.scale * static_cast<float>(units); }
    // Thin lines stay visible.
    [[nodiscard]] float stroke(double units) const { return std::max(length(units), 0.6F); }
    [[nodiscard]] Area area(const core::figure::Box& box) const {
        return {placed.at(box.x, box.y), placed.at(box.right(), box.bottom())};
    }

    void operator()(const core::figure::FilledRectangle& rectangle) const {
        const Area box = area(rectangle.box);
        list.AddRectFilled(box.low, box.high, to_imgui(rectangle.fill));
    }

    void operator()(const core::figure::Line& line) const {
        list.AddLine(placed.at(line.x1, line.y1), placed.at(line.x2, line.y2), to_imgui(line.color),
                     stroke(line.width));
    }

    // Without dashes: what they tell apart is also told by the legend's words.
    void operator()(const core::figure::Polyline& line) const {
        std::vector<ImVec2> points;
        for (const core::figure::Point& point : line.points) points.push_back(placed.at(point.x, point.y));
        if (line.dash <= 0) return compat::add_polyline(list, points, to_imgui(line.color), stroke(line.width));
        for (std::size_t i = 0; i + 1 < points.size(); i += 2)
            list.AddLine(points[i], points[i + 1], to_imgui(line.color), stroke(line.width));
    }

    void operator()(const core::figure::Circle& circle) const {
        const ImVec2 center = placed.at(circle.center.x, circle.center.y);
        list.AddCircleFilled(center, length(circle.radius), to_imgui(circle.fill));
        list.AddCircle(center, length(circle.radius), to_imgui(circle.edge), 0, stroke(circle.edge_width));
    }

    void operator()(const core::figure::HatchedRectangle& rectangle) const {
        for (const core::figure::Segment& segment : core::figure::hatch_segments(rectangle)) {
            const ImVec2 from = placed.at(segment.x1, segment.y1), to = placed.at(segment.x2, segment.y2);
            const float width = stroke(core::figure::stroke_width(rectangle));
            if (from.x == to.x && from.y == to.y)
                list.AddCircleFilled(from, width / 2, to_imgui(rectangle.color), 6);
            else
                list.AddLine(from, to, to_imgui(rectangle.color), width);
        }
    }

    void operator()(const core::figure::CellGrid& grid) {
        if (grid.rows == 0 || grid.columns == 0) return;
        const std::uint64_t key = 0x6669677572650000ULL + grids++;
        ImTextureID texture = ui.textures.find(key, version);
        if (texture == ImTextureID()) {
            std::vector<std::uint32_t> pixels;
            pixels.reserve(grid.colors.size());
            for (const core::Rgba color : grid.colors) pixels.push_back(to_imgui(color));
            texture =
                ui.textures.upload(key, static_cast<int>(grid.columns), static_cast<int>(grid.rows), pixels, version);
        }
        const Area box = area(grid.box);
        compat::add_pixels(list, texture, box.low, box.high);
    }

    void operator()(const core::figure::Text& text) const {
        ImFont* font = text.monospace ? ui.fonts.mono : text.bold ? ui.fonts.heading : ui.fonts.text;
        const Metrics metrics = metrics_of(font, text.bold, text.monospace);
        const std::string shown = core::printable(text.text);
        const float em = length(text.size), size = em * metrics.size;
        const float width = compat::text_size(font, shown).x * size / compat::font_size(font);
        const float back = text.anchor == core::figure::Anchor::start    ? 0.0F
                           : text.anchor == core::figure::Anchor::middle ? width / 2
                                                                         : width;
        const ImVec2 base = placed.at(text.x, text.y);
        const compat::Turned upright{base};
        compat::add_sized_text(list, font, size, {base.x - back, base.y - em * metrics.ascent}, to_imgui(text.color),
                               shown, text.vertical ? &upright : nullptr);
    }
};

}  // namespace

PlacedFigure draw_figure(const Ui& ui, const core::Figure& figure, std::uint64_t version, Area area) {
    const float scale =
        std::min(area.width() / static_cast<float>(figure.width), area.height() / static_cast<float>(figure.height));
    const ImVec2 size = {scale * static_cast<float>(figure.width), scale * static_cast<float>(figure.height)};
    const PlacedFigure placed{{area.low.x + (area.width() - size.x) / 2, area.low.y + (area.height() - size.y) / 2},
                              scale};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.PushClipRect(area.low, area.high, true);
    list.AddRectFilled(placed.origin, {placed.origin.x + size.x, placed.origin.y + size.y},
                       to_imgui(figure.background));
    Pen pen{ui, list, placed, version};
    for (const core::figure::Primitive& primitive : figure.primitives) std::visit(pen, primitive);
    list.PopClipRect();
    return placed;
}

}  // namespace decoderscope::views

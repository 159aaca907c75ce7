#include "tests/views/drawn_contrast.h"

#include "app/core/figure/colormap.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/theme.h"
#include "tests/views/drawn_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace decoderscope::testing {

using namespace decoderscope::core;
using namespace decoderscope::views;

namespace {

// A triangle of a frame, in the order of drawing.
struct Triangle {
    std::array<ImDrawVert, 3> corners;
    ImVec4 clip;
    bool picture = false;  // not of the fonts' texture
};

std::vector<Triangle> triangles_of(const ImDrawData& frame, const ImFontAtlas& atlas) {
    std::vector<Triangle> all;
    for (int l = 0; l < frame.CmdListsCount; ++l) {
        const ImDrawList& list = *frame.CmdLists[l];
        for (const ImDrawCmd& command : list.CmdBuffer)
            for (unsigned i = 0; i + 2 < command.ElemCount; i += 3) {
                Triangle triangle{.corners = {}, .clip = command.ClipRect};
                triangle.picture = command.GetTexID() != atlas.TexID;
                for (unsigned corner = 0; corner < 3; ++corner)
                    triangle.corners[corner] = list.VtxBuffer[static_cast<int>(
                        list.IdxBuffer[static_cast<int>(command.IdxOffset + i + corner)] + command.VtxOffset)];
                all.push_back(triangle);
            }
    }
    return all;
}

bool plain(const Triangle& t, ImVec2 white) {
    return !t.picture && std::ranges::all_of(t.corners, [&](const ImDrawVert& v) {
        return std::abs(v.uv.x - white.x) < 1e-6F && std::abs(v.uv.y - white.y) < 1e-6F && v.col == t.corners[0].col;
    });
}

bool covers(const Triangle& t, ImVec2 at) {
    if (at.x < t.clip.x || at.y < t.clip.y || at.x >= t.clip.z || at.y >= t.clip.w) return false;
    const auto side = [&](const ImVec2& a, const ImVec2& b) {
        return (b.x - a.x) * (at.y - a.y) - (b.y - a.y) * (at.x - a.x);
    };
    const float d0 = side(t.corners[0].pos, t.corners[1].pos), d1 = side(t.corners[1].pos, t.corners[2].pos),
                d2 = side(t.corners[2].pos, t.corners[0].pos);
    return (d0 >= 0 && d1 >= 0 && d2 >= 0) || (d0 <= 0 && d1 <= 0 && d2 <= 0);
}

Rgba over(Rgba below, Rgba above) {
    const auto mix = [&](std::uint8_t b, std::uint8_t a) {
        return static_cast<std::uint8_t>(std::lround((a * above.a + b * (255 - above.a)) / 255.0));
    };
    return {mix(below.r, above.r), mix(below.g, above.g), mix(below.b, above.b), 255};
}

}  // namespace

std::vector<DrawnContrast> drawn_contrasts(const ImDrawData& frame, const ImFontAtlas& atlas) {
    const std::vector<Triangle> all = triangles_of(frame, atlas);
    std::vector<DrawnContrast> found;
    for (const DrawnText& piece : drawn_text(frame, atlas)) {
        // The first glyph's first triangle starts at the piece's corner; what was drawn before it lies beneath.
        const auto glyph = std::find_if(all.begin(), all.end(), [&](const Triangle& t) {
            return !t.picture && !plain(t, atlas.TexUvWhitePixel) && t.corners[0].pos.x == piece.low.x &&
                   t.corners[0].pos.y >= piece.low.y - 0.5F && t.corners[0].pos.y < piece.high.y;
        });
        if (glyph == all.end()) continue;
        const ImVec2 at = {(glyph->corners[0].pos.x + glyph->corners[2].pos.x) * 0.5F,
                           (glyph->corners[0].pos.y + glyph->corners[2].pos.y) * 0.5F};
        std::optional<Rgba> beneath;
        for (auto t = all.begin(); t != glyph; ++t) {
            if (t->picture && covers(*t, at)) beneath.reset();
            if (!plain(*t, atlas.TexUvWhitePixel) || !covers(*t, at)) continue;
            const Rgba color = to_rgba(t->corners[0].col);
            if (color.a == 255)
                beneath = color;
            else if (beneath)
                beneath = over(*beneath, color);
        }
        if (!beneath) continue;
        found.push_back({piece.text, contrast(over(*beneath, to_rgba(glyph->corners[0].col)), *beneath)});
    }
    return found;
}

}  // namespace decoderscope::testing

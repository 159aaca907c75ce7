#include "tests/views/drawn_text.h"

#include "app/views/widgets/imgui_compat.h"
#include "tests/views/imgui_atlas.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace decoderscope::testing {

using namespace decoderscope::views;

namespace {

// A glyph's corner in the texture, in steps finer than a pixel of any atlas.
using Corner = std::uint64_t;
Corner corner(float u, float v) {
    const auto fine = [](float at) { return static_cast<std::uint32_t>(at * 65536.0F + 0.5F); };
    return static_cast<Corner>(fine(u)) << 32 | fine(v);
}

struct Glyph {
    ImWchar code;
    float em;  // the size of its font, in pixels
};

std::unordered_map<Corner, Glyph> glyphs_of(const ImFontAtlas& atlas) {
    std::unordered_map<Corner, Glyph> glyphs;
    for (ImFont* font : atlas.Fonts)
        each_glyph(*font, [&](ImWchar code, float u, float v) {
            glyphs.emplace(corner(u, v), Glyph{code, compat::font_size(font)});
        });
#if IMGUI_VERSION_NUM >= 19280
    // The positions beside tokens are smaller, and have pictures of their own.
    for (ImFont* font : atlas.Fonts)
        for (const ImFontGlyph& glyph : font->GetFontBaked(font->LegacySize * 0.8F)->Glyphs)
            if (glyph.Visible)
                glyphs.emplace(corner(glyph.U0, glyph.V0),
                               Glyph{static_cast<ImWchar>(glyph.Codepoint), font->LegacySize * 0.8F});
#endif
    return glyphs;
}

std::string utf8(ImWchar code) {
    const auto c = static_cast<unsigned>(code);
    if (c < 0x80) return {static_cast<char>(c)};
    if (c < 0x800) return {static_cast<char>(0xC0 | (c >> 6)), static_cast<char>(0x80 | (c & 63))};
    return {static_cast<char>(0xE0 | (c >> 12)), static_cast<char>(0x80 | ((c >> 6) & 63)),
            static_cast<char>(0x80 | (c & 63))};
}

// A glyph without the lines of pixels that the box it scrolls in cuts off. What leaves the screen stays, to be found.
std::pair<ImVec2, ImVec2> visible_lines(ImVec2 low, ImVec2 high, ImVec4 clip, float screen) {
    const float top = clip.y > 0.0F ? std::max(low.y, clip.y) : low.y;
    const float bottom = clip.w < screen ? std::min(high.y, clip.w) : high.y;
    return {{low.x, top}, {high.x, bottom}};
}

// Whether a glyph continues the piece: on the same line, a little further to the right.
bool continues(const DrawnText& piece, ImVec2 low, ImVec2 high, float em) {
    const float height = std::max(piece.high.y - piece.low.y, 6.0F);
    const float apart = height * 0.15F;
    const bool line = low.y < piece.high.y + apart && high.y > piece.low.y - apart;
    // Neighbours may overlap a little; a label below another begins further back.
    const float back = std::min(height, high.x - low.x) * 0.5F;
    // A space, whose width follows from the font: of "x" or "−" alone the height says little.
    const float space = std::max(height * 1.2F, em * 0.72F);
    return line && low.x >= piece.high.x - back && low.x <= piece.high.x + space;
}

}  // namespace

ImVec2 DrawnText::middle_of(std::string_view part) const {
    const std::size_t at = text.find(part);
    return {(x[at] + x[at + part.size() - 1]) * 0.5F, (low.y + high.y) * 0.5F};
}

namespace {

std::vector<DrawnText> texts_of(const ImDrawData& frame, const ImFontAtlas& atlas, bool turned) {
    const std::unordered_map<Corner, Glyph> glyphs = glyphs_of(atlas);
    std::vector<DrawnText> pieces;
    for (int l = 0; l < frame.CmdListsCount; ++l) {
        const ImDrawList& list = *frame.CmdLists[l];
        bool open = false;
        ImVec2 end;  // of the last glyph
        for (const ImDrawCmd& command : list.CmdBuffer) {
            if (command.GetTexID() != font_texture(atlas)) continue;  // a picture, drawn from its corner
            // A glyph is a quad: the corners 0, 1, 2 and 0, 2, 3.
            for (unsigned i = 0; i + 5 < command.ElemCount; i += 3) {
                const ImDrawIdx* index = &list.IdxBuffer[static_cast<int>(command.IdxOffset + i)];
                const auto vertex = [&](int n) -> const ImDrawVert& {
                    return list.VtxBuffer[static_cast<int>(index[n] + command.VtxOffset)];
                };
                const ImDrawVert& a = vertex(0);
                const ImDrawVert& c = vertex(2);
                const auto found = glyphs.find(corner(a.uv.x, a.uv.y));
                if (found == glyphs.end() || index[3] != index[0] || index[4] != index[2] || c.uv.x <= a.uv.x) continue;
                i += 3;
                const ImVec2 along = vertex(1).pos;
                if ((std::abs(along.y - a.pos.y) > 0.01F) != turned) continue;
                const bool seen = a.pos.x < command.ClipRect.z && c.pos.x > command.ClipRect.x &&
                                  a.pos.y < command.ClipRect.w && c.pos.y > command.ClipRect.y;
                if (!seen) continue;
                const auto [low, high] = visible_lines(a.pos, c.pos, command.ClipRect, frame.DisplaySize.y);
                const float em = found->second.em;
                const bool goes_on = turned ? std::hypot(a.pos.x - end.x, a.pos.y - end.y) < em
                                            : open && continues(pieces.back(), low, high, em);
                end = along;
                if (!open || !goes_on) pieces.push_back({{}, low, high, {}, a.col});
                open = true;
                DrawnText& piece = pieces.back();
                piece.text += utf8(found->second.code);
                piece.x.resize(piece.text.size(), (a.pos.x + c.pos.x) * 0.5F);
                piece.low = {std::min(piece.low.x, low.x), std::min(piece.low.y, low.y)};
                piece.high = {std::max(piece.high.x, high.x), std::max(piece.high.y, high.y)};
            }
        }
    }
    return pieces;
}

}  // namespace

std::vector<DrawnText> drawn_text(const ImDrawData& frame, const ImFontAtlas& atlas) {
    return texts_of(frame, atlas, false);
}

std::vector<DrawnText> turned_text(const ImDrawData& frame, const ImFontAtlas& atlas) {
    return texts_of(frame, atlas, true);
}

std::optional<DrawnText> find_text(const std::vector<DrawnText>& pieces, std::string_view part) {
    const auto found = std::find_if(pieces.begin(), pieces.end(),
                                    [&](const DrawnText& piece) { return piece.text.find(part) != std::string::npos; });
    return found == pieces.end() ? std::nullopt : std::optional(*found);
}

}  // namespace decoderscope::testing

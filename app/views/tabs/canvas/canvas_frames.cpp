// What surrounds the pictures: as the map has it.
#include "app/views/tabs/canvas/canvas_scene.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace decoderscope::views::canvas {

namespace {

// A name in the room above what it names, as large as the room is, up to a heading; nothing if it would be too small to
// be read. It stays in sight as long as what it names is.
void draw_name(const Scene& s, Area box, double room, ImU32 color, const std::string& name) {
    const float height = std::min(s.pixels(room), s.ui.px(36)), pad = std::min(s.pixels(0.12), s.ui.px(12));
    ImFont* font = s.ui.fonts.caption;
    for (ImFont* larger : {s.ui.fonts.text, s.ui.fonts.heading})
        if (compat::font_size(larger) <= height) font = larger;
    const float part = std::min(1.0F, height / compat::font_size(font));
    const float x = std::max(box.low.x + pad, s.area.low.x + s.ui.px(6)), end = box.high.x - pad;
    if (part < 0.72F || end - x < s.ui.px(20)) return;
    const std::string shown = views::fitted(font, name, (end - x) / part);
    const ImVec2 at = {x, box.low.y + (height - compat::font_size(font) * part) * 0.5F};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (part == 1.0F || lacks_glyphs(shown)) return compat::add_text(list, font, at, color, shown);
    note_glyphs(font, shown);
    note_place(list, font, at, shown);
    list.AddText(font, compat::font_size(font) * part, at, color, shown.data(), shown.data() + shown.size());
}

void draw_stacks(const Scene& s) {
    if (s.layout.stacks.size() < 2) return;
    for (const core::canvas::PlacedStack& stack : s.layout.stacks) {
        const Area box = s.on_screen(stack.at);
        if (!s.is_seen(box)) continue;
        ImGui::GetWindowDrawList()->AddRectFilled(box.low, box.high, with_alpha(s.ui.theme.raised, 0.35F),
                                                  s.pixels(0.25));
        const std::string name = core::step::stack_name(stack.stack);
        draw_name(s, box, core::canvas::kStackHeading, s.ui.theme.text,
                  stack.is_back ? tr("{stack}, gradients", {{"stack", name}}) : name);
    }
}

void draw_blocks(const Scene& s) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    for (const core::canvas::PlacedBlock& block : s.layout.blocks) {
        const std::string& name = s.outline[block.block].name;
        const Area box = s.on_screen(block.at);
        if (name.empty() || !s.is_seen(box)) continue;
        const float round = std::min(s.pixels(0.2), s.ui.px(12));
        const bool here = s.session.step().block == name;
        list.AddRectFilled(box.low, box.high, s.ui.theme.panel, round);
        compat::add_rect(list, box.low, box.high, here ? s.ui.theme.muted : s.ui.theme.line, round, s.ui.px(1));
        draw_name(s, {{box.low.x + s.pixels(core::canvas::kStreamWidth), box.low.y}, box.high},
                  core::canvas::kBlockHeading, s.ui.theme.text, name);
    }
}

void draw_parts(const Scene& s) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    for (const core::canvas::PlacedPart& placed : s.layout.parts) {
        const core::step::OutlinePart& part = s.outline[placed.block].parts[placed.part];
        const Area box = s.on_screen(placed.at);
        if (!s.is_seen(box)) continue;
        const ImU32 color = color_of(part.meaning);
        const float round = std::min(s.pixels(0.1), s.ui.px(8)), stripe = std::clamp(s.pixels(0.07), 1.5F, s.ui.px(5));
        list.AddRectFilled(box.low, box.high, with_alpha(color, s.ui.theme.dark ? 0.10F : 0.13F), round);
        if (!part.on_stream)
            list.AddRectFilled(box.low, {box.low.x + stripe, box.high.y}, color, std::min(round, stripe));
        if (placed.has_heading)
            draw_name(s, {{box.low.x + stripe, box.low.y}, box.high}, core::canvas::kPartHeading,
                      ink_of(part.meaning, s.ui.theme), tr(part.title));
    }
}

// Whether any of it may be in sight.
bool is_seen(const Scene& s, ImVec2 from, ImVec2 to) {
    const Area around = {{std::min(from.x, to.x) - 8, std::min(from.y, to.y) - 8},
                         {std::max(from.x, to.x) + 8, std::max(from.y, to.y) + 8}};
    return s.is_seen(around);
}

// Its straight pieces that are in sight, with the part of them that is: a piece may be longer than what can be drawn.
void draw_wires(const Scene& s, bool streams) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImU32 color = streams ? color_of(Meaning::residual) : with_alpha(color_of(Meaning::attention), 0.75F);
    const float width = std::clamp(s.pixels(streams ? 0.11 : 0.05), 1.0F, s.ui.px(streams ? 9 : 4));
    const auto in_sight = [&](ImVec2 at) {
        return ImVec2{std::clamp(at.x, s.area.low.x - 20.0F, s.area.high.x + 20.0F),
                      std::clamp(at.y, s.area.low.y - 20.0F, s.area.high.y + 20.0F)};
    };
    for (const core::canvas::Wire& wire : s.layout.wires) {
        if (wire.is_stream != streams) continue;
        for (std::size_t i = 1; i < wire.points.size(); ++i) {
            const ImVec2 from = s.tab.camera.on_screen(s.area, wire.points[i - 1]),
                         to = s.tab.camera.on_screen(s.area, wire.points[i]);
            if (!is_seen(s, from, to)) continue;
            list.AddLine(in_sight(from), in_sight(to), color, width);
            if (i + 1 < wire.points.size()) list.AddCircleFilled(in_sight(to), width * 0.5F, color, 12);
        }
        const ImVec2 end = s.tab.camera.on_screen(s.area, wire.points.back());
        const float head = std::clamp(s.pixels(0.16), 3.0F, s.ui.px(9));
        if (!streams)
            list.AddTriangleFilled({end.x + head * 0.3F, end.y}, {end.x - head, end.y - head * 0.7F},
                                   {end.x - head, end.y + head * 0.7F}, color_of(Meaning::attention));
    }
}

}  // namespace

void draw_frames(const Scene& s) {
    draw_stacks(s);
    draw_blocks(s);
    draw_wires(s, false);
    draw_parts(s);
    draw_wires(s, true);
}

}  // namespace decoderscope::views::canvas

// The pictures of the steps: colours alone from afar, then names, then labels, then numbers; and what surrounds them,
// as the map has it.
#include "app/core/run/cursor.h"
#include "app/core/run/notes.h"
#include "app/views/strip/strip.h"
#include "app/views/tabs/canvas/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::views::canvas {

namespace {

// The least height of a row that has its label, and the most of a texture's side.
constexpr float kLabelledRow = 9.0F;
constexpr Index kLargestSide = 4096;

// ---- names

std::string after(const std::string& beginning, const std::string& text) {
    return !beginning.empty() && text.starts_with(beginning + ".") ? text.substr(beginning.size() + 1) : text;
}

// Within its block and its attention: "pattern".
std::string short_name(const Step& step) { return after(step.block, after(step.attention, step.name)); }

std::string name_of(const Tile& tile) {
    const std::string name = tile.placed.is_weight ? tile.step.name : short_name(tile.step);
    if (tile.placed.heads == 1) return name;
    return name + " · " + tr("head {head}", {{"head", tile.head}});
}

// ---- colours alone

StepTextures::Texture texture_of(const Scene& s, const Tile& tile) {
    const auto side = [](float pixels, Index cells, Index pictures) {
        return std::clamp<Index>(stepped_pixels(pixels), 1,
                                 std::min(cells, std::max<Index>(kLargestSide / pictures, 1)));
    };
    const core::canvas::Placed& placed = tile.placed;
    core::Place place = tile.place;
    if (placed.heads > 1) place.head = 0;
    return s.tab.textures.texture_of(s.ui, s.session, tile.step,
                                     {.each = {side(tile.box.width(), tile.columns, placed.across),
                                               side(tile.box.height(), tile.rows, placed.down())},
                                      .heads = placed.heads,
                                      .across = placed.across,
                                      .place = place,
                                      .sequential = s.ui.theme.sequential,
                                      .dark = s.ui.theme.dark});
}

void draw_colors(const Scene& s, const Tile& tile, const StepTextures::Texture& texture) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (texture.id == ImTextureID()) {
        list.AddRectFilled(tile.box.low, tile.box.high, s.ui.theme.raised);
        return;
    }
    const auto across = static_cast<float>(tile.placed.across), down = static_cast<float>(tile.placed.down());
    const auto column = static_cast<float>(tile.head % tile.placed.across),
               row = static_cast<float>(tile.head / tile.placed.across);
    compat::add_pixels(list, texture.id, tile.box.low, tile.box.high, {column / across, row / down},
                       {(column + 1.0F) / across, (row + 1.0F) / down});
    if (texture.is_old || s.session.stale())
        list.AddRectFilled(tile.box.low, tile.box.high, with_alpha(s.ui.theme.background, 0.45F));
}

// ---- close

// The label of a row takes no more than this.
float most_label(const Ui& ui) { return ui.px(96); }

float line_of(const Ui& ui) { return compat::font_size(ui.fonts.mono_small) + ui.px(2); }

void draw_close(const Scene& s, const Tile& tile, const core::Value<core::step::ShownHeatmap>& shown,
                const std::optional<Tile>& pointed) {
    const Ui& ui = s.ui;
    const core::Heatmap& h = shown->heatmap;
    const HeatmapLayout l = layout_of(s, tile, h);
    if (l.cells.width() < 1.0F || l.cells.height() < 1.0F) return;
    const std::vector<core::NotedCell> notes = core::noted_cells(s.session.seen_notes(), tile.step, tile.slice);
    const std::vector<ColoredCell> colored = colored_cells(ui, s.session, tile.step, tile.slice);
    HeatmapDrawing d{.heatmap = h,
                     .key = heatmap_key("canvas " + tile.step.name, static_cast<std::uint64_t>(tile.head)),
                     .version = shown.number(),
                     .color = color_of(tile.step.meaning),
                     .changed = &shown->changed,
                     .notes = notes,
                     .colored = colored,
                     .stale = s.session.stale(),
                     .legend = Legend::none};
    const core::Cursor& cursor = s.session.cursor();
    if (cursor.cell && s.session.step().id == tile.step.id) d.selected = tile.slice.find(*cursor.cell);
    std::optional<Spot> hovered;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (pointed && pointed->step.id == tile.step.id && pointed->head == tile.head && l.cells.contains(mouse))
        hovered = spot_in(tile, mouse);
    const core::CellRect seen = seen_cells(l, h);
    draw_inside(ui, d, l, hovered);
    // Beside the cells: in the room that there is between pictures, or over what is out of sight at the edge.
    const Area names = {{s.area.low.x, s.area.low.y}, {l.cells.high.x, l.cells.high.y}};
    const float beside = l.cells.low.x - std::max(tile.box.low.x - s.pixels(0.19), s.area.low.x), line = line_of(ui);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (l.cells.low.x > tile.box.low.x + 1.0F)
        list.AddRectFilled({tile.box.low.x, l.cells.low.y}, {l.cells.low.x, l.cells.high.y}, ui.theme.panel);
    if (l.cells.low.y > tile.box.low.y + 1.0F)
        list.AddRectFilled({std::max(tile.box.low.x, s.area.low.x), tile.box.low.y}, {l.cells.high.x, l.cells.low.y},
                           ui.theme.panel);
    const PointedOut pointed_out = {hovered, d.selected};
    if (beside >= ui.px(16) && h.rows > 1)
        draw_row_labels(ui, d, l, seen, {{l.cells.low.x - beside, names.low.y}, names.high}, pointed_out);
    const double above = tile.placed.down() > 1 && tile.head >= tile.placed.across
                             ? 0.3 / static_cast<double>(tile.placed.down())
                             : core::canvas::kStepName;
    const bool is_pinned = l.cells.low.y > tile.box.low.y + 1.0F;
    if (is_pinned || s.pixels(above) >= line)
        draw_column_labels(ui, d, l, seen, {{l.cells.low.x, names.low.y}, names.high}, pointed_out);
    if (is_pinned || s.pixels(above) >= 2.0F * line)
        draw_text(ui, {ui.fonts.mono_small, ink_of(tile.step.meaning, ui.theme)},
                  {l.cells.low.x, l.column_labels_y - line}, name_of(tile), l.cells.width());
}

// ---- marks

// The position of the selected cell, which is followed through what is computed from it.
struct Followed {
    core::TokenSequence sequence = core::TokenSequence::none;
    Index position = 0;
    std::vector<bool> reached;  // by step
};

Followed followed(const Scene& s) {
    Followed path;
    const core::Cursor& cursor = s.session.cursor();
    if (!cursor.cell) return path;
    const Step& step = s.session.step();
    for (const core::TokenSequence sequence : {core::TokenSequence::target, core::TokenSequence::source}) {
        const std::optional<Index> position = core::position_of(step, *cursor.cell, sequence, cursor.place.batch);
        if (!position) continue;
        path = {sequence, *position, core::canvas::downstream_of(s.plan(), step.id)};
        break;
    }
    return path;
}

void draw_path(const Scene& s, const Tile& tile, const Followed& path) {
    if (path.reached.empty() || !path.reached[tile.step.id]) return;
    const std::optional<std::size_t> along = core::axis_over(tile.step, path.sequence);
    if (!along || path.position >= tile.step.axes[*along].size) return;
    const bool is_row = *along + 1 < tile.step.axes.size();
    const ImVec2 cell = tile.cell();
    const auto at = static_cast<float>(path.position);
    Area band = tile.box;
    const float least = s.ui.px(2);
    if (is_row) {
        band.low.y += at * cell.y;
        band.high.y = band.low.y + std::max(cell.y, least);
    } else {
        band.low.x += at * cell.x;
        band.high.x = band.low.x + std::max(cell.x, least);
    }
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float size = is_row ? cell.y : cell.x;
    list.AddRectFilled(band.low, band.high, with_alpha(s.ui.theme.accent, size > s.ui.px(6) ? 0.16F : 0.5F));
    if (size > s.ui.px(4)) compat::add_rect(list, band.low, band.high, s.ui.theme.accent, 0, s.ui.px(1));
}

// A picture's edge: of the step's meaning on top; all around it, if it is the current step.
void draw_edge(const Scene& s, const Tile& tile) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Ui& ui = s.ui;
    const float thick = std::clamp(s.pixels(0.05), 1.0F, ui.px(4));
    const ImU32 color = color_of(tile.step.meaning);
    compat::add_rect(list, {tile.box.low.x - 1, tile.box.low.y - 1}, {tile.box.high.x + 1, tile.box.high.y + 1},
                     with_alpha(color, tile.placed.is_weight ? 0.9F : 0.45F), 0, 1.0F);
    if (!tile.placed.is_weight)
        list.AddRectFilled({tile.box.low.x - 1, tile.box.low.y - thick - 1}, {tile.box.high.x + 1, tile.box.low.y - 1},
                           color);
    const core::Cursor& cursor = s.session.cursor();
    const bool is_head = tile.placed.heads > 1 && tile.place.head == cursor.place.head;
    if (s.session.step().id == tile.step.id || is_head)
        compat::add_rect(list, {tile.box.low.x - 2, tile.box.low.y - 2}, {tile.box.high.x + 2, tile.box.high.y + 2},
                         s.session.step().id == tile.step.id ? ui.theme.accent : with_alpha(ui.theme.text, 0.6F), 0,
                         ui.px(s.session.step().id == tile.step.id ? 2.5F : 1.0F));
}

// The corner that marks a changed cell elsewhere, and the map's sign beside the name.
void draw_change(const Scene& s, Area box) {
    const float size = std::clamp(s.pixels(0.22), s.ui.px(4), s.ui.px(12));
    const ImVec2 corner = {box.high.x + 1, box.low.y - 1};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddTriangleFilled({corner.x - size - 2, corner.y}, corner, {corner.x, corner.y + size + 2},
                           s.ui.theme.background);
    list.AddTriangleFilled({corner.x - size, corner.y}, corner, {corner.x, corner.y + size}, s.ui.theme.accent);
}

// Lines from what the current step reads.
void draw_reads(const Scene& s) {
    const core::canvas::Placed* here = s.layout.find(s.session.step().id);
    if (here == nullptr) return;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Area to = s.on_screen(here->at);
    const auto middle = [](float a, float b) { return (a + b) * 0.5F; };
    const float most = 20000.0F;  // farther away a curve can't be drawn exactly, and nothing is seen of it
    for (const StepId operand : s.session.step().operands) {
        const core::canvas::Placed* read = s.layout.find(operand);
        if (read == nullptr) continue;
        const Area from = s.on_screen(read->at);
        ImVec2 begin = {from.high.x + 2, middle(from.low.y, from.high.y)},
               end = {to.low.x - 3, middle(to.low.y, to.high.y)}, out = {1, 0};
        if (from.high.x > to.low.x) {
            begin = {middle(from.low.x, from.high.x), from.high.y + 2};
            end = {middle(to.low.x, to.high.x), to.low.y - 3};
            out = {0, 1};
        }
        if (std::max({std::abs(begin.x), std::abs(begin.y), std::abs(end.x), std::abs(end.y)}) > most) continue;
        const float bend = std::max(std::hypot(end.x - begin.x, end.y - begin.y) * 0.4F, s.ui.px(6));
        const ImU32 color = with_alpha(s.ui.theme.accent, 0.85F);
        list.AddBezierCubic(begin, {begin.x + out.x * bend, begin.y + out.y * bend},
                            {end.x - out.x * bend, end.y - out.y * bend}, end, color, s.ui.px(1.5F));
        list.AddCircleFilled(begin, s.ui.px(2.5F), color, 10);
    }
}

bool has_values(const Scene& s, const Step& step) { return !s.session.shown().run_of(step).value(step.id).empty(); }

// A step whose values are computed when they are looked at.
void draw_missing(const Scene& s, const Tile& tile) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(tile.box.low, tile.box.high, s.ui.theme.raised);
    const std::string text = tr("computed on demand");
    const ImVec2 size = compat::text_size(s.ui.fonts.caption, text);
    if (size.x + s.ui.px(8) < tile.box.width() && size.y + s.ui.px(4) < tile.box.height())
        draw_text(
            s.ui, s.ui.note(),
            {(tile.box.low.x + tile.box.high.x - size.x) * 0.5F, (tile.box.low.y + tile.box.high.y - size.y) * 0.5F},
            text);
}

// Below this part of a font's size a name isn't read.
constexpr float kSmallest = 0.72F;

// A name as large as the room is: this part of the font's size, at most all of it.
void draw_sized(ImFont* font, float part, ImVec2 at, ImU32 color, const std::string& name) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (part == 1.0F || lacks_glyphs(name)) return compat::add_text(list, font, at, color, name);
    note_glyphs(font, name);
    note_place(list, font, at, name);
    list.AddText(font, compat::font_size(font) * part, at, color, name.data(), name.data() + name.size());
}

// A name in the room above what it names, up to a heading. It stays in sight as long as what it names is.
void draw_name(const Scene& s, Area box, double room, ImU32 color, const std::string& name) {
    const float height = std::min(s.pixels(room), s.ui.px(36)), pad = std::min(s.pixels(0.12), s.ui.px(12));
    ImFont* font = s.ui.fonts.caption;
    for (ImFont* larger : {s.ui.fonts.text, s.ui.fonts.heading})
        if (compat::font_size(larger) <= height) font = larger;
    const float part = std::min(1.0F, height / compat::font_size(font));
    const float x = std::max(box.low.x + pad, s.area.low.x + s.ui.px(6)), end = box.high.x - pad;
    if (part < kSmallest || end - x < s.ui.px(20)) return;
    draw_sized(font, part, {x, box.low.y + (height - compat::font_size(font) * part) * 0.5F}, color,
               views::fitted(font, name, (end - x) / part));
}

// From afar, above the pictures of a step: the word that the strip has, or the step's own name if there is room for all
// of its size.
void draw_name(const Scene& s, const core::canvas::Placed& placed, Area box, bool is_changed) {
    const Step& step = s.plan()[placed.step];
    const std::string word = tr(placed.caption);
    ImFont* font = word.empty() ? s.ui.fonts.mono_small : s.ui.fonts.caption;
    const float edge = std::clamp(s.pixels(0.05), 1.0F, s.ui.px(4)) + s.ui.px(2);
    const float room = s.pixels(core::canvas::kStepName) - edge;
    const float part = std::min(1.0F, room / compat::font_size(font));
    if (part < (word.empty() ? 1.0F : kSmallest) || box.width() < s.ui.px(12)) return;
    const std::string name =
        (is_changed ? std::string(strip::kChangedMark) + " " : "") + (!word.empty()      ? word
                                                                      : placed.is_weight ? step.name
                                                                                         : short_name(step));
    const float width = (box.width() + s.pixels(0.12)) / part;
    draw_sized(font, part, {box.low.x, box.low.y - edge - room + (room - compat::font_size(font) * part) * 0.5F},
               ink_of(step.meaning, s.ui.theme),
               placed.is_weight ? fitted_in_middle(font, name, width) : shortened(font, name, width));
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
        const std::string& name = s.outline[block.block].name;  // "encoder.blocks.1"
        const Area box = s.on_screen(block.at);
        if (name.empty() || !s.is_seen(box)) continue;
        const float round = std::min(s.pixels(0.2), s.ui.px(12));
        const bool here = s.session.step().block == name;
        list.AddRectFilled(box.low, box.high, s.ui.theme.panel, round);
        compat::add_rect(list, box.low, box.high, here ? s.ui.theme.muted : s.ui.theme.line, round, s.ui.px(1));
        draw_name(s, {{box.low.x + s.pixels(core::canvas::kStreamWidth), box.low.y}, box.high},
                  core::canvas::kBlockHeading, s.ui.theme.text,
                  tr("block {number}", {{"number", name.substr(name.rfind('.') + 1)}}));
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

Tile tile_of(const Scene& s, const core::canvas::Placed& placed, Index head) {
    const Step& step = s.plan()[placed.step];
    const Index heads = s.session.shown().scenario.query_heads();
    const core::Place place = core::canvas::place_in(step, placed, head, s.session.cursor().place, heads);
    const core::Slice slice = core::slice_of(step, place, heads);
    const Index columns = has_values(s, step) && !slice.joins_heads
                              ? core::picture_columns(*s.session.shown().run, step, slice)
                              : slice.columns();
    return {placed, step, head, place, slice, slice.rows(), columns, s.on_screen(placed.picture(head))};
}

std::optional<Tile> tile_at(const Scene& s, ImVec2 point) {
    if (!s.area.contains(point)) return std::nullopt;
    for (const core::canvas::Placed& placed : s.layout.pictures) {
        if (!s.on_screen(placed.at).contains(point)) continue;
        for (Index head = 0; head < placed.heads; ++head)
            if (s.on_screen(placed.picture(head)).contains(point)) return tile_of(s, placed, head);
    }
    return std::nullopt;
}

core::Value<core::step::ShownHeatmap> seen_closely(const Scene& s, const Tile& tile) {
    const ImVec2 cell = tile.cell();
    if (!has_values(s, tile.step) || (tile.rows > 1 ? cell.y : cell.x) < s.ui.px(kLabelledRow)) return {};
    return core::step::shown_numbers(s.session.derived(), s.session.shown(), tile.step, tile.place);
}

Spot spot_in(const Tile& tile, ImVec2 point) {
    const ImVec2 cell = tile.cell();
    return {std::clamp<Index>(static_cast<Index>((point.y - tile.box.low.y) / cell.y), 0, tile.rows - 1),
            std::clamp<Index>(static_cast<Index>((point.x - tile.box.low.x) / cell.x), 0, tile.columns - 1)};
}

HeatmapLayout layout_of(const Scene& s, const Tile& tile, const core::Heatmap& heatmap) {
    const Ui& ui = s.ui;
    const float line = line_of(ui), above = 2.0F * line + ui.px(4);
    HeatmapLayout l;
    l.cell = tile.cell();
    l.origin = tile.box.low;
    l.cells = {{std::max(tile.box.low.x, s.area.low.x), std::max(tile.box.low.y, s.area.low.y)},
               {std::min(tile.box.high.x, s.area.high.x), std::min(tile.box.high.y, s.area.high.y)}};
    // At the edge of what is seen, labels stay, as long as there is more to see than labels.
    const float beside = tile.rows > 1 ? label_width(ui, heatmap.row_labels, most_label(ui)) + ui.px(8) : 0.0F;
    const float left = s.area.low.x + beside, top = s.area.low.y + above;
    if (tile.box.low.x < left && tile.box.high.x > left + 2.0F * beside) l.cells.low.x = left;
    if (tile.box.low.y < top && tile.box.high.y > top + above) l.cells.low.y = top;
    l.column_labels_y = l.cells.low.y - line - ui.px(1);
    return l;
}

void draw_tiles(const Scene& s, const std::optional<Tile>& pointed) {
    s.tab.textures.begin_frame();
    const Followed path = followed(s);
    const auto reach = core::diff::shown_reach(s.session.derived(), s.session.shown());
    for (const core::canvas::Placed& placed : s.layout.pictures) {
        const Area box = s.on_screen(placed.at);
        const float around = s.pixels(core::canvas::kStepName);
        if (!s.is_seen({{box.low.x - around, box.low.y - around}, {box.high.x + around, box.high.y + around}}))
            continue;
        const Step& step = s.plan()[placed.step];
        const bool is_changed = reach && reach->has(placed.step), is_there = has_values(s, step);
        bool closely = false;
        std::optional<StepTextures::Texture> texture;
        for (Index head = 0; head < placed.heads; ++head) {
            const Tile tile = tile_of(s, placed, head);
            if (!s.is_seen(tile.box)) continue;
            const auto close = is_there ? seen_closely(s, tile) : core::Value<core::step::ShownHeatmap>();
            closely = closely || static_cast<bool>(close);
            if (!is_there) {
                draw_missing(s, tile);
            } else if (close) {
                draw_close(s, tile, close, pointed);
            } else {
                if (!texture) texture = texture_of(s, tile);
                draw_colors(s, tile, *texture);
            }
            draw_path(s, tile, path);
            draw_edge(s, tile);
        }
        if (is_changed) draw_change(s, box);
        if (!closely) draw_name(s, placed, box, is_changed);
    }
    if (s.tab.textures.wants_more()) s.state.busy = true;
    draw_reads(s);
}

void draw_frames(const Scene& s) {
    draw_stacks(s);
    draw_blocks(s);
    draw_wires(s, false);
    draw_parts(s);
    draw_wires(s, true);
}

}  // namespace decoderscope::views::canvas

#include "app/core/masks/mask_edits.h"
#include "app/core/text/labels.h"
#include "app/core/text/numbers.h"
#include "app/views/masks/masks_sections.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace decoderscope {

namespace {

// ---- the brush

std::vector<MaskCell> cells_taken(const MasksScene& scene, Spot spot) {
    const Heatmap& mask = scene.shown().parts.combined;
    switch (scene.tab().tool) {
        case MaskTool::row:
            return cells_of_row(spot.first, mask.columns);
        case MaskTool::column:
            return cells_of_column(spot.second, mask.rows);
        case MaskTool::cell:
            return {spot};
    }
    return {};
}

// What a stroke sets: its first cell is toggled, and the others follow. A hidden row or column returns to its unedited
// state, rather than open to every key.
std::optional<bool> turned_over(const MasksScene& scene, Spot spot) {
    const bool kept = scene.shown().parts.combined.at(spot.first, spot.second) != 0.0F;
    if (kept) return false;
    return scene.tab().tool == MaskTool::cell ? std::optional(true) : std::nullopt;
}

void paint(const MasksScene& scene, const HeatmapGesture& gesture) {
    MasksTabState& tab = scene.tab();
    const Spot now = *gesture.painted;
    std::vector<Spot> passed = {now};
    if (gesture.paint_begins)
        tab.brush_keeps = turned_over(scene, now);
    else
        passed = cells_between(tab.last_painted, now);
    tab.last_painted = now;
    const bool all_heads = tab.all_heads || ImGui::GetIO().KeyShift;
    MaskStroke stroke{scene.attention,
                      scene.place.batch,
                      all_heads ? std::nullopt : std::optional(scene.place.head),
                      {},
                      tab.brush_keeps};
    for (const Spot& spot : passed) {
        const std::vector<MaskCell> cells = cells_taken(scene, spot);
        stroke.cells.insert(stroke.cells.end(), cells.begin(), cells.end());
    }
    if (!stroke.cells.empty()) scene.commands.push_back(command::PaintMasks{stroke, !gesture.paint_begins});
}

// ---- one picture

std::string token_of(const std::string& axis, const std::vector<std::string>& labels, Index at) {
    const std::string number = std::to_string(at), &label = labels[static_cast<std::size_t>(at)];
    return axis + " " + number + (label != number ? " “" + label + "”" : "");
}

void picture_tooltip(const MasksScene& scene, const MaskPicture& picture, Spot spot, float x) {
    ImGui::SetNextWindowPos({x, scene.tooltips_y});
    if (!compat::begin_tooltip()) return;
    const Heatmap& h = picture.heatmap;
    const auto offset = static_cast<std::size_t>(spot.first * h.columns + spot.second);
    const Ui& ui = scene.ui;
    std::string name = tr("{title} mask", {{"title", h.title}});
    if (picture.step != nullptr) {
        const Slice slice = slice_of(*picture.step, scene.place, scene.session.shown().scenario.config().nhead);
        name = cell_name(picture.step->name, slice.cell(spot.first, spot.second));
    }
    text_line(ui.fonts.mono_small, ui.theme.muted, name);
    text_line(ui.fonts.mono, ui.theme.text, short_number(static_cast<double>(h.values[offset])));
    text_line(ui.fonts.caption, ui.theme.muted, token_of(h.row_axis, h.row_labels, spot.first));
    text_line(ui.fonts.caption, ui.theme.muted, token_of(h.column_axis, h.column_labels, spot.second));
    if (!h.hidden.empty() && h.hidden[offset] != 0)
        text_line(ui.fonts.caption, ui.theme.warning, hidden_text(h.hidden[offset]));
    if (!picture.marked.empty() && picture.marked[offset] != 0)
        text_line(ui.fonts.caption, ui.theme.accent,
                  picture.step == nullptr ? tr("opened manually: another mask hides it") : tr("changed by an edit"));
    ImGui::EndTooltip();
}

std::uint64_t key_of(const std::string& title) { return std::hash<std::string>{}("masks " + title) | (1ULL << 62U); }

std::optional<CellRect> lit_in(const MasksScene& scene, const MaskPicture& picture) {
    const auto& hovered = scene.tab().hovered;
    if (!hovered) return std::nullopt;
    const Heatmap& mask = scene.shown().parts.combined;
    if (hovered->row >= mask.rows || hovered->column + hovered->columns > mask.columns) return std::nullopt;
    // A query's output is computed from its whole row.
    if (!picture.per_key) return CellRect{hovered->row, 0, 1, picture.heatmap.columns};
    return hovered;
}

// ---- between the pictures

void draw_between(const Ui& ui, Area gap, const char* text, const std::vector<std::string>& tip) {
    const float width = compat::text_size(ui.fonts.caption, text).x;
    const float line = compat::font_size(ui.fonts.caption);
    draw_text(ui, ui.fonts.caption, {(gap.low.x + gap.high.x - width) * 0.5F, (gap.low.y + gap.high.y - line) * 0.5F},
              ui.theme.muted, text);
    area_tooltip(ui, gap, tip);
}

// The cell under the mouse along the chain: raw score, filled score, weight.
std::string way_of(const MasksScene& scene, CellRect at) {
    const ShownMasks& shown = scene.shown();
    const Heatmap& raw = shown.raw.heatmap;
    const auto number = [&](const MaskPicture& picture) {
        return short_number_text(static_cast<double>(picture.heatmap.at(at.row, at.column)), 4);
    };
    const auto hidden = shown.parts.combined.hidden[static_cast<std::size_t>(at.row * raw.columns + at.column)];
    const Arguments way = {{"query", token_of("query", raw.row_labels, at.row)},
                           {"key", token_of("key", raw.column_labels, at.column)},
                           {"raw", number(shown.raw)},
                           {"masked", number(shown.masked)},
                           {"hidden", hidden_text(hidden)},
                           {"weight", number(shown.pattern)}};
    return tr(hidden == hidden_by::nothing
                  ? message("{query} → {key}:   {raw} → {masked} → weight {weight}", way)
                  : message("{query} → {key}:   {raw} → {masked} ({hidden}) → weight {weight}", way));
}

void draw_way(const MasksScene& scene, ImVec2 at, float width) {
    const Ui& ui = scene.ui;
    const auto& hovered = scene.tab().hovered;
    const Heatmap& raw = scene.shown().raw.heatmap;
    if (hovered && hovered->columns == 1 && hovered->row < raw.rows && hovered->column < raw.columns)
        draw_text(ui, ui.fonts.mono_small, at, ui.theme.text, way_of(scene, *hovered), width);
    else
        draw_text(ui, ui.fonts.caption, at, ui.theme.muted,
                  tr("Rows are queries, columns are keys. Drag over any of these to hide or show keys; Shift paints "
                     "all heads."),
                  width);
}

}  // namespace

void draw_mask_picture(const MasksScene& scene, const MaskPicture& picture, ImU32 color, Legend legend, Area area) {
    const ShownMasks& shown = scene.shown();
    const HeatmapDrawing drawing{.heatmap = picture.heatmap,
                                 .key = key_of(picture.heatmap.title),
                                 .version = scene.masks.number(),
                                 .color = color,
                                 .lit = lit_in(scene, picture),
                                 .changed = &picture.marked,
                                 .stale = scene.session.stale(),
                                 .paintable = picture.per_key,
                                 .painting = picture.per_key,
                                 .legend = legend,
                                 .grid = legend == Legend::none};
    const HeatmapGesture gesture = draw_heatmap(scene.ui, drawing, scene.tab().views[picture.heatmap.title], area);
    if (gesture.painted)
        paint(scene, gesture);
    else if (gesture.hovered)
        picture_tooltip(scene, picture, *gesture.hovered, area.low.x);
    if (gesture.hovered)
        scene.tab().hovered_next = picture.per_key
                                       ? CellRect{gesture.hovered->first, gesture.hovered->second, 1, 1}
                                       : CellRect{gesture.hovered->first, 0, 1, shown.parts.combined.columns};
    if (gesture.clicked && picture.step != nullptr && !picture.per_key) {
        const Slice slice = slice_of(*picture.step, scene.place, scene.session.shown().scenario.config().nhead);
        scene.commands.push_back(
            command::Follow{picture.step->name, slice.cell(gesture.clicked->first, gesture.clicked->second)});
    }
}

void draw_mask_chain(const MasksScene& scene, Area area) {
    const Ui& ui = scene.ui;
    const ShownMasks& shown = scene.shown();
    const float gap = ui.px(20), line = ui.px(20), width = std::floor((area.width() - gap * 3) / 4);
    struct Link {
        const MaskPicture& picture;
        const char* arrow;
        std::vector<std::string> tip;
    };
    const std::array links = {
        Link{shown.raw, "→", {tr("fill"), tr("Where the mask is 0, the score is replaced by the fill.")}},
        Link{shown.masked, "→", {tr("softmax"), tr("Each row becomes weights that sum to 1.")}},
        Link{shown.pattern, "→", {tr("weighted sum"), tr("Each query's output is the sum of v, times its weights.")}},
        Link{shown.output, nullptr, {}},
    };
    float x = area.low.x;
    for (const Link& link : links) {
        draw_mask_picture(scene, link.picture, color_of(link.picture.step->meaning), Legend::bar,
                          {{x, area.low.y}, {x + width, area.high.y - line}});
        x += width + gap;
        if (link.arrow != nullptr)
            draw_between(ui, {{x - gap, area.low.y + ui.px(36)}, {x, area.high.y - line - ui.px(24)}}, link.arrow,
                         link.tip);
    }
    draw_way(scene, {area.low.x, area.high.y - line + ui.px(2)}, area.width());
}

}  // namespace decoderscope

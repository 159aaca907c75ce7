
#include "app/core/run/edits.h"
#include "app/core/run/step_picture.h"
#include "app/core/text/places.h"
#include "app/core/text/text_layout.h"
#include "app/views/tabs/masks/tab.h"
#include "app/views/widgets/heatmap_layout.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <cmath>
#include <iterator>

namespace decoderscope::views::masks {

namespace {

// How many pictures a line holds, and how wide their cells are.
struct PictureLine {
    std::size_t slots = 1;
    float labels = 0.0F, cells = 0.0F, gap = 0.0F;
    bool shared = false;  // one column of labels for the line

    [[nodiscard]] float x(std::size_t slot) const {
        const float before = static_cast<float>(slot) * (cells + gap);
        return shared ? (slot == 0 ? 0.0F : labels + before) : before + labels * static_cast<float>(slot);
    }
    [[nodiscard]] float width(std::size_t slot) const { return cells + (shared && slot > 0 ? 0.0F : labels); }
};

// Lines of up to `most_slots` pictures. A column of labels for the whole line makes room for another picture.
// `legend` is the width of what is below each.
PictureLine line_of(const Ui& ui, const HeatmapNeeds& needs, float width, std::size_t most_slots, float legend = 0.0F) {
    const float gap = ui.px(20), labels = needs.around.x,
                least = std::max(sizes_of(ui, needs).least.x - labels, legend);
    const auto fitting = [&](float first, float each) {
        const auto more = static_cast<int>(std::floor((width - first - least) / (each + gap)));
        return static_cast<std::size_t>(std::clamp(more + 1, 1, static_cast<int>(most_slots)));
    };
    const std::size_t apart = fitting(labels, labels + least), shared = fitting(labels, least);
    PictureLine line{.slots = std::max(apart, shared), .labels = labels, .gap = gap, .shared = shared > apart};
    const auto count = static_cast<float>(line.slots);
    const float all_labels = line.shared ? labels : labels * count;
    const float most = ui.px(96) * static_cast<float>(needs.columns);
    line.cells = std::clamp(std::floor((width - all_labels - gap * (count - 1)) / count), 1.0F, most);
    return line;
}

// A cell is painted, so it is as high as it is wide at least.
SizeHint height_of(const Ui& ui, const HeatmapNeeds& needs, float width) {
    SizeHint want = wanted_height(ui, needs, width);
    if (needs.rows <= kFew)
        want.least = std::min(needs.around.y + ui.px(kHittable) * static_cast<float>(needs.rows), want.most);
    return want;
}

// Lines of pictures of the same needs.
struct PictureLines {
    const HeatmapNeeds& needs;
    SizeHint want;
    std::size_t count;
};

// Where lines start and end: they share the view if it is enough for all; otherwise each is seen whole in it, and the
// mask beside its leak test has what it can use of it: what comes below begins in sight.
std::vector<Area> share_view(const Ui& ui, std::span<const PictureLines> all, Area view) {
    const float gap = ui.px(10);
    std::vector<SizeHint> wants;
    std::vector<float> heights;
    for (const PictureLines& lines : all) {
        wants.insert(wants.end(), lines.count, lines.want);
        heights.insert(heights.end(), lines.count, height_in_view(ui, lines.needs, lines.want, view.height()));
    }
    float least = gap * static_cast<float>(wants.size() - 1);
    for (const SizeHint& want : wants) least += want.least;
    if (least <= view.height()) {
        heights = shares(view.height() - gap * static_cast<float>(wants.size() - 1), wants);
    } else if (all.front().count == 1) {
        const HeatmapNeeds& first = all.front().needs;
        const float good = first.around.y + ui.px(36) * static_cast<float>(first.rows);
        heights.front() = std::max(heights.front(), std::min({all.front().want.most, good, view.height() - ui.px(36)}));
    }
    std::vector<Area> found;
    float y = view.low.y;
    for (const float height : heights) {
        found.push_back({{view.low.x, y}, {view.high.x, y + height}});
        y += height + gap;
    }
    return found;
}

// ---- the brush

std::vector<core::MaskCell> cells_taken(const MasksScene& scene, Spot spot) {
    const core::Heatmap& mask = scene.shown().parts.combined;
    if (scene.tab().tool == MaskTool::row) return core::cells_of_row(spot.first, mask.columns);
    if (scene.tab().tool == MaskTool::column) return core::cells_of_column(spot.second, mask.rows);
    return {spot};
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
        passed = core::cells_between(tab.last_painted, now);
    tab.last_painted = now;
    const bool all_heads = tab.all_heads || ImGui::GetIO().KeyShift;
    core::MaskStroke stroke{scene.attention,
                            scene.place.batch,
                            all_heads ? std::nullopt : std::optional(scene.place.head),
                            {},
                            tab.brush_keeps};
    for (const Spot& spot : passed) {
        const std::vector<core::MaskCell> cells = cells_taken(scene, spot);
        stroke.cells.insert(stroke.cells.end(), cells.begin(), cells.end());
    }
    if (!stroke.cells.empty()) scene.commands.push_back(core::command::PaintMasks{stroke, !gesture.paint_begins});
}

// ---- one picture

std::string token_of(const std::string& axis, const std::vector<std::string>& labels, Index at) {
    return core::spoken_place(axis, at, labels[static_cast<std::size_t>(at)]);
}

void picture_tooltip(const MasksScene& scene, const core::masks::MaskPicture& picture, const HeatmapGesture& gesture) {
    const core::Heatmap& h = picture.heatmap;
    const Spot spot = *gesture.hovered;
    const auto offset = static_cast<std::size_t>(spot.first * h.columns + spot.second);
    const Fonts& fonts = scene.ui.fonts;
    const Theme& theme = scene.ui.theme;
    std::string name = tr("{title} mask", {{"title", h.title}});
    if (picture.step != nullptr) {
        const core::Slice slice =
            core::slice_of(*picture.step, scene.place, scene.session.shown().scenario.query_heads());
        const auto [of, cell] =
            core::number_at(*scene.session.shown().run, *picture.step, slice, spot.first, spot.second);
        name = cell_name(of->name, cell);
    }
    std::vector<TooltipLine> lines = {{fonts.mono_small, theme.muted, name},
                                      {fonts.mono, theme.text, short_number(static_cast<double>(h.values[offset]))},
                                      {fonts.caption, theme.muted, token_of(h.row_axis, h.row_labels, spot.first)}};
    if (spot.second < h.own_columns())
        lines.push_back({fonts.caption, theme.muted, token_of(h.column_axis, h.column_labels, spot.second)});
    if (!h.hidden.empty() && h.hidden[offset] != 0)
        lines.push_back({fonts.caption, theme.warning, core::hidden_text(h.hidden[offset])});
    if (!picture.marked.empty() && picture.marked[offset] != 0)
        lines.push_back({fonts.caption, theme.text,
                         picture.overridden        ? tr("drawn manually: that overrides this mask")
                         : picture.step == nullptr ? tr("opened manually: another mask hides it")
                                                   : tr("changed by an edit")});
    draw_cell_tooltip(scene.ui, gesture, lines);
}

std::optional<core::CellRect> lit_in(const MasksScene& scene, const core::masks::MaskPicture& picture) {
    const auto& hovered = scene.tab().hovered;
    if (!hovered) return std::nullopt;
    const core::Heatmap& mask = scene.shown().parts.combined;
    if (hovered->row >= mask.rows || hovered->column + hovered->columns > mask.columns) return std::nullopt;
    // A query's output is computed from its whole row.
    if (!picture.per_key) return core::CellRect{hovered->row, 0, 1, picture.heatmap.columns};
    return hovered;
}

// ---- the way of a cell

// The cell under the mouse along the chain: raw score, filled score, weight.
std::string way_of(const MasksScene& scene, core::CellRect at) {
    const core::masks::ShownMasks& shown = scene.shown();
    const core::Heatmap& raw = shown.raw.heatmap;
    const auto number = [&](const core::masks::MaskPicture& picture) {
        return core::short_number_text(static_cast<double>(picture.heatmap.at(at.row, at.column)), 4);
    };
    const auto hidden = shown.parts.combined.hidden[static_cast<std::size_t>(at.row * raw.columns + at.column)];
    const Arguments way = {{"query", token_of("query", raw.row_labels, at.row)},
                           {"key", token_of("key", raw.column_labels, at.column)},
                           {"raw", number(shown.raw)},
                           {"masked", number(shown.masked)},
                           {"hidden", core::hidden_text(hidden)},
                           {"weight", number(shown.pattern)}};
    return tr(hidden == core::hidden_by::nothing
                  ? message("{query} → {key}:   {raw} → {masked} → weight {weight}", way)
                  : message("{query} → {key}:   {raw} → {masked} ({hidden}) → weight {weight}", way));
}

// Around the cells of positions that moved before the changed one.
void ring_leaks(const MasksScene& scene, const Area& cells, const Viewport& view) {
    const core::Heatmap& h = scene.leak_picture->heatmap;
    const ImVec2 cell = {cells.width() * view.zoom / static_cast<float>(h.columns),
                         cells.height() * view.zoom / static_cast<float>(h.rows)};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.PushClipRect(cells.low, cells.high, true);
    for (const auto& [row, column] : scene.leak_picture->earlier) {
        const ImVec2 low = {cells.low.x + (static_cast<float>(column) - view.origin.x) * cell.x,
                            cells.low.y + (static_cast<float>(row) - view.origin.y) * cell.y};
        compat::add_rect(list, low, {low.x + cell.x, low.y + cell.y}, scene.ui.theme.error, 0.0F, scene.ui.px(2));
    }
    list.PopClipRect();
}

void leak_tooltip(const MasksScene& scene, const HeatmapGesture& gesture) {
    const core::Heatmap& h = scene.leak_picture->heatmap;
    const auto [changed, position] = *gesture.hovered;
    const Fonts& fonts = scene.ui.fonts;
    const Theme& theme = scene.ui.theme;
    const std::string name = core::spoken_place("pos", position, h.row_labels[static_cast<std::size_t>(position)]);
    std::vector<TooltipLine> lines = {
        {fonts.caption, theme.text,
         tr("changed: {position}",
            {{"position", core::spoken_place("pos", changed, h.row_labels[static_cast<std::size_t>(changed)])}})}};
    const core::checks::Moved* moved = nullptr;
    if (scene.leak && scene.leak->changed == changed && position < std::ssize(scene.leak->moved))
        moved = &scene.leak->moved[static_cast<std::size_t>(position)];
    const bool is_known = moved != nullptr || h.texts.empty();
    const auto say = [&](const std::string& text) { lines.push_back({fonts.caption, theme.muted, text}); };
    if (is_known)
        lines.push_back({fonts.mono, theme.text,
                         tr("{place} moved by up to {number}",
                            {{"place", name}, {"number", core::masks::measured_text(h.at(changed, position))}})});
    else
        say(tr("Click the row to change this position."));
    if (moved != nullptr && moved->blind) say(tr("holds NaN before and after: no change can be seen there"));
    if (moved != nullptr && !moved->first_in.empty()) {
        say(tr("first in {tensor}", {{"tensor", moved->first_in}}));
        say(tr("furthest in {tensor}", {{"tensor", moved->largest_in}}));
    }
    if (is_known && position > changed) say(tr("it comes after the changed one, so it may move"));
    draw_cell_tooltip(scene.ui, gesture, lines);
}

}  // namespace

MaskSlots lay_out_masks(const Ui& ui, const core::masks::ShownMasks& shown, Area area, bool leak_first) {
    const HeatmapNeeds parts = needs_of(ui, shown.parts.combined, area.width() * 0.4F, Legend::none),
                       chain = needs_of(ui, shown.pattern.heatmap, area.width() * 0.4F, Legend::bar);
    const std::size_t apart = shown.parts.apart().size(), combined = leak_first ? 0 : 1, sheets = combined + apart;
    // The words are beside the masks, if these have room for one besides; otherwise they have a line of their own.
    const float words = std::max(area.width() * 0.21F, ui.px(150)), beside = area.width() - words - ui.px(20);
    const bool in_line = sheets > 0 && sizes_of(ui, parts).least.x <= beside;
    const PictureLine leak_line = line_of(ui, parts, area.width(), 2),
                      part_line = line_of(ui, parts, in_line ? beside : area.width(), std::max<std::size_t>(sheets, 1)),
                      chain_line = line_of(ui, chain, area.width(), 5, ui.px(124));
    const auto lines = [](std::size_t count, const PictureLine& line) { return (count + line.slots - 1) / line.slots; };
    const std::size_t first_lines = leak_first ? lines(2, leak_line) : 0, part_lines = lines(sheets, part_line),
                      word_lines = in_line ? 0 : 1, before_chain = first_lines + part_lines + word_lines;
    const float low = ui.px(96);
    // What is said beside a picture needs its height, however low that is.
    const float beside_words = in_line ? low : 0.0F;
    const SizeHint part_height =
        larger(height_of(ui, parts, part_line.width(0)), {beside_words, beside_words, beside_words});
    const SizeHint leak_height = height_of(ui, parts, leak_line.width(0));
    const HeatmapNeeds none = {1, 1, {0.0F, low}};
    const std::vector<Area> at = share_view(
        ui,
        std::array{PictureLines{parts, leak_height, first_lines}, PictureLines{parts, part_height, part_lines},
                   PictureLines{none, {low, low, low}, word_lines},
                   PictureLines{chain, height_of(ui, chain, chain_line.width(0)), lines(5, chain_line)}},
        area);
    const auto slot = [&](const PictureLine& line, std::size_t first, std::size_t i) {
        const std::size_t column = i % line.slots;
        const Area& of = at[first + i / line.slots];
        const float x = of.low.x + line.x(column);
        return MaskSlot{{{x, of.low.y}, {x + line.width(column), of.high.y}}, !line.shared || column == 0};
    };
    MaskSlots slots{};
    slots.combined = leak_first ? slot(leak_line, 0, 0) : slot(part_line, 0, 0);
    for (std::size_t i = 0; i < apart; ++i) slots.parts.push_back(slot(part_line, first_lines, combined + i));
    for (std::size_t i = 0; i < 4; ++i) slots.chain[i] = slot(chain_line, before_chain, i);
    slots.drawn = slot(chain_line, before_chain, 4);
    const Area& first_part = at[first_lines];
    slots.words =
        in_line ? Area{{area.high.x - words, first_part.low.y}, first_part.high} : at[first_lines + part_lines];
    slots.bottom = at.back().high.y;
    if (leak_first) {
        slots.leak = slot(leak_line, 0, 1);
    } else {
        const ImVec2 low_left = {area.low.x, slots.bottom + ui.px(10)};
        slots.bottom = low_left.y + height_in_view(ui, parts, leak_height, area.height());
        slots.leak = {{low_left, {area.low.x + leak_line.width(0), slots.bottom}}};
    }
    return slots;
}

void draw_leak_picture(const MasksScene& scene, const MaskSlot& slot) {
    const core::Heatmap& heatmap = scene.leak_picture->heatmap;
    MasksTabState& tab = scene.tab();
    const HeatmapDrawing drawing{.heatmap = heatmap,
                                 .key = heatmap_key("masks", 1),
                                 .version = scene.leak_picture.number(),
                                 .color = scene.ui.theme.accent,
                                 .lit = core::CellRect{tab.leak_position, 0, 1, heatmap.columns},
                                 .stale = scene.session.stale(),
                                 .legend = Legend::none,
                                 .numbers_positions = false,
                                 .labels_rows = slot.labels_rows,
                                 .scrolls_with = ImGui::GetScrollMaxY() > 0.0F};
    const HeatmapGesture gesture = draw_heatmap(scene.ui, drawing, tab.views[heatmap.title], slot.area);
    ring_leaks(scene, gesture.cells, tab.views[heatmap.title]);
    if (gesture.hovered) leak_tooltip(scene, gesture);
    if (gesture.clicked) {
        tab.chosen_position = gesture.clicked->first;
        tab.chosen_batch = scene.place.batch;
    }
}

void draw_way(const MasksScene& scene, Area area) {
    const Ui& ui = scene.ui;
    const auto& hovered = scene.tab().hovered;
    const core::Heatmap& raw = scene.shown().raw.heatmap;
    if (hovered && hovered->columns == 1 && hovered->row < raw.rows && hovered->column < raw.columns)
        draw_text(ui, ui.number(), area.low, way_of(scene, *hovered), area.width());
    else
        draw_text(ui, ui.note(), area.low, tr("Drag over cells to show or hide keys; Shift: of all heads"),
                  area.width());
}

void draw_sign(const MasksScene& scene, const MaskSlot& slot, const char* sign, const std::vector<std::string>& tip) {
    const Ui& ui = scene.ui;
    const float width = compat::text_size(ui.fonts.mono, sign).x, gap = ui.px(20);
    const Area& at = slot.area;
    // The first picture of a line has only the edge of the tab before it.
    const bool first = at.low.x - gap < scene.pictures_left;
    const float middle = at.low.x - (first ? ui.px(8) : gap * 0.5F);
    draw_text(ui, {ui.fonts.mono, ui.theme.muted}, {middle - width * 0.5F, at.low.y}, sign);  // beside the title
    area_tooltip(ui, {{middle - gap * 0.5F, at.low.y}, {at.low.x, at.high.y}}, tip);
}

void draw_mask_picture(const MasksScene& scene, const core::masks::MaskPicture& picture, ImU32 color, Legend legend,
                       const MaskSlot& slot) {
    const core::masks::ShownMasks& shown = scene.shown();
    const HeatmapDrawing drawing{.heatmap = picture.heatmap,
                                 .key = heatmap_key("masks " + picture.heatmap.title),
                                 .version = scene.masks.number(),
                                 .color = color,
                                 .lit = lit_in(scene, picture),
                                 .changed = &picture.marked,
                                 .stale = scene.session.stale(),
                                 .paintable = picture.per_key,
                                 .painting = picture.per_key,
                                 .legend = legend,
                                 .grid = legend == Legend::none,
                                 .numbers_positions = false,
                                 .labels_rows = slot.labels_rows,
                                 .keeps_hittable = picture.per_key,
                                 .scrolls_with = ImGui::GetScrollMaxY() > 0.0F};
    const HeatmapGesture gesture = draw_heatmap(scene.ui, drawing, scene.tab().views[picture.heatmap.title], slot.area);
    if (gesture.painted)
        paint(scene, gesture);
    else if (gesture.hovered)
        picture_tooltip(scene, picture, gesture);
    if (gesture.hovered)
        scene.tab().hovered_next = picture.per_key
                                       ? core::CellRect{gesture.hovered->first, gesture.hovered->second, 1, 1}
                                       : core::CellRect{gesture.hovered->first, 0, 1, shown.parts.combined.columns};
    if (gesture.clicked && picture.step != nullptr && !picture.per_key) {
        const core::Slice slice =
            core::slice_of(*picture.step, scene.place, scene.session.shown().scenario.query_heads());
        scene.commands.push_back(
            core::command::Follow{picture.step->name, slice.cell(gesture.clicked->first, gesture.clicked->second)});
    }
}

void draw_mask_chain(const MasksScene& scene, const MaskSlots& slots) {
    const core::masks::ShownMasks& shown = scene.shown();
    struct Link {
        const core::masks::MaskPicture& picture;
        std::vector<std::string> tip;  // of the arrow before it
    };
    const std::array links = {
        Link{shown.raw, {}},
        Link{shown.masked, {tr("fill"), tr("Where the mask is 0, the score is replaced by the fill.")}},
        Link{shown.pattern,
             {tr("softmax"), shown.pattern.heatmap.has_sink
                                 ? tr("Each row becomes weights that sum to 1 together with the sink's, hatched.")
                                 : tr("Each row becomes weights that sum to 1.")}},
        Link{shown.output,
             {tr("weighted sum"), tr("Each query's output is the sum of the rows of v, each times its weight.")}},
    };
    for (std::size_t i = 0; i < links.size(); ++i) {
        if (i > 0) draw_sign(scene, slots.chain[i], "→", links[i].tip);
        draw_mask_picture(scene, links[i].picture, color_of(links[i].picture.step->meaning), Legend::bar,
                          slots.chain[i]);
    }
}

}  // namespace decoderscope::views::masks

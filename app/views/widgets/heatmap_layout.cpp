#include "app/views/widgets/heatmap_layout.h"

#include "app/core/text/places.h"
#include "app/views/widgets/imgui_compat.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::views {

namespace {

// Between the numbers of neighbouring cells: wider than between the digits of one, so that none run together.
float number_gap(const Ui& ui) { return compat::text_size(ui.fonts.mono_small, "0").x * 0.4F; }

// Between a position's number and its token, which may be a digit, too.
float position_gap(const Ui& ui) { return ui.px(6); }

// The space around the cells.
struct Margins {
    float left = 0.0F, title = 0.0F, top = 0.0F, bottom = 0.0F;
};

Margins margins(const Ui& ui, const core::Heatmap& h, float width, Legend legend, bool labels_rows = true) {
    const float line = compat::font_size(ui.fonts.mono_small) + ui.px(2);
    const float title = line + ui.px(6);
    const float left = labels_rows ? label_width(ui, h.row_labels, width * 0.25F) + ui.px(8) : ui.px(2);
    const auto rows = static_cast<float>(legend_rows(ui, h, legend, width - left));
    return {left, title, title + line + ui.px(2), rows > 0.0F ? line * rows + ui.px(6) : ui.px(2)};
}

bool few(Index count) { return count <= kFew; }

// The least height of a row: one that can be hit, and read; of wide matrices, which are looked at as a whole, one that
// has room for its label, if all of them don't get too high.
float least_row(const Ui& ui, Index rows, Index columns) {
    if (few(columns)) return few(rows) ? ui.px(kHittableHeight) : ui.px(120) / static_cast<float>(rows);
    return std::min(ui.px(kLabelledHeight), ui.px(140) / static_cast<float>(rows));
}

// The height of a row below which a picture scrolls.
float tight_row(const Ui& ui, Index rows, Index columns) {
    return std::min(least_row(ui, rows, columns), ui.px(kLeastHit));
}

// The size of cells that must stay large enough to hit.
ImVec2 hittable_cell(const Ui& ui, const core::Heatmap& h, ImVec2 fit) {
    // A picture that can be shown whole is: it scrolls only where its cells would be too small to be hit at all.
    if (few(h.columns)) fit.x = std::max(fit.x, ui.px(kLeastHit));
    if (few(h.rows)) fit.y = std::max(fit.y, tight_row(ui, h.rows, h.columns));
    return fit;
}

// What the positions' numbers take: the width left of the rows' labels, and the height above the columns'.
struct NumberRoom {
    float rows = 0.0F, columns = 0.0F;
};

bool runs_over_positions(std::string_view name) {
    return name == axis::src || name == axis::pos || name == axis::query || name == axis::key;
}

// Whether these are the tokens of a sequence's positions, few enough that each has its number. With more, the labels
// that fit say it, or the one that is pointed out.
bool are_tokens(std::string_view axis, std::span<const std::string> labels) {
    if (!runs_over_positions(axis) || !few(static_cast<Index>(labels.size()))) return false;
    for (std::size_t i = 0; i < labels.size(); ++i)
        if (labels[i] != std::to_string(i)) return true;
    return false;
}

// The width of the widest number.
float widest_number(const Ui& ui, Index count) { return position_number_size(ui, std::max<Index>(count, 1) - 1).x; }

// The cells beside these margins, before any zoom.
ImVec2 cell_beside(const Ui& ui, const core::Heatmap& h, const Margins& around, NumberRoom numbers, Area area) {
    const ImVec2 room = {std::max(area.width() - around.left - numbers.rows, 1.0F),
                         std::max(area.height() - around.top - numbers.columns - around.bottom, 1.0F)};
    return fitted_cell(ui, h.rows, h.columns, room);
}

// Every number with at most this many characters has room, which is as many digits as help: ".9977".
constexpr std::size_t kEnoughCharacters = 5;

// The numbers come where they cost nothing: all cells keep their digits, and stay large enough to hit.
NumberRoom room_for_numbers(const Ui& ui, const HeatmapDrawing& d, const Margins& around, Area area) {
    const core::Heatmap& h = d.heatmap;
    const Index keys = h.own_columns();
    const ImVec2 without = cell_beside(ui, h, around, {}, area);
    const auto costs_nothing = [&](ImVec2 cell) {
        return characters_in(ui, cell) >= std::min(characters_in(ui, without), kEnoughCharacters) &&
               cell.x >= ui.px(kHittable) && cell.y >= ui.px(kHittableHeight);
    };
    NumberRoom room;
    if (!d.numbers_positions) return room;
    if (are_tokens(h.row_axis, h.row_labels)) {
        const float width = widest_number(ui, h.rows) + position_gap(ui);
        if (costs_nothing(cell_beside(ui, h, around, {width, 0.0F}, area))) room.rows = width;
    }
    if (are_tokens(h.column_axis, std::span(h.column_labels).first(static_cast<std::size_t>(keys)))) {
        const float height = position_number_size(ui, 0).y;
        const ImVec2 cell = cell_beside(ui, h, around, {room.rows, height}, area);
        if (costs_nothing(cell) && widest_number(ui, keys) + ui.px(2) <= cell.x) room.columns = height;
    }
    return room;
}

// ---- words that lean above their columns

constexpr float kLeans = 0.7071F;  // of their length, to the right and up

// How long a word is at most that leans.
float leaning_width(const Ui& ui, const std::string& label) {
    return std::min(compat::text_size(ui.fonts.mono_small, label).x, ui.px(84));
}

// How far the columns' words reach up where they lean; 0 where lying ones have room, or cells have none for leaning
// ones. Then `cell` is the size of the cells below them.
float leaning_labels(const Ui& ui, const core::Heatmap& h, ImVec2 room, ImVec2& cell) {
    const std::span<const std::string> words =
        std::span(h.column_labels).first(static_cast<std::size_t>(h.own_columns()));
    if (!are_tokens(h.column_axis, words)) return 0.0F;
    const float line = compat::font_size(ui.fonts.mono_small);
    float widest = 0.0F, before = 0.0F;
    bool is_cut = false;
    for (const std::string& word : words) {
        const float width = compat::text_size(ui.fonts.mono_small, word).x;
        // "<pad>" has a short form.
        const bool is_special = word.starts_with('<') && word.ends_with('>');
        is_cut = is_cut || (!is_special && std::max(width, (before + width) * 0.5F) > cell.x - ui.px(3));
        widest = std::max(widest, leaning_width(ui, word));
        before = width;
    }
    if (!is_cut) return 0.0F;
    const float height = widest * kLeans + line * 0.6F;
    room.y -= height - line;
    ImVec2 below = fitted_cell(ui, h.rows, h.columns, room);
    // The last words reach beyond their columns.
    float beyond = 0.0F;
    for (std::size_t i = 0; i < words.size(); ++i)
        beyond = std::max(beyond, (static_cast<float>(i) + 0.5F) * below.x + leaning_width(ui, words[i]) * kLeans +
                                      line * 0.5F - room.x);
    room.x -= beyond;
    below = fitted_cell(ui, h.rows, h.columns, room);
    constexpr std::size_t kEnough = 3;  // ".58"
    const bool have_room = below.x >= line * 1.05F && below.y >= ui.px(kHittableHeight);
    const bool keep_digits = characters_in(ui, below) >= std::min(characters_in(ui, cell), kEnough);
    if (!have_room || !keep_digits) return 0.0F;
    cell = below;
    return height;
}

void draw_leaning_labels(const Ui& ui, const HeatmapDrawing& d, const HeatmapLayout& l, const core::CellRect& seen) {
    const float line = compat::font_size(ui.fonts.mono_small);
    for (Index column = seen.column; column < seen.column + seen.columns; ++column) {
        const std::string& word = d.heatmap.column_labels[static_cast<std::size_t>(column)];
        const float x = l.origin.x + (static_cast<float>(column) + 0.5F) * l.cell.x;
        if (x < l.cells.low.x || x > l.cells.high.x) continue;
        const compat::Turned leaning{{x, l.cells.low.y - line * 0.35F}, compat::Turned::leaning};
        compat::add_sized_text(*ImGui::GetWindowDrawList(), ui.fonts.mono_small, line,
                               {leaning.about.x, leaning.about.y - line * 0.5F}, ui.theme.muted,
                               shortened(ui.fonts.mono_small, word, ui.px(84)), &leaning);
    }
}

// The smallest of 1, 2, 5, 10, 20, … cells that leaves room for a label.
Index label_step(float cells_per_label) {
    for (Index decade = 1;; decade *= 10)
        for (const Index step : {decade, 2 * decade, 5 * decade})
            if (static_cast<float>(step) >= cells_per_label) return step;
}

bool is_index(const std::string& label) {
    return std::all_of(label.begin(), label.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// A label of a row or column that is pointed out, on a ground of its own.
void draw_pointed_out(const Ui& ui, ImVec2 at, float width, const std::string& text, bool selected) {
    const float line = compat::font_size(ui.fonts.mono_small), edge = ui.px(2);
    ImGui::GetWindowDrawList()->AddRectFilled({at.x - edge, at.y}, {at.x + width + edge, at.y + line},
                                              selected ? ui.theme.accent_soft : ui.theme.raised, ui.px(3));
    draw_text(ui, ui.number(), at, text);
}

// ---- columns

struct ColumnLabels {
    const Ui& ui;
    const HeatmapDrawing& d;
    const HeatmapLayout& l;
    const core::CellRect& seen;
    Area area;
    bool words;   // otherwise indices
    Index every;  // cells that share a label
    float gap;
    std::size_t alike;  // how many characters all words begin with: "head " of "head 0", "head 1"

    [[nodiscard]] const std::string& label(Index column) const {
        return d.heatmap.column_labels[static_cast<std::size_t>(column)];
    }
    [[nodiscard]] float width(const std::string& text) const { return compat::text_size(ui.fonts.mono_small, text).x; }
    [[nodiscard]] float middle(Index column) const {
        return l.origin.x + (static_cast<float>(column) + 0.5F) * l.cell.x;
    }
    [[nodiscard]] float pitch() const { return l.cell.x * static_cast<float>(every); }
    // What a label takes at most where its neighbours are long, too.
    [[nodiscard]] float share(Index column) const {
        return column < seen.column || column >= seen.column + seen.columns
                   ? 0.0F
                   : std::min(width(label(column)), pitch() - gap);
    }
    // The room of a label: up to its neighbours' share, and within the area.
    [[nodiscard]] float room(Index column) const {
        const float beside = std::max(share(column - every), share(column + every));
        const float edge = std::min(middle(column) - area.low.x, area.high.x + ui.px(4) - middle(column));
        return std::min({2.0F * (pitch() - gap) - beside, 2.0F * edge, ui.px(96)});
    }
};

// How many characters of whole words all labels begin with that aren't indices; 0 of a single one.
std::size_t alike_characters(std::span<const std::string> labels) {
    const std::string* first = nullptr;
    std::size_t alike = 0, words = 0;
    for (const std::string& label : labels) {
        if (is_index(label)) continue;
        if (++words == 1) {
            first = &label;
            alike = label.size();
        }
        const auto end = std::ranges::mismatch(*first, label).in2;
        alike = std::min(alike, static_cast<std::size_t>(end - label.begin()));
    }
    if (words < 2) return 0;
    const std::size_t space = first->rfind(' ', alike == 0 ? 0 : alike - 1);
    return space == std::string::npos ? 0 : space + 1;
}

// How far apart the words are among labels that are otherwise indices, as "head 0", 1, 2, …, "head 1" are; 1 if all are
// words.
Index columns_per_word(std::span<const std::string> labels) {
    const auto first = std::ranges::find_if_not(labels, is_index);
    if (first == labels.end()) return 1;
    const auto second = std::find_if_not(first + 1, labels.end(), is_index);
    return second == labels.end() ? 1 : static_cast<Index>(second - first);
}

// How many cells share a label: as many as it takes room, and so that no word is passed over for an index.
Index columns_per_label(const Ui& ui, const HeatmapLayout& l, std::span<const std::string> labels, float widest,
                        bool words, float gap) {
    if (!words) return label_step((widest + ui.px(6)) / l.cell.x);
    const float glyph = compat::text_size(ui.fonts.mono_small, "0").x;
    if (l.cell.x >= glyph + gap) return 1;
    const auto room = static_cast<Index>(std::ceil((std::min(widest, glyph * 5.0F) + gap) / l.cell.x));
    const Index apart = columns_per_word(labels);
    return (room + apart - 1) / apart * apart;
}

ColumnLabels column_labels(const Ui& ui, const HeatmapDrawing& d, const HeatmapLayout& l, const core::CellRect& seen,
                           Area area) {
    const std::span<const std::string> labels =
        std::span(d.heatmap.column_labels)
            .subspan(static_cast<std::size_t>(seen.column), static_cast<std::size_t>(seen.columns));
    float widest = 0.0F;
    for (const std::string& label : labels) widest = std::max(widest, compat::text_size(ui.fonts.mono_small, label).x);
    const bool words = !std::all_of(labels.begin(), labels.end(), is_index);
    const float gap = ui.px(3);
    return {ui,
            d,
            l,
            seen,
            area,
            words,
            columns_per_label(ui, l, labels, widest, words, gap),
            gap,
            alike_characters(labels)};
}

// What is written of a column's label: without room for all of it, what tells it from the others.
std::string told_apart(const ColumnLabels& c, Index column) {
    const std::string& label = c.label(column);
    if (!c.words || c.width(label) <= c.room(column)) return label;
    return is_index(label) ? label : label.substr(c.alike);
}

// Where a label was drawn.
struct Taken {
    float low = 0.0F, high = 0.0F;
    [[nodiscard]] bool leaves(float from, float to) const { return to <= low || from >= high; }
};

// The whole label of a column that is pointed out. It stays within the area.
Taken draw_whole_label(const ColumnLabels& c, Index column, bool selected) {
    const std::string& label = c.label(column);
    const std::string text =
        fitted(c.ui.fonts.mono_small, is_index(label) ? label : std::to_string(column) + " " + label, c.area.width());
    const float width = c.width(text);
    const float x =
        std::clamp(c.middle(column) - width * 0.5F, c.area.low.x, std::max(c.area.low.x, c.area.high.x - width));
    draw_pointed_out(c.ui, {x, c.l.column_labels_y}, width, text, selected);
    return {x - c.gap * 2, x + width + c.gap * 2};
}

// As a fraction of the font's size.
constexpr float kPositionSize = 0.8F;

// Whether two different labels, of every so many rows, would be cut to the same: "0 resid_p…" says neither pre nor
// post.
bool would_look_alike(ImFont* font, std::span<const std::string> labels, Index every, float room) {
    std::map<std::string, const std::string*> cut;
    for (std::size_t row = 0; row < labels.size(); row += static_cast<std::size_t>(every)) {
        const auto [same, is_new] = cut.emplace(fitted(font, labels[row], room), &labels[row]);
        if (!is_new && *same->second != labels[row]) return true;
    }
    return false;
}

}  // namespace

float label_width(const Ui& ui, const std::vector<std::string>& labels, float most) {
    float width = 0.0F;
    for (const std::string& label : labels) {
        if (width >= most) return most;
        width = std::max(width, compat::text_size(ui.fonts.mono_small, label).x);
    }
    return std::min(width, most);
}

HeatmapNeeds needs_of(const Ui& ui, const core::Heatmap& heatmap, float width, Legend legend) {
    const Margins around = margins(ui, heatmap, width, legend);
    return {heatmap.rows, heatmap.columns, {around.left, around.top + around.bottom}};
}

ImVec2 fitted_cell(const Ui& ui, Index rows, Index columns, ImVec2 room) {
    const ImVec2 fit = {room.x / static_cast<float>(columns), room.y / static_cast<float>(rows)};
    const float square = std::min(fit.x, fit.y), most = ui.px(96);
    return {std::min({fit.x, std::max(square, number_width(ui, 4)), most}),
            std::min({fit.y, std::max(square, ui.px(20)), most})};
}

HeatmapSizes sizes_of(const Ui& ui, const HeatmapNeeds& needs) {
    // A side of many cells needs only be seen as a whole.
    const float least_height = least_row(ui, needs.rows, needs.columns) * static_cast<float>(needs.rows);
    const auto side = [&](Index count, float each, float many) {
        const float all = static_cast<float>(count) * each;
        return few(count) ? all : std::min(all, ui.px(many));
    };
    const auto with_around = [&](float width, float height) {
        return ImVec2{needs.around.x + width, needs.around.y + height};
    };
    return {with_around(side(needs.columns, ui.px(kHittable), 150), least_height),
            with_around(side(needs.columns, number_width(ui, 4), 640), side(needs.rows, ui.px(24), 320)),
            with_around(ui.px(96) * static_cast<float>(needs.columns), ui.px(96) * static_cast<float>(needs.rows))};
}

std::size_t characters_in(const Ui& ui, ImVec2 cell) {
    const float digit = compat::font_size(ui.fonts.mono_small) * 0.7F;
    if (cell.y < digit + ui.px(2)) return 0;
    return static_cast<std::size_t>(std::max(cell.x - number_gap(ui), 0.0F) /
                                    compat::text_size(ui.fonts.mono_small, "0").x);
}

HeatmapLayout lay_out(const Ui& ui, const HeatmapDrawing& d, Viewport& view, Area area) {
    const core::Heatmap& h = d.heatmap;
    const Margins around = margins(ui, h, area.width(), d.legend, d.labels_rows);
    const NumberRoom numbers = room_for_numbers(ui, d, around, area);
    HeatmapLayout l;
    l.row_numbers = numbers.rows;
    l.cells.low.x = std::floor(area.low.x + around.left + numbers.rows);
    float width = std::max(area.high.x - l.cells.low.x, 1.0F);
    // Where words lean, there is no line for numbers above them.
    const float unnumbered = area.low.y + around.top;
    const ImVec2 room = {width, std::max(area.high.y - around.bottom - unnumbered, 1.0F)};
    ImVec2 fit = fitted_cell(ui, h.rows, h.columns, {room.x, std::max(room.y - numbers.columns, 1.0F)});
    if (d.numbers_positions) l.leaning = leaning_labels(ui, h, room, fit);
    if (d.numbers_positions && l.leaning == 0.0F && numbers.rows > 0.0F) {
        // Whole words are worth more than the rows' numbers.
        l.leaning = leaning_labels(ui, h, {room.x + numbers.rows, room.y}, fit);
        if (l.leaning > 0.0F) {
            l.row_numbers = 0.0F;
            l.cells.low.x -= numbers.rows;
            width += numbers.rows;
        }
    }
    l.column_numbers = l.leaning > 0.0F ? 0.0F : numbers.columns;
    const float line = compat::font_size(ui.fonts.mono_small);
    l.cells.low.y = std::floor(unnumbered + (l.leaning > 0.0F ? l.leaning - line : numbers.columns));
    l.column_labels_y = l.cells.low.y - line - ui.px(4);
    const float height = std::max(area.high.y - around.bottom - l.cells.low.y, 1.0F);
    const ImVec2 base = d.keeps_hittable ? hittable_cell(ui, h, fit) : fit;
    l.least_zoom = std::min({1.0F, fit.x / base.x, fit.y / base.y});
    view.zoom = std::max(view.zoom, l.least_zoom);
    l.cell = {base.x * view.zoom, base.y * view.zoom};
    const float whole_w = l.cell.x * static_cast<float>(h.columns), whole_h = l.cell.y * static_cast<float>(h.rows);
    l.cells.high = {l.cells.low.x + std::min(width, whole_w), l.cells.low.y + std::min(height, whole_h)};
    view.origin.x =
        std::clamp(view.origin.x, 0.0F, std::max(0.0F, static_cast<float>(h.columns) - l.cells.width() / l.cell.x));
    view.origin.y =
        std::clamp(view.origin.y, 0.0F, std::max(0.0F, static_cast<float>(h.rows) - l.cells.height() / l.cell.y));
    l.origin = {l.cells.low.x - view.origin.x * l.cell.x, l.cells.low.y - view.origin.y * l.cell.y};
    l.legend_y = l.cells.high.y + ui.px(6);
    return l;
}

Area box_of(const HeatmapLayout& l, const core::CellRect& cells) {
    return {{l.origin.x + static_cast<float>(cells.column) * l.cell.x,
             l.origin.y + static_cast<float>(cells.row) * l.cell.y},
            {l.origin.x + static_cast<float>(cells.column + cells.columns) * l.cell.x,
             l.origin.y + static_cast<float>(cells.row + cells.rows) * l.cell.y}};
}

core::CellRect seen_cells(const HeatmapLayout& l, const core::Heatmap& h) {
    const auto first = [](float low, float origin, float size) {
        return static_cast<Index>(std::floor((low - origin) / size + 1e-3F));
    };
    const auto last = [](float high, float origin, float size) {
        return static_cast<Index>(std::ceil((high - origin) / size - 1e-3F));
    };
    core::CellRect seen;
    seen.row = std::clamp<Index>(first(l.cells.low.y, l.origin.y, l.cell.y), 0, h.rows - 1);
    seen.column = std::clamp<Index>(first(l.cells.low.x, l.origin.x, l.cell.x), 0, h.columns - 1);
    seen.rows = std::clamp<Index>(last(l.cells.high.y, l.origin.y, l.cell.y), seen.row + 1, h.rows) - seen.row;
    seen.columns =
        std::clamp<Index>(last(l.cells.high.x, l.origin.x, l.cell.x), seen.column + 1, h.columns) - seen.column;
    return seen;
}

std::optional<Spot> spot_at(const HeatmapLayout& l, const core::Heatmap& h, ImVec2 point) {
    if (!l.cells.contains(point)) return std::nullopt;
    return Spot{std::clamp<Index>(static_cast<Index>((point.y - l.origin.y) / l.cell.y), 0, h.rows - 1),
                std::clamp<Index>(static_cast<Index>((point.x - l.origin.x) / l.cell.x), 0, h.columns - 1)};
}

float number_width(const Ui& ui, int characters) {
    const std::string text(static_cast<std::size_t>(characters), '0');
    return compat::text_size(ui.fonts.mono_small, text).x + number_gap(ui);
}

float fitted_height(const Ui& ui, const HeatmapNeeds& needs, float width, float most) {
    const ImVec2 room = {std::max(width - needs.around.x, 1.0F), std::max(most - needs.around.y, 1.0F)};
    const ImVec2 cell = fitted_cell(ui, needs.rows, needs.columns, room);
    return std::min(most, needs.around.y + cell.y * static_cast<float>(needs.rows));
}

float fitted_height(const Ui& ui, const core::Heatmap& heatmap, float width, float most) {
    return fitted_height(ui, needs_of(ui, heatmap, width), width, most);
}

SizeHint wanted_height(const Ui& ui, const HeatmapNeeds& needs, float width) {
    const HeatmapSizes sizes = sizes_of(ui, needs);
    const float most = fitted_height(ui, needs, width, 1e6F);
    return {std::min(sizes.least.y, most), std::min(sizes.good.y, most), most};
}

float height_in_view(const Ui& ui, const HeatmapNeeds& needs, const SizeHint& want, float view) {
    const float tight = needs.around.y + tight_row(ui, needs.rows, needs.columns) * static_cast<float>(needs.rows);
    return std::max(std::min(tight, want.least), std::min(std::max(want.least, want.good), view));
}

void draw_column_labels(const Ui& ui, const HeatmapDrawing& d, const HeatmapLayout& l, const core::CellRect& seen,
                        Area area, const PointedOut& pointed) {
    const ColumnLabels c = column_labels(ui, d, l, seen, area);
    std::vector<Taken> taken;
    for (const auto& [spot, selected] : {std::pair{pointed.hovered, false}, std::pair{pointed.selected, true}}) {
        if (!spot || spot->second < seen.column || spot->second >= seen.column + seen.columns) continue;
        if (!taken.empty() && !taken.front().leaves(c.middle(spot->second), c.middle(spot->second))) continue;
        taken.push_back(draw_whole_label(c, spot->second, selected));
    }
    if (l.leaning > 0.0F) return draw_leaning_labels(ui, d, l, seen);
    float free_from = area.low.x;
    for (Index column = seen.column; column < seen.column + seen.columns; ++column) {
        if (column % c.every != 0) continue;
        // Of an index a part would be another: among words, one without room is left out.
        const bool is_word = c.words && !is_index(c.label(column));
        const std::string text =
            is_word ? shortened(ui.fonts.mono_small, told_apart(c, column), c.room(column)) : c.label(column);
        const float width = c.width(text), x = c.middle(column) - width * 0.5F;
        const bool free =
            std::all_of(taken.begin(), taken.end(), [&](const Taken& other) { return other.leaves(x, x + width); });
        if (text.empty() || !free || x < free_from || x + width > area.high.x + ui.px(4)) continue;
        draw_text(ui, {ui.fonts.mono_small, ui.theme.muted}, {x, l.column_labels_y}, text);
        free_from = x + width + ui.px(1);
    }
}

// ---- the positions' numbers

ImVec2 position_number_size(const Ui& ui, Index position) {
    const ImVec2 size = compat::text_size(ui.fonts.mono_small, std::to_string(position));
    return {size.x * kPositionSize, size.y * kPositionSize};
}

void draw_position_number(const Ui& ui, ImVec2 at, ImU32 color, Index position) {
    const std::string number = std::to_string(position);
    ImGui::GetWindowDrawList()->AddText(ui.fonts.mono_small, compat::font_size(ui.fonts.mono_small) * kPositionSize, at,
                                        color, number.data(), number.data() + number.size());
}

void draw_position_numbers(const Ui& ui, const HeatmapDrawing& d, const HeatmapLayout& l, const core::CellRect& seen,
                           Area area) {
    const ImU32 color = ui.theme.muted;
    const auto middle = [](float origin, Index at, float cell) {
        return origin + (static_cast<float>(at) + 0.5F) * cell;
    };
    if (l.column_numbers > 0.0F) {
        // A sink isn't a position.
        const Index end = std::min(seen.column + seen.columns, d.heatmap.own_columns());
        for (Index column = seen.column; column < end; ++column) {
            const float x = middle(l.origin.x, column, l.cell.x) - position_number_size(ui, column).x * 0.5F;
            draw_position_number(ui, {x, l.column_labels_y - l.column_numbers}, color, column);
        }
    }
    if (l.row_numbers > 0.0F) {
        const float line = position_number_size(ui, 0).y;
        for (Index row = seen.row; row < seen.row + seen.rows; ++row) {
            const float x = area.low.x + l.row_numbers - position_gap(ui) - position_number_size(ui, row).x;
            draw_position_number(ui, {x, middle(l.origin.y, row, l.cell.y) - line * 0.5F}, color, row);
        }
    }
}

// ---- rows

void draw_row_labels(const Ui& ui, const HeatmapDrawing& d, const HeatmapLayout& l, const core::CellRect& seen,
                     Area area, const PointedOut& pointed) {
    if (!d.labels_rows) return;
    const core::Heatmap& h = d.heatmap;
    ImFont* font = ui.fonts.mono_small;
    const std::span<const std::string> labels =
        std::span(h.row_labels).subspan(static_cast<std::size_t>(seen.row), static_cast<std::size_t>(seen.rows));
    // Letters are lower than their line; brackets and other characters, such as a visible space, may not be.
    const auto reaches_far = [](char c) {
        return static_cast<unsigned char>(c) >= 0x80 ||
               std::string_view("()[]{}|/\\@$").find(c) != std::string_view::npos;
    };
    const bool plain =
        std::ranges::none_of(labels, [&](const std::string& label) { return std::ranges::any_of(label, reaches_far); });
    const float line = compat::font_size(font), letters = line * (plain ? 0.685F : 0.85F);
    const bool words = !std::all_of(labels.begin(), labels.end(), is_index);
    const Index every =
        words ? std::max<Index>(1, static_cast<Index>(std::ceil(letters / l.cell.y))) : label_step(letters / l.cell.y);
    const float room = l.cells.low.x - area.low.x - l.row_numbers - ui.px(6);
    const auto cut = would_look_alike(font, labels, every, room) ? fitted_in_middle : fitted;
    const auto middle = [&](Index row) { return l.origin.y + (static_cast<float>(row) + 0.5F) * l.cell.y; };
    const auto is_pointed = [&](const std::optional<Spot>& spot, Index row) { return spot && spot->first == row; };
    const auto hides = [&](const std::optional<Spot>& spot, Index row) {
        return spot && spot->first != row && std::abs(middle(spot->first) - middle(row)) < letters;
    };
    for (Index r = seen.row; r < seen.row + seen.rows; ++r) {
        const bool hovered = is_pointed(pointed.hovered, r), selected = is_pointed(pointed.selected, r);
        if (hides(pointed.hovered, r) || (!hovered && hides(pointed.selected, r))) continue;
        if (!hovered && !selected && r % every != 0) continue;
        // Pointed out, a token has its position with it where there is room.
        const std::string &label = h.row_labels[static_cast<std::size_t>(r)],
                          numbered = std::to_string(r) + " " + label;
        const bool with_number =
            (hovered || selected) && !is_index(label) && compat::text_size(font, numbered).x <= room;
        const std::string text = with_number ? numbered : cut(font, label, room);
        const float y = middle(r) - line * 0.5F, width = compat::text_size(font, text).x;
        if (y < l.cells.low.y - line * 0.5F || y + line > l.cells.high.y + line * 0.5F) continue;
        const ImVec2 at = {l.cells.low.x - ui.px(5) - width, y};
        if (hovered || selected)
            draw_pointed_out(ui, at, width, text, selected);
        else
            draw_text(ui, {font, ui.theme.muted}, at, text);
    }
}

void draw_title(const Ui& ui, const HeatmapDrawing& d, Area area, const std::string& note) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const core::Heatmap& h = d.heatmap;
    const float line = compat::font_size(ui.fonts.mono_small);
    const float r = ui.px(4);
    list.AddRectFilled({area.low.x, area.low.y + line * 0.5F - r + 1},
                       {area.low.x + r * 2, area.low.y + line * 0.5F + r + 1}, d.color, ui.px(2));
    const std::string axes = note.empty() ? core::spoken_axes(h.row_axis, h.column_axis) : note;
    const float axes_width = compat::text_size(ui.fonts.caption, axes).x;
    const float room = std::max(area.width() - ui.px(14) - (note.empty() ? 0.0F : axes_width + ui.px(12)), 0.0F);
    float x = area.low.x + ui.px(14), title_width = 0.0F;
    const float words = d.words.empty() ? 0.0F : compat::text_size(ui.fonts.caption, d.words).x + ui.px(10);
    const bool has_words = words > 0.0F && words + compat::text_size(ui.fonts.mono_small, h.title).x <= room;
    if (has_words) {
        draw_text(ui, ui.caption(), {x, area.low.y}, d.words);
        x += words;
        title_width = words;
    }
    // "blocks.0.attn.z", rather than prose.
    const bool names_a_tensor = h.title.find('.') != std::string::npos && h.title.find(' ') == std::string::npos;
    title_width += draw_text(ui, {ui.fonts.mono_small, has_words ? ui.theme.muted : ui.theme.text}, {x, area.low.y},
                             names_a_tensor ? fitted_in_middle(ui.fonts.mono_small, h.title, room) : h.title, room);
    if (!note.empty() || title_width + axes_width + ui.px(12) < room)
        draw_text(ui, ui.note(), {area.high.x - axes_width, area.low.y}, axes);
}

}  // namespace decoderscope::views

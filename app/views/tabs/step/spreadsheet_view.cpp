#include "app/core/text/places.h"
#include "app/views/tabs/step/tab.h"

#include "app/core/run/step_picture.h"
#include "app/core/tabs/step/explanation_text.h"
#include "app/core/tabs/step/shown_step.h"
#include "app/core/tabs/step/tiles.h"
#include "app/core/text/numbers.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::views::step {

namespace {

// The step whose numbers are shown.
const Step& step_of(const core::Session& session, const SheetState& sheet) {
    const Ref chosen = sheet.step.empty() ? nullptr : session.shown().run->plan().find(sheet.step);
    const bool ready = chosen != nullptr && !session.shown().run_of(*chosen).value(chosen->id).empty();
    return ready ? *chosen : session.step();
}

// The block that was dragged, as long as the table has it: another run's may be smaller.
std::optional<core::CellRect> chosen_block(const SheetState& sheet, const core::Heatmap& table) {
    const std::optional<core::CellRect>& block = sheet.chosen;
    const bool there =
        block && block->row + block->rows <= table.rows && block->column + block->columns <= table.columns;
    return there ? block : std::nullopt;
}

// What is drawn, and where.
struct Scene {
    const Ui& ui;
    const core::Session& session;
    SheetState& sheet;
    const Step& step;
    core::Slice slice;
    core::Value<core::step::ShownHeatmap> shown;
    core::Value<core::step::SheetOrder> order;
    float glyph, line, heads, column;  // widths and the height of a line

    [[nodiscard]] const core::Heatmap& table() const { return shown->heatmap; }
    [[nodiscard]] Index row_at(Index place) const { return order->rows[static_cast<std::size_t>(place)]; }
    [[nodiscard]] Index column_at(Index place) const { return order->columns[static_cast<std::size_t>(place)]; }
    [[nodiscard]] bool is_current() const { return step.id == session.step().id; }
    [[nodiscard]] core::ShownNumber number_at(Spot place) const {
        return core::number_at(session.shown().run_of(step), step, slice, row_at(place.first), column_at(place.second));
    }
    // Of a table that isn't read whole, a number when it comes into sight.
    [[nodiscard]] float value_at(Index row, Index key) const {
        if (!table().values.empty()) return table().at(row, key);
        const Run& run = session.shown().run_of(step);
        const core::ShownNumber number = core::number_at(run, step, slice, row, key);
        return run.value(number.step->id).at(number.cell);
    }
    [[nodiscard]] bool is_masked(Index row, Index key) const {
        const auto at = static_cast<std::size_t>(row * table().columns + key);
        if (!table().values.empty()) return !table().hidden.empty() && core::hidden_by::masked(table().hidden[at]);
        return step.masked_by && key < slice.columns() &&
               session.shown().run_of(step).value(*step.masked_by).at(slice.cell(row, key)) == 0.0F;
    }
};

Scene scene_of(const Ui& ui, const core::Session& session, SheetState& sheet) {
    const Step& step = step_of(session, sheet);
    const core::Place place = session.cursor().place;
    const auto order =
        core::step::shown_order(session.derived(), session.shown(), step, place, sheet.rows, sheet.columns);
    const auto shown = core::step::shown_card(session.derived(), session.shown(), step, place);
    const float glyph = compat::text_size(ui.fonts.mono_small, "0").x;
    return {ui,
            session,
            sheet,
            step,
            core::slice_of(step, place, session.shown().scenario.query_heads()),
            shown,
            order,
            glyph,
            compat::font_size(ui.fonts.mono_small) + ui.px(5),
            std::max(glyph * static_cast<float>(order->head + 2),
                     compat::text_size(ui.fonts.caption,
                                       core::spoken_axes(shown->heatmap.row_axis, shown->heatmap.column_axis))
                         .x) +
                ui.px(8),
            glyph * static_cast<float>(std::max<std::size_t>(order->longest, 6) + 2)};
}

SheetState fresh_table(const core::Session& session) {
    SheetState sheet;
    sheet.open = true;
    sheet.cursor = session.step().name;
    return sheet;
}

// ---- the line above

void draw_title(const Scene& s, Area line) {
    const std::string place = s.table().subtitle;
    const float width = draw_text(s.ui, s.ui.number(), line.low, s.table().title, line.width());
    const float x = line.low.x + width + s.ui.px(14);
    if (!place.empty() && x < line.high.x) draw_text(s.ui, s.ui.note(), {x, line.low.y}, place, line.high.x - x);
}

std::vector<FlowItem> buttons(const Scene& s, Commands& commands, const ViewState& state) {
    std::vector<FlowItem> items;
    const auto add = [&](const char* text, const char* id, const char* tip, std::function<void()> act) {
        items.push_back({button_width(text), s.ui.px(4), [text, id, tip, act = std::move(act)] {
                             const bool clicked = button(text, id);
                             tooltip(tip);
                             if (clicked) act();
                         }});
    };
    add(tr("Pictures"), "pictures", tr("Back to the pictures (X)"), [&s] { s.sheet.open = false; });
    add(tr("Copy"), "copy-table", tr("Copies the chosen cells, or the whole table, as text with tabs (Ctrl+C)"),
        [&] { commands.push_back(copy_sheet(s.session, state)); });
    if (s.sheet.rows.by || s.sheet.columns.by)
        add(tr("Original order"), "original-order", tr("Rows and columns as the tensor has them"),
            [&s] { s.sheet.rows = s.sheet.columns = {}; });
    return items;
}

// ---- the cells

// The visible part of the table: places, and where they are on the screen.
struct Seen {
    Area area;      // of the cells
    ImVec2 origin;  // of the first place
    core::CellRect places;
};

Area box_of(const Scene& s, const Seen& seen, const core::CellRect& places) {
    const ImVec2 low = {seen.origin.x + static_cast<float>(places.column) * s.column,
                        seen.origin.y + static_cast<float>(places.row) * s.line};
    return {low,
            {low.x + static_cast<float>(places.columns) * s.column, low.y + static_cast<float>(places.rows) * s.line}};
}

std::optional<Spot> place_under(const Scene& s, const Seen& seen, ImVec2 point) {
    // Before they become integers: if there is no mouse, it is further away than those reach.
    const float row = std::floor((point.y - seen.origin.y) / s.line),
                column = std::floor((point.x - seen.origin.x) / s.column);
    if (!(row >= 0.0F && column >= 0.0F && row < static_cast<float>(s.table().rows) &&
          column < static_cast<float>(s.table().columns)))
        return std::nullopt;
    return Spot{static_cast<Index>(row), static_cast<Index>(column)};
}

// Where a cell of the tensor is in the table.
std::optional<Spot> place_of(const Scene& s, Spot cell) {
    const auto find = [](const std::vector<Index>& order, Index wanted) {
        return static_cast<Index>(std::find(order.begin(), order.end(), wanted) - order.begin());
    };
    const Spot place = {find(s.order->rows, cell.first), find(s.order->columns, cell.second)};
    if (place.first >= s.table().rows || place.second >= s.table().columns) return std::nullopt;
    return place;
}

std::optional<Spot> selected_place(const Scene& s) {
    const std::optional<Cell>& cell = s.session.cursor().cell;
    if (!s.is_current() || !cell) return std::nullopt;
    const auto spot = s.slice.find(*cell);
    return spot ? place_of(s, *spot) : std::nullopt;
}

ImU32 ink_of_cell(const Scene& s, Index row, Index column) {
    const auto at = static_cast<std::size_t>(row * s.table().columns + column);
    if (!s.shown->changed.empty() && s.shown->changed[at] != 0) return s.ui.theme.accent;
    return s.is_masked(row, column) ? s.ui.theme.muted : s.ui.theme.text;
}

void draw_numbers(const Scene& s, const Seen& seen) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const core::CellRect& p = seen.places;
    for (Index i = p.row; i < p.row + p.rows; ++i) {
        if (i % 2 == 1) {
            const Area band = box_of(s, seen, {i, p.column, 1, p.columns});
            list.AddRectFilled(band.low, band.high, with_alpha(s.ui.theme.raised, 0.35F));
        }
        for (Index j = p.column; j < p.column + p.columns; ++j) {
            const Area box = box_of(s, seen, {i, j, 1, 1});
            // A part of a number would be another number.
            const bool whole = box.low.x >= seen.area.low.x - 1.0F && box.high.x <= seen.area.high.x + 1.0F;
            if (!whole && p.columns > 1) continue;
            const Index row = s.row_at(i), column = s.column_at(j);
            const std::string text = core::step::exact_number(s.value_at(row, column));
            const float width = compat::text_size(s.ui.fonts.mono_small, text).x;
            draw_text(s.ui, {s.ui.fonts.mono_small, ink_of_cell(s, row, column)},
                      {box.high.x - s.glyph - width, box.low.y + s.ui.px(2)}, text);
        }
    }
}

// A cell with its row and column.
void mark(const Scene& s, const Seen& seen, Spot place, ImU32 color) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Area box = box_of(s, seen, {place.first, place.second, 1, 1});
    const ImU32 veil = with_alpha(color, s.ui.large_pointer ? 0.25F : 0.12F);
    list.AddRectFilled({seen.area.low.x, box.low.y}, {seen.area.high.x, box.high.y}, veil);
    list.AddRectFilled({box.low.x, seen.area.low.y}, {box.high.x, seen.area.high.y}, veil);
    compat::add_rect(list, box.low, box.high, color, s.ui.px(2), s.ui.px(s.ui.large_pointer ? 4.0F : 2.0F));
}

void choose_block(SheetState& sheet, Spot now) {
    const Spot from = *sheet.pressed;
    const auto [top, bottom] = std::minmax(from.first, now.first);
    const auto [left, right] = std::minmax(from.second, now.second);
    sheet.chosen = core::CellRect{top, left, bottom - top + 1, right - left + 1};
}

// A click selects a cell, as in the pictures; a drag chooses a block to copy.
void use_mouse(const Scene& s, const Seen& seen, Hovered& hovered, Commands& commands) {
    click_at("numbers", seen.area);
    const std::optional<Spot> place = place_under(s, seen, ImGui::GetIO().MousePos);
    if (ImGui::IsItemHovered() && place) hovered = {s.number_at(*place).step->name, s.number_at(*place).cell};
    if (ImGui::IsItemActivated()) {
        s.sheet.pressed = place;
        s.sheet.chosen.reset();
    }
    if (!place || !s.sheet.pressed) return;
    // A quick drag may still move in the frame that releases the button.
    const bool released = ImGui::IsItemDeactivated();
    if ((ImGui::IsItemActive() || released) && *place != *s.sheet.pressed) choose_block(s.sheet, *place);
    if (!released) return;
    if (!s.sheet.chosen && *place == *s.sheet.pressed) {
        const auto [of, cell] = s.number_at(*place);
        s.sheet.followed = cell;
        if (s.is_current() && of == &s.step)
            commands.push_back(core::command::SelectCell{cell});
        else
            commands.push_back(core::command::Follow{of->name, cell});
    }
    s.sheet.pressed.reset();
}

// Scrolls to the selected cell if it is another one than before.
void follow_selection(const Scene& s, ImVec2 room) {
    const std::optional<Cell> cell = s.is_current() ? s.session.cursor().cell : std::nullopt;
    if (std::exchange(s.sheet.followed, cell) == cell || !cell) return;
    const std::optional<Spot> place = selected_place(s);
    if (!place) return;
    const float x = static_cast<float>(place->second) * s.column, y = static_cast<float>(place->first) * s.line;
    if (x < ImGui::GetScrollX() || x + s.column > ImGui::GetScrollX() + room.x) ImGui::SetScrollX(x - room.x * 0.5F);
    if (y < ImGui::GetScrollY() || y + s.line > ImGui::GetScrollY() + room.y) ImGui::SetScrollY(y - room.y * 0.5F);
}

Seen draw_cells(const Scene& s, Area area, const std::optional<Spot>& pointed, Hovered& hovered, Commands& commands) {
    begin_part("sheet", area, ImGuiWindowFlags_HorizontalScrollbar);
    const ImVec2 start = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
    const ImVec2 visible = {std::min(room.x, s.column * static_cast<float>(s.table().columns)),
                            std::min(room.y, s.line * static_cast<float>(s.table().rows))};
    follow_selection(s, room);
    Seen seen{{area.low, {area.low.x + visible.x, area.low.y + visible.y}}, start, {}};
    const auto range = [](float scroll, float length, float each, Index count, Index& first, Index& shown) {
        first = std::clamp<Index>(static_cast<Index>(scroll / each), 0, count - 1);
        shown = std::clamp<Index>(static_cast<Index>(std::ceil((scroll + length) / each)), first + 1, count) - first;
    };
    range(area.low.y - start.y, visible.y, s.line, s.table().rows, seen.places.row, seen.places.rows);
    range(area.low.x - start.x, visible.x, s.column, s.table().columns, seen.places.column, seen.places.columns);
    ImGui::PushClipRect(seen.area.low, seen.area.high, true);
    if (const auto chosen = chosen_block(s.sheet, s.table())) {
        const Area block = box_of(s, seen, *chosen);
        ImGui::GetWindowDrawList()->AddRectFilled(block.low, block.high, s.ui.theme.accent_soft);
    }
    draw_numbers(s, seen);
    if (const auto selected = selected_place(s)) mark(s, seen, *selected, s.ui.theme.accent);
    if (pointed) mark(s, seen, *pointed, s.ui.theme.text);
    ImGui::PopClipRect();
    use_mouse(s, seen, hovered, commands);
    ImGui::SetCursorScreenPos(start);
    ImGui::Dummy({s.column * static_cast<float>(s.table().columns), s.line * static_cast<float>(s.table().rows)});
    ImGui::EndChild();
    return seen;
}

// ---- the heads

std::string sort_mark(const core::step::SheetSort& sort, Index head) {
    return sort.by != head ? "" : sort.smallest_first ? " ▲" : " ▼";
}

void draw_head(const Scene& s, Area box, const std::string& text, bool pointed, bool right_aligned) {
    if (pointed) ImGui::GetWindowDrawList()->AddRectFilled(box.low, box.high, s.ui.theme.accent_soft);
    const std::string fits = fitted(s.ui.fonts.mono_small, text, box.width() - s.glyph);
    const float width = compat::text_size(s.ui.fonts.mono_small, fits).x;
    const float x = right_aligned ? box.high.x - s.glyph - width : box.low.x;
    draw_text(s.ui, {s.ui.fonts.mono_small, pointed ? s.ui.theme.text : s.ui.theme.muted}, {x, box.low.y + s.ui.px(2)},
              fits);
}

// The heads of all visible columns, or rows; a click sorts by one of them.
void draw_column_heads(const Scene& s, const Seen& seen, Area area, const std::optional<Spot>& pointed) {
    ImGui::PushClipRect({seen.area.low.x, area.low.y}, {seen.area.high.x, area.high.y}, true);
    const auto selected = selected_place(s);
    for (Index j = seen.places.column; j < seen.places.column + seen.places.columns; ++j) {
        const Index column = s.column_at(j);
        const Area cell = box_of(s, seen, {0, j, 1, 1});
        const bool marked = (pointed && pointed->second == j) || (selected && selected->second == j);
        draw_head(s, {{cell.low.x, area.low.y}, {cell.high.x, area.high.y}},
                  core::step::sheet_head(s.table().column_labels, column) + sort_mark(s.sheet.rows, column), marked,
                  true);
    }
    ImGui::PopClipRect();
    if (click_at("column-heads", {{seen.area.low.x, area.low.y}, {seen.area.high.x, area.high.y}}))
        if (const auto at = place_under(s, seen, {ImGui::GetIO().MousePos.x, seen.origin.y}))
            s.sheet.rows = s.sheet.rows.clicked(s.column_at(at->second));
    tooltip(tr("Sorts the rows by this column: largest first, smallest first, original order"));
}

void draw_row_heads(const Scene& s, const Seen& seen, Area area, const std::optional<Spot>& pointed) {
    ImGui::PushClipRect({area.low.x, seen.area.low.y}, {area.high.x, seen.area.high.y}, true);
    const auto selected = selected_place(s);
    for (Index i = seen.places.row; i < seen.places.row + seen.places.rows; ++i) {
        const Index row = s.row_at(i);
        const Area cell = box_of(s, seen, {i, 0, 1, 1});
        const bool marked = (pointed && pointed->first == i) || (selected && selected->first == i);
        draw_head(s, {{area.low.x, cell.low.y}, {area.high.x, cell.high.y}},
                  core::step::sheet_head(s.table().row_labels, row) + sort_mark(s.sheet.columns, row), marked, false);
    }
    ImGui::PopClipRect();
    if (click_at("row-heads", {{area.low.x, seen.area.low.y}, {area.high.x, seen.area.high.y}}))
        if (const auto at = place_under(s, seen, {seen.origin.x, ImGui::GetIO().MousePos.y}))
            s.sheet.columns = s.sheet.columns.clicked(s.row_at(at->first));
    tooltip(tr("Sorts the columns by this row: largest first, smallest first, original order"));
}

// The cell under the mouse in the frame before, as a place.
std::optional<Spot> pointed_place(const Scene& s, const ViewState& state) {
    if (!state.hovered || state.hovered->first != s.step.name) return std::nullopt;
    const auto spot = s.slice.find(state.hovered->second);
    return spot ? place_of(s, *spot) : std::nullopt;
}

}  // namespace

bool sheet_is_open(const ViewState& state) {
    return state.tab == core::files::kStepTab && state.part<SheetState>().open;
}

void toggle_sheet(const core::Session& session, ViewState& state) {
    SheetState& sheet = state.part<SheetState>();
    if (sheet_is_open(state)) {
        sheet.open = false;
        return;
    }
    sheet = fresh_table(session);
    if (state.hovered) sheet.step = state.hovered->first;
    state.tab = core::files::kStepTab;
}

core::command::Tell copy_sheet(const core::Session& session, const ViewState& state) {
    const SheetState& sheet = state.part<SheetState>();
    const Step& step = step_of(session, sheet);
    if (session.shown().run_of(step).value(step.id).empty())
        return {message("{name} is being computed: nothing was copied", {{"name", step.name}}), true};
    const core::Place place = session.cursor().place;
    const auto shown = core::step::shown_card(session.derived(), session.shown(), step, place);
    const auto order =
        core::step::shown_order(session.derived(), session.shown(), step, place, sheet.rows, sheet.columns);
    const core::CellRect all = {0, 0, shown->heatmap.rows, shown->heatmap.columns};
    const std::optional<core::CellRect> chosen = chosen_block(sheet, shown->heatmap);
    const core::CellRect block = chosen.value_or(all);
    const Index cells = block.rows * block.columns;
    if (cells > core::step::kMostCopied)
        return {message("{count} numbers are too many for the clipboard: choose a part of them, or export the tensor",
                        {{"count", core::grouped(cells)}}),
                true};
    ImGui::SetClipboardText(
        core::step::tab_separated(core::step::shown_heatmap(session.derived(), session.shown(), step, place)->heatmap,
                                  *order, block, !chosen)
            .c_str());
    return {message_n("Copied {count} number, as text with tabs", "Copied {count} numbers, as text with tabs",
                      static_cast<std::size_t>(cells)),
            false};
}

void draw_spreadsheet(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    SheetState& sheet = state.part<SheetState>();
    if (sheet.cursor != session.step().name) sheet = fresh_table(session);  // another step has another table
    if (session.shown().run_of(step_of(session, sheet)).value(step_of(session, sheet).id).empty()) {
        draw_text(ui, ui.note(), area.low, tr("{name}: being computed …", {{"name", session.step().name}}),
                  area.width());
        return;
    }
    const Scene s = scene_of(ui, session, sheet);
    const std::vector<FlowItem> above = buttons(s, commands, state);
    float y = area.low.y;
    const auto part = [&](float height) {
        const Area box = {{area.low.x, y}, {area.high.x, y + height}};
        y += height;
        return box;
    };
    draw_flow(ui, above, part(flow_height(ui, above, area.width()) + ui.px(2)));
    draw_title(s, part(s.line));
    const Area top = part(s.line);
    const float left = std::min(s.heads, area.width() * 0.4F);
    const Area heads = {{area.low.x, y}, {area.low.x + left, area.high.y}}, cells = {{heads.high.x, y}, area.high};
    const std::optional<Spot> pointed = pointed_place(s, state);
    Hovered hovered;
    const Seen seen = draw_cells(s, cells, pointed, hovered, commands);
    draw_text(ui, ui.note(), {top.low.x, top.low.y + ui.px(2)},
              core::spoken_axes(s.table().row_axis, s.table().column_axis), heads.high.x - top.low.x - ui.px(4));
    draw_column_heads(s, seen, {{cells.low.x, top.low.y}, top.high}, pointed);
    draw_row_heads(s, seen, heads, pointed);
    state.hovered = hovered;
    // Escape first deselects the cell, as everywhere.
    if (state.dialog == Dialog::none && !typing() && pressed(Key::escape) && !session.cursor().cell) sheet.open = false;
}

}  // namespace decoderscope::views::step

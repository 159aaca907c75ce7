#include "app/views/frame/table_view.h"

#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace decoderscope::views {

namespace {

// How a number is marked that another one contradicts.
constexpr const char* kDoubt = "≠ ";
constexpr float kWide = 606.0F;

// The names, and beside them each column that has a title. Numbers stand at their right edge, words after them at their
// left. Bars of one column stand between the names and the numbers. In a table with marks all columns are as wide,
// words stand at the right edge, too, and take the room of what is empty before them.
class Columns {
public:
    Columns(const Ui& ui, const core::Table& table, float width) : ui_(ui), table_(table) {
        std::size_t words = 0;
        for (std::size_t i = 0; i < table.columns.size(); ++i) {
            if (table.columns[i].title.empty() || (table.columns[i].if_wide && width < ui.px(kWide))) continue;
            columns_.push_back(i);
            words += is_words(i) ? 1 : 0;
            most_.push_back(0.0);
            for (const core::TableRow& row : table.rows)
                if (const double size = std::abs(core::number_of(row.entries[i])); std::isfinite(size))
                    most_.back() = std::max(most_.back(), size);
        }
        const auto numbers = static_cast<float>(columns_.size() - words);
        names_ = std::floor(width * 0.4F);
        const bool doubts = std::ranges::any_of(table.rows, [](const auto& row) { return !row.doubted.empty(); });
        number_ = compat::text_size(ui.fonts.mono_small, std::string(doubts ? kDoubt : "") + "-1.23e-05").x + ui.px(14);
        if (table.marks) {
            number_ = words_ = (width - names_) / static_cast<float>(columns_.size());
        } else if (words > 0) {
            words_ = table.bars ? ui.px(64) : std::floor(width * 0.4F);
            bar_ = table.bars ? ui.px(56) : 0.0F;
            names_ = width - words_ - bar_ - numbers * number_;
        } else if (table.bars) {
            bar_ = std::max(width - names_ - numbers * number_, ui.px(24));
            names_ = width - bar_ - numbers * number_;
        } else {
            number_ = (width - names_) / numbers;
        }
    }

    // Returns what is to be sorted by if a title is clicked.
    [[nodiscard]] std::optional<std::string> titles(Area area) const {
        std::optional<std::string> sort;
        if (title(names_of(area), tr(table_.about_title), 0, tr("Sort in the order of computation"))) sort = "order";
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            const core::Column& of = table_.columns[columns_[i]];
            const bool sorted = table_.sortable && table_.sorted_by == columns_[i];
            const std::string tip = of.tip.empty() ? tr("The largest first") : tr(of.tip);
            if (title(column(area, i), tr(of.title) + (sorted ? " ▾" : ""), i + 1, tip.c_str()))
                sort = of.title.english();
        }
        return sort;
    }

    void row(Area area, const core::TableRow& row, bool with_bars) const {
        Area name = names_of(area);
        if (table_.marks) {
            const float middle = (area.low.y + area.high.y) * 0.5F, x = area.low.x + ui_.px(4);
            ImGui::GetWindowDrawList()->AddRectFilled({x, middle - ui_.px(4)}, {x + ui_.px(8), middle + ui_.px(4)},
                                                      color_of(row.meaning), ui_.px(2));
            name.low.x += ui_.px(20);
        }
        const ImU32 color = row.muted ? ui_.theme.muted : ui_.theme.text;
        draw_text(ui_, ui_.fonts.mono_small, {name.low.x, name.low.y + ui_.px(2)}, color,
                  fitted_in_middle(ui_.fonts.mono_small, tr(row.name), name.width()), name.width());
        bool is_free = table_.marks;  // from the names to here: for words
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            const std::size_t n = columns_[i];
            const core::Column& of = table_.columns[n];
            Area cell = column(area, i);
            if (is_free) cell.low.x = name.high.x + ui_.px(8);
            is_free = is_free && std::holds_alternative<std::monostate>(row.entries[n]);
            const std::string text = core::text_of(row.entries[n], of.unit, of.digits);
            if (is_words(n) && !table_.marks) {
                draw_text(ui_, ui_.fonts.caption, {cell.low.x, cell.low.y + ui_.px(2)}, ui_.theme.muted, text,
                          cell.width());
                continue;
            }
            const bool doubted = n < row.doubted.size() && row.doubted[n];
            right_text(cell, ui_.fonts.mono_small, doubted ? ui_.theme.error : color, (doubted ? kDoubt : "") + text);
            const double share = core::number_of(row.entries[n]) / most_[i];
            if (!with_bars || table_.marks || !std::isfinite(share) || share == 0.0) continue;
            if (table_.bars == n)
                signed_bar({{name.high.x, area.low.y}, {name.high.x + bar_ - ui_.px(8), area.high.y}}, share);
            else if (!table_.bars)
                ImGui::GetWindowDrawList()->AddRectFilled(
                    {cell.high.x - cell.width() * static_cast<float>(std::abs(share)), cell.high.y - ui_.px(4)},
                    {cell.high.x, cell.high.y - ui_.px(1)}, share < 0.0 ? ui_.theme.warning : color_of(row.meaning));
        }
    }

private:
    [[nodiscard]] bool is_words(std::size_t number) const { return table_.columns[number].unit == core::Unit::words; }
    [[nodiscard]] Area names_of(Area area) const { return {area.low, {area.low.x + names_ - ui_.px(8), area.high.y}}; }
    [[nodiscard]] Area column(Area area, std::size_t number) const {
        const float from = area.low.x + names_ + bar_ + static_cast<float>(number) * number_;
        return {{from + ui_.px(8), area.low.y}, {from + (is_words(columns_[number]) ? words_ : number_), area.high.y}};
    }

    void right_text(Area cell, ImFont* font, ImU32 color, const std::string& text) const {
        const std::string shown = fitted(font, text, cell.width() + 0.5F);  // what was measured fits
        draw_text(ui_, font, {cell.high.x - compat::text_size(font, shown).x, cell.low.y + ui_.px(2)}, color, shown);
    }

    // From the middle of its area: to the right for positive numbers.
    void signed_bar(Area area, double share) const {
        ImDrawList& list = *ImGui::GetWindowDrawList();
        const float middle = std::floor((area.low.x + area.high.x) * 0.5F);
        const float end = middle + static_cast<float>(share) * area.width() * 0.5F;
        list.AddRectFilled({std::min(middle, end), area.low.y + ui_.px(5)},
                           {std::max(middle, end), area.high.y - ui_.px(5)},
                           share < 0.0 ? ui_.theme.warning : ui_.theme.accent);
        list.AddLine({middle, area.low.y + ui_.px(2)}, {middle, area.high.y - ui_.px(2)}, ui_.theme.line);
    }

    // Returns whether it is clicked. Those of names and words stand at their left.
    [[nodiscard]] bool title(Area area, const std::string& text, std::size_t number, const char* tip) const {
        ImFont* font = ui_.fonts.caption;
        const float width = std::min(compat::text_size(font, text).x, area.width());
        if (number == 0 || (is_words(columns_[number - 1]) && !table_.marks))
            area.high.x = area.low.x + width;
        else
            area.low.x = area.high.x - width;
        if (text.empty()) return false;
        bool clicked = false;
        if (table_.sortable || (number > 0 && !table_.columns[columns_[number - 1]].tip.empty())) {
            clicked = press_at("sort", area, static_cast<std::int64_t>(number)) && table_.sortable;
            tooltip(tip);
        }
        const bool chosen = number == 0 ? !table_.sorted_by : table_.sorted_by == columns_[number - 1];
        right_text(area, font, table_.sortable && chosen ? ui_.theme.text : ui_.theme.muted, text);
        return clicked;
    }

    const Ui& ui_;
    const core::Table& table_;
    std::vector<std::size_t> columns_;
    std::vector<double> most_;
    float names_ = 0.0F, bar_ = 0.0F, number_ = 0.0F, words_ = 0.0F;
};

}  // namespace

float table_line(const Ui& ui) { return compat::font_size(ui.fonts.mono_small) + ui.px(8); }

float table_height(const Ui& ui, const core::Table& table) {
    return table_line(ui) * static_cast<float>(table.rows.size() + 1 + (table.total ? 1 : 0)) + ui.px(4);
}

TableGesture draw_table(const Ui& ui, const char* id, const core::Table& table, Area area, const TableUse& use) {
    for (const Sentence& note : table.notes)
        area.low.y += text_block(ui, ui.fonts.caption, ui.theme.muted, area, tr(note)) + ui.px(2);
    if (!table.notes.empty()) area.low.y += ui.px(8);
    const float line = table_line(ui), foot = table.total ? line + ui.px(4) : 0.0F;
    const float right = area.high.x - ui.px(14);  // beside the rows: their scroll bar
    const Columns columns(ui, table, right - area.low.x);
    TableGesture made{.sort = columns.titles({area.low, {right, area.low.y + line}}), .row = std::nullopt};
    const Area rows = {{area.low.x, area.low.y + line}, {area.high.x, area.high.y - foot}};
    const auto draw_row = [&](std::size_t i, Area row) {
        row.high.x = right;
        const std::string& step = table.rows[i].step;
        if (press_at("row", row, static_cast<std::int64_t>(i))) made.row = i;
        const bool is_hovered = ImGui::IsItemHovered(), is_here = !step.empty() && step == use.here;
        if (is_here || is_hovered || use.chosen == i)
            ImGui::GetWindowDrawList()->AddRectFilled(row.low, row.high,
                                                      is_here ? ui.theme.accent_soft : ui.theme.raised, ui.px(3));
        if (use.tip) {
            if (is_hovered) use.tip(i);
        } else if (!step.empty()) {
            tooltip(tr("Go to {step}", {{"step", step}}).c_str());
        }
        columns.row(row, table.rows[i], true);
    };
    scrolled_rows(ui, id, rows, line, table.rows.size(), draw_row, use.scroll);
    if (!table.total) return made;
    const Area total = {{area.low.x, rows.high.y + ui.px(4)}, {right, area.high.y}};
    ImGui::GetWindowDrawList()->AddLine(total.low, {total.high.x, total.low.y}, ui.theme.line);
    columns.row(total, *table.total, false);
    return made;
}

}  // namespace decoderscope::views

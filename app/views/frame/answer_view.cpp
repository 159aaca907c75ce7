#include "app/views/frame/answer_view.h"

#include "app/core/text/numbers.h"
#include "app/core/text/token_text.h"
#include "app/views/frame/curves_view.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/row_layout.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::views {

namespace {

constexpr int kDigits = 5;

// What is drawn in one frame.
struct Drawing {
    const Ui& ui;
    const char* id;
    std::uint64_t version;
    ViewState& state;
    Commands& commands;
    std::optional<std::size_t> chosen = std::nullopt;
};

// Leads to a row's step, to the head or the cell of it that it names.
void follow(const core::TableRow& row, ViewState& state, Commands& commands) {
    state.tab = core::files::kStepTab;
    if (row.cell.empty())
        commands.push_back(core::command::GoTo{row.step});
    else
        commands.push_back(core::command::Follow{row.step, row.cell});
    if (row.head) commands.push_back(core::command::ChooseHead{*row.head});
}

// ---- pictures

void say_cell(const Ui& ui, const core::AnswerPart& part, const core::Heatmap& picture, const HeatmapGesture& gesture,
              const std::string& step) {
    if (!begin_tooltip_beside(gesture.cell)) return;
    const auto [row, column] = *gesture.hovered;
    text_line(ui.number(), step);
    text_line(ui.note(),
              tr("position {position} “{token}”",
                 {{"position", column}, {"token", picture.column_labels[static_cast<std::size_t>(column)]}}));
    const auto number = static_cast<double>(picture.at(row, column));
    text_line(ui.body(), tr(part.says, {{"number", core::text_of(number, core::Unit::number)}}));
    text_line(ui.note(), tr("Click to go there"));
    ImGui::EndTooltip();
}

AnswerGesture draw_picture(const Drawing& d, const core::AnswerPart& part, std::size_t number, Area area,
                           bool in_flow) {
    const core::Heatmap& picture = part.pictures[number];
    const std::uint64_t key = heatmap_key(d.id, number);
    const HeatmapGesture gesture = draw_heatmap(d.ui,
                                                {.heatmap = picture,
                                                 .key = key,
                                                 .version = d.version,
                                                 .color = color_of(part.meaning),
                                                 .legend = Legend::bar,
                                                 .grid = !in_flow,
                                                 .scrolls_with = in_flow},
                                                d.state.viewports[key], area);
    const auto step = [&](Index row) { return part.steps[number][static_cast<std::size_t>(row)]; };
    if (gesture.hovered && !part.steps.empty()) say_cell(d.ui, part, picture, gesture, step(gesture.hovered->first));
    if (!gesture.clicked) return {};
    if (part.steps.empty()) return {true, number, gesture.clicked->first, gesture.clicked->second};
    d.state.tab = core::files::kStepTab;
    d.commands.push_back(core::command::GoTo{step(gesture.clicked->first)});
    return {};
}

// Small multiples, in as many columns as keep each readable.
AnswerGesture draw_pictures(const Drawing& d, const core::AnswerPart& part, Area area) {
    AnswerGesture made;
    const std::size_t count = part.pictures.size();
    const float least = d.ui.px(260), gap = d.ui.px(10);
    const auto most = static_cast<std::size_t>(std::max(1.0F, std::floor(area.width() / least)));
    const std::size_t columns = std::clamp<std::size_t>(count, 1, most), rows = (count + columns - 1) / columns;
    const float height = std::max(area.height(), static_cast<float>(rows) * (least + gap) - gap);
    scrolled("pictures", area, [&](ImVec2 start) {
        const Grid grid = {{start, {start.x + area.width(), start.y + height}}, columns, rows, {gap, gap}};
        for (std::size_t i = 0; i < count; ++i) {
            const AnswerGesture gesture = draw_picture(d, part, i, grid.cell(i), false);
            if (gesture.clicked) made = gesture;
        }
        return grid.area.high.y;
    });
    return made;
}

// ---- curves

// Which curve is which, with its number at the chosen place.
void draw_legend(const Drawing& d, const core::Chart& chart, Area area) {
    const Ui& ui = d.ui;
    const float line = compat::font_size(ui.fonts.mono_small) + ui.px(5);
    float y = area.low.y + ui.px(36);
    for (const core::ChartCurve& curve : chart.curves) {
        if (curve.dashed || y + line > area.high.y) continue;
        draw_line_sample(ui, {area.low.x, y + line * 0.4F}, ui.px(18), to_imgui(curve.color), false);
        std::string text = curve.run;
        if (d.chosen && *d.chosen < curve.curve.points.size())
            text = core::text_of(curve.curve.points[*d.chosen].value, core::Unit::number, kDigits) + "  " + text;
        draw_text(ui, ui.number(), {area.low.x + ui.px(24), y}, text, area.width() - ui.px(24));
        y += line;
    }
}

AnswerGesture draw_chart(const Drawing& d, const core::Chart& chart, Area area) {
    if (chart.curves.size() > 2) {
        const float legend = std::min(d.ui.px(210), area.width() * 0.35F);
        draw_legend(d, chart, {{area.high.x - legend + d.ui.px(12), area.low.y}, area.high});
        area.high.x -= legend;
    }
    const std::optional<double> marked = d.chosen ? std::optional(static_cast<double>(*d.chosen)) : std::nullopt;
    const ChartGesture gesture = draw_curves(d.ui, chart, marked, area);
    if (!gesture.clicked || !gesture.depth) return {};
    return {.clicked = true, .column = std::lround(*gesture.depth)};
}

AnswerGesture draw_part(const Drawing& d, const core::AnswerPart& part, Area area) {
    if (part.chart) return draw_chart(d, *part.chart, area);
    if (!part.table) return draw_pictures(d, part, area);
    const TableGesture gesture = draw_table(d.ui, part.name.c_str(), *part.table, area, {.chosen = d.chosen});
    AnswerGesture made{.sort = gesture.sort};
    if (!gesture.row) return made;
    if (const core::TableRow& row = part.table->rows[*gesture.row]; !row.step.empty()) {
        follow(row, d.state, d.commands);
        return made;
    }
    made.clicked = true;
    made.row = static_cast<Index>(*gesture.row);
    return made;
}

// The height that it has without scrolling, and without notes.
float table_height(const Ui& ui, const core::Table& table) {
    return table_line(ui) * static_cast<float>(table.rows.size() + 1 + (table.total ? 1 : 0)) + ui.px(4);
}

// The parts that are aside, or those that aren't, one below the other, as high as they are.
void draw_in_flow(const Drawing& d, const core::Answer& answer, bool aside, float width) {
    const Ui& ui = d.ui;
    ImGui::BeginGroup();
    for (const Sentence& said : answer.said)
        if (!aside && !said.empty()) paragraph(ui.body(), tr(said), width);
    for (const core::AnswerPart& part : answer.parts) {
        if (part.aside != aside) continue;
        ImGui::Dummy({1, ui.px(4)});
        text_line(ui.body(), tr(part.heading));
        paragraph(ui.note(), tr(part.note), width);
        const auto draw = [&](float height, const auto& draw_into) {
            const ImVec2 at = ImGui::GetCursorScreenPos();
            static_cast<void>(draw_into(Area{at, {at.x + width, at.y + height}}));
            ImGui::SetCursorScreenPos({at.x, at.y + height + ui.px(4)});
            ImGui::Dummy({1, 1});
        };
        if (part.table) draw(table_height(ui, *part.table), [&](Area area) { return draw_part(d, part, area); });
        for (std::size_t i = 0; i < part.pictures.size(); ++i)
            draw(std::min(ui.px(70) + static_cast<float>(part.pictures[i].rows) * ui.px(15), ui.px(330)),
                 [&](Area area) { return draw_picture(d, part, i, area, true); });
    }
    ImGui::EndGroup();
}

}  // namespace

AnswerGesture draw_answer_parts(const Ui& ui, const char* id, const core::Answer& answer, std::uint64_t version,
                                Area area, ViewState& state, Commands& commands, std::optional<std::size_t> chosen) {
    const Drawing d{ui, id, version, state, commands, chosen};
    if (answer.parts.size() <= 1) {
        for (std::size_t i = 0; i < answer.said.size(); ++i)
            area.low.y +=
                text_block(ui, {ui.fonts.text, i == 0 ? ui.theme.text : ui.theme.muted}, area, tr(answer.said[i])) +
                ui.px(8);
        AnswerGesture gesture;
        if (!answer.parts.empty()) gesture = draw_part(d, answer.parts.front(), area);
        gesture.end = area.low.y;
        return gesture;
    }
    begin_part(id, {area.low, {area.high.x + ui.px(8), area.high.y}});
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float room = ImGui::GetContentRegionAvail().x - ui.px(12), gap = ui.px(24);
    const bool two = room > ui.px(640);
    const float left = two ? std::floor(room * 0.62F) : room;
    draw_in_flow(d, answer, false, left);
    if (two) ImGui::SetCursorScreenPos({start.x + left + gap, start.y});
    draw_in_flow(d, answer, true, two ? room - left - gap : room);
    ImGui::EndChild();
    return {};
}

namespace {

// How a number is marked that another one contradicts.
constexpr const char* kDoubt = "≠ ";
constexpr float kWide = 606.0F;

// The names, and beside them each column that has a title. Numbers stand at their right edge, words at their left. Bars
// of one column stand between the names and the numbers. In a table with marks all columns are as wide, words stand at
// the right edge, too, and take the room of what is empty before them.
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
            // Words have what the names leave.
            std::string longest;
            for (const core::TableRow& row : table.rows)
                if (std::string name = tr(row.name); name.size() > longest.size()) longest = std::move(name);
            const float needed = std::max(compat::text_size(ui.fonts.mono_small, longest).x,
                                          compat::text_size(ui.fonts.caption, tr(table.about_title)).x) +
                                 ui.px(20);
            const auto count = static_cast<float>(words);
            words_ = table.bars ? ui.px(64) : std::max(width * 0.4F, width - needed - numbers * number_) / count;
            bar_ = table.bars ? ui.px(56) : 0.0F;
            names_ = width - count * words_ - bar_ - numbers * number_;
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
        draw_text(ui_, {ui_.fonts.mono_small, color}, {name.low.x, name.low.y + ui_.px(2)},
                  fitted_in_middle(ui_.fonts.mono_small, tr(row.name), name.width()), name.width());
        bool is_free = table_.marks;  // from the names to here: for words
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            const std::size_t n = columns_[i];
            const core::Column& of = table_.columns[n];
            Area cell = column(area, i);
            if (is_free) cell.low.x = name.high.x + ui_.px(8);
            is_free = is_free && std::holds_alternative<std::monostate>(row.entries[n]);
            const std::string text = core::text_of(row.entries[n], of.unit, of.digits);
            const bool doubted = n < row.doubted.size() && row.doubted[n];
            if (is_words(n) && !table_.marks) {
                draw_text(ui_, {ui_.fonts.caption, doubted ? ui_.theme.error : ui_.theme.muted},
                          {cell.low.x, cell.low.y + ui_.px(2)}, text, cell.width());
                continue;
            }
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
    [[nodiscard]] float width_of(std::size_t number) const { return is_words(columns_[number]) ? words_ : number_; }
    [[nodiscard]] Area column(Area area, std::size_t number) const {
        float from = area.low.x + names_ + bar_;
        for (std::size_t i = 0; i < number; ++i) from += width_of(i);
        return {{from + ui_.px(8), area.low.y}, {from + width_of(number), area.high.y}};
    }

    void right_text(Area cell, ImFont* font, ImU32 color, const std::string& text) const {
        const std::string shown = fitted(font, text, cell.width() + 0.5F);  // what was measured fits
        draw_text(ui_, {font, color}, {cell.high.x - compat::text_size(font, shown).x, cell.low.y + ui_.px(2)}, shown);
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

TableGesture draw_table(const Ui& ui, const char* id, const core::Table& table, Area area, const TableUse& use) {
    for (const Sentence& note : table.notes) area.low.y += text_block(ui, ui.note(), area, tr(note)) + ui.px(2);
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

MatricesGesture draw_matrices(const Ui& ui, const Matrices& matrices, ViewState& state, std::span<const Area> areas,
                              std::optional<Spot>& hovered) {
    MatricesGesture made{.pointed = {}, .cells = areas.front(), .clicked = std::nullopt};
    for (std::size_t i = 0; i < matrices.heatmaps.size(); ++i) {
        const core::Heatmap& heatmap = *matrices.heatmaps[i];
        HeatmapDrawing drawing{.heatmap = heatmap,
                               .key = matrices.key + i,
                               .version = matrices.version,
                               .color = matrices.color,
                               .selected = matrices.selected,
                               .stale = matrices.stale,
                               .scrolls_with = ImGui::GetScrollMaxY() > 0.0F};
        if (i + 1 == matrices.heatmaps.size()) drawing.changed = matrices.marked;
        if (hovered && hovered->first < heatmap.rows && hovered->second < heatmap.columns)
            drawing.lit = core::CellRect{hovered->first, hovered->second, 1, 1};
        const HeatmapGesture gesture = draw_heatmap(ui, drawing, state.viewports[matrices.key], areas[i]);
        if (gesture.hovered) made.pointed = gesture;
        if (gesture.clicked) made.clicked = gesture.clicked;
        made.cells.high.y = i == 0 ? gesture.cells.high.y : std::max(made.cells.high.y, gesture.cells.high.y);
    }
    hovered = made.pointed.hovered;
    return made;
}

std::vector<Area> areas_of_three(const Ui& ui, const core::Heatmap& heatmap, Area area) {
    const float gap = ui.px(16);
    const bool is_wide = heatmap.columns > 12 && heatmap.columns > 2 * heatmap.rows;
    const Grid grid = {area, is_wide ? 2U : 3U, is_wide ? 2U : 1U, {gap, gap * 0.5F}};
    std::vector<Area> areas = {grid.cell(0), grid.cell(1), grid.cell(2)};
    if (is_wide) areas.back().high.x = area.high.x;
    return areas;
}

void answer_box(const Ui& ui, core::Derived& derived, const core::Scenario& scenario,
                const std::shared_ptr<const Run>& run, Index batch, std::string_view letter) {
    const std::optional<core::generate::NextAnswer> found = core::generate::next_answer(derived, scenario, run, batch);
    if (!found || found->shown->likely.empty()) return;
    const core::generate::Answer& next = found->shown->likely.front();
    const tokenizer::Tokenizer& tokenizer = scenario.tokenizer();
    std::vector<Index> ids;
    for (Index at = 0; at <= found->position; ++at)
        ids.push_back(static_cast<Index>(scenario.inputs.tokens.at(Cell{found->row, at})));
    // With the space before it, if it has one there.
    const std::string before = tokenizer.decode(ids);
    std::vector<Index> with = ids;
    with.push_back(next.token);
    const std::string both = tokenizer.decode(with);
    const bool is_text =
        both.size() > before.size() && both.starts_with(before) &&
        both.find_first_not_of(" \n\t", before.size()) != std::string::npos;  // a space is drawn as a sign
    const std::string token = is_text ? both.substr(before.size()) : core::token_text(tokenizer, next.token);
    const std::string share = core::short_number_text(next.probability * 100.0, 2) + " %";
    const float width = ImGui::GetContentRegionAvail().x, pad = ui.px(12), height = ui.px(38);
    const float before_text = letter.empty() ? 0.0F : ui.px(24);
    const float own = compat::text_size(ui.fonts.mono, token).x, right = compat::text_size(ui.fonts.text, share).x;
    // The end of what was read is what the token follows.
    std::span<const Index> read = ids;
    std::string text = before;
    const float room = width - before_text - own - right - 3.0F * pad;
    while (!read.empty() && compat::text_size(ui.fonts.mono, text).x > room) {
        read = read.subspan(1);
        text = tokenizer.decode(read);
    }
    const ImVec2 low = ImGui::GetCursorScreenPos();
    ImGui::GetWindowDrawList()->AddRectFilled(low, {low.x + width, low.y + height}, ui.theme.background, ui.px(4));
    const float y = low.y + (height - compat::font_size(ui.fonts.mono)) * 0.5F;
    const float start = low.x + pad + before_text;
    if (!letter.empty()) draw_text(ui, ui.hint(), {low.x + pad, y}, letter);
    const float x = start + draw_text(ui, {ui.fonts.mono, ui.theme.text}, {start, y}, text);
    draw_text(ui, {ui.fonts.mono, ink_of(Meaning::output, ui.theme)}, {x, y}, token);
    draw_text(ui, {ui.fonts.text, ink_of(Meaning::output, ui.theme)},
              {low.x + width - pad - right, low.y + (height - compat::font_size(ui.fonts.text)) * 0.5F}, share);
    ImGui::Dummy({width, height + ui.px(4)});
}

}  // namespace decoderscope::views

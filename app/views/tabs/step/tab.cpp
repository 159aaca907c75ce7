#include "app/views/tabs/step/tab.h"

#include "app/core/tabs/heads/shown_heads.h"
#include "app/core/tabs/step/shown_step.h"
#include "app/core/text/text_layout.h"
#include "app/views/frame/place_choices.h"
#include "app/views/widgets/heatmap_layout.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/row_layout.h"
#include "engine/base/translate.h"
#include "engine/graph/explanation.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::views::step {

namespace {

// How a step's pictures are laid out: operands, the operation between, the result.
struct Arrangement {
    std::vector<Card> operands;
    Area operation, result;
    bool downwards = false;     // the operands are above the result, otherwise left of it
    bool answer_first = false;  // the result is above them instead: a row's, which is what was asked for
    float bottom = 0.0F;        // of all; below the area's if its height leaves too little for cells that can be hit
};

// The strongest weight of the first pattern that is worth seeing.
std::optional<Suggestion> suggest(const core::Session& session) {
    const core::Snapshot& shown = session.shown();
    const Ref opening = shown.run->plan().find(core::opening_cursor(shown.scenario, shown.run->plan()).step);
    if (opening == nullptr || opening->attention.empty()) return std::nullopt;
    const auto strongest =
        core::heads::shown_strongest_weight(session.derived(), shown, opening->attention, session.cursor().place.batch);
    if (!strongest->found) return std::nullopt;
    const core::heads::StrongestWeight& weight = *strongest->found;
    return Suggestion{
        .title = tr("See where position {query} looks", {{"query", weight.cell[2]}}),
        .commands = {
            core::command::Follow{weight.pattern, weight.cell},
            core::command::Tell{message("The highlighted cell is the largest weight of this attention: {weight} of "
                                        "query {query} on key {key}. On the right you see how the softmax computed it.",
                                        {{"weight", short_number(static_cast<double>(weight.weight))},
                                         {"query", weight.cell[2]},
                                         {"key", weight.cell[3]}}),
                                false}}};
}

// The cell that the pictures are lit for: the one under the mouse, otherwise the selected one, if it belongs to the
// result.
std::optional<Cell> explained_cell(const core::Session& session, const ViewState& state, const Step& result) {
    const auto& cursor = session.cursor();
    const auto fits = [&](const Cell& cell) { return session.shown().run->value(result.id).contains(cell); };
    if (state.hovered && state.hovered->first == result.name && fits(state.hovered->second))
        return state.hovered->second;
    if (cursor.cell && fits(*cursor.cell)) return cursor.cell;
    return std::nullopt;
}

// The cells of operand number `operand` that a cell of the result was computed from, as one block of the operand's
// picture.
std::optional<core::CellRect> lit_cells(const Explanation& explanation, std::size_t operand, const core::Slice& slice) {
    std::optional<core::CellRect> lit;
    const auto add = [&](const Factor& factor) {
        if (!factor.cell || factor.cell->operand != operand) return;
        const auto at = slice.find(factor.cell->cell);
        if (!at) return;
        if (!lit) {
            lit = core::CellRect{at->first, at->second, 1, 1};
            return;
        }
        const Index bottom = std::max(lit->row + lit->rows, at->first + 1),
                    right = std::max(lit->column + lit->columns, at->second + 1);
        lit->row = std::min(lit->row, at->first);
        lit->column = std::min(lit->column, at->second);
        lit->rows = bottom - lit->row;
        lit->columns = right - lit->column;
    };
    for (const Line& line : explanation.lines) {
        for (const Term& term : line.terms) std::for_each(term.factors.begin(), term.factors.end(), add);
        std::for_each(line.given.begin(), line.given.end(), add);
    }
    return lit;
}

// ---- the arrow between operands and result

void draw_arrow_right(const Ui& ui, const Step& step, Area area) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float middle = (area.low.y + area.high.y) * 0.5F;
    const ImU32 color = color_of(step.meaning);
    list.AddLine({area.low.x + ui.px(6), middle}, {area.high.x - ui.px(14), middle}, color, ui.px(2));
    list.AddTriangleFilled({area.high.x - ui.px(6), middle}, {area.high.x - ui.px(15), middle - ui.px(5)},
                           {area.high.x - ui.px(15), middle + ui.px(5)}, color);
    const auto measure = [&](const std::string& text) { return compat::text_size(ui.fonts.caption, text).x; };
    const std::vector<std::string> lines = core::wrapped(step.operation.about().name, area.width() - ui.px(8), measure);
    const float line = compat::font_size(ui.fonts.caption) + ui.px(2);
    float y = middle - ui.px(8) - line * static_cast<float>(lines.size());
    const NotedWhole noted(ui.fonts.caption, {area.low.x, y}, step.operation.about().name);
    for (const std::string& text : lines) {
        const float width = compat::text_size(ui.fonts.caption, text).x;
        draw_text(ui, ui.caption(), {(area.low.x + area.high.x - width) * 0.5F, y}, text, area.width());
        y += line;
    }
}

// To the result: down, or up.
void draw_upright_arrow(const Ui& ui, const Step& step, Area area, bool up) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float x = area.low.x + area.width() * 0.5F;
    const ImU32 color = color_of(step.meaning);
    const auto y = [&](float from_tail) { return up ? area.high.y - from_tail : area.low.y + from_tail; };
    const float length = area.height();
    list.AddLine({x, y(ui.px(4))}, {x, y(length - ui.px(14))}, color, ui.px(2));
    list.AddTriangleFilled({x, y(length - ui.px(6))}, {x - ui.px(5), y(length - ui.px(15))},
                           {x + ui.px(5), y(length - ui.px(15))}, color);
    draw_text(ui, ui.caption(),
              {x + ui.px(14), (area.low.y + area.high.y - compat::font_size(ui.fonts.caption)) * 0.5F - ui.px(2)},
              step.operation.about().name);
}

// The cards and the arrow between them.
void draw_cards(const Ui& ui, const core::Session& session, ViewState& state, const Arrangement& arrangement,
                Commands& commands) {
    const Step& result = session.step();
    Hovered hovered;
    const auto cell = explained_cell(session, state, result);
    const auto explanation = cell ? core::step::shown_explanation(session.derived(), session.shown(), result, *cell)
                                  : core::Value<Explanation>();
    const Index heads = session.shown().scenario.query_heads();
    for (const Card& card : arrangement.operands) {
        std::optional<core::CellRect> lit;
        for (std::size_t i = 0; explanation && i < result.operands.size() && !lit; ++i)
            if (result.operands[i] == card.step.id)
                lit = lit_cells(*explanation, i,
                                core::slice_of(card.step, card.place.value_or(session.cursor().place), heads));
        draw_card(ui, session, state, card, lit, hovered, commands);
    }
    if (!arrangement.operands.empty()) {
        if (arrangement.downwards)
            draw_upright_arrow(ui, result, arrangement.operation, arrangement.answer_first);
        else
            draw_arrow_right(ui, result, arrangement.operation);
        const OpDescription about = result.operation.about();
        const Area& all = arrangement.operation;
        const ImVec2 middle = {(all.low.x + all.high.x) * 0.5F, (all.low.y + all.high.y) * 0.5F};
        const float beside = std::min(all.width() * 0.5F, ui.px(80)), above = std::min(all.height() * 0.5F, ui.px(40));
        area_tooltip(ui, {{middle.x - beside, middle.y - above}, {middle.x + beside, middle.y + above}},
                     {std::string(about.name), std::string(about.teaches)});
    }
    draw_card(ui, session, state, {result, arrangement.result, true}, std::nullopt, hovered, commands);
    state.hovered = hovered;
}

// A picture to place.
struct Picture {
    const Step& step;
    core::Place place;
    HeatmapNeeds needs;
    HeatmapSizes sizes;
    float title;
};

// What all arrangements of a step are made from.
struct Layout {
    const Ui& ui;
    Area area;
    std::vector<Picture> operands;
    Picture result;

    [[nodiscard]] float gap() const { return ui.px(8); }
};

// The operands, each once.
std::vector<Ref> distinct_operands(const Plan& plan, const Step& result) {
    std::vector<Ref> operands;
    for (const StepId id : result.operands)
        if (std::find(operands.begin(), operands.end(), &plan[id]) == operands.end()) operands.push_back(&plan[id]);
    return operands;
}

// A step beside the result, or the result itself. On a slide nothing scrolls: its cells may be smaller than the mouse
// needs.
Picture picture_of(const Ui& ui, const core::Session& session, const Step& step, const Step& result, float width,
                   bool on_slide) {
    const core::Place place = core::place_beside(step, result, session.cursor().place);
    HeatmapNeeds needs{.around = {ui.px(160), ui.px(44)}};  // of the line that says that it is being computed
    if (!session.shown().run_of(step).value(step.id).empty())
        needs = needs_of(ui, core::step::shown_card(session.derived(), session.shown(), step, place)->heatmap, width);
    HeatmapSizes sizes = sizes_of(ui, needs);
    if (on_slide) sizes.least = {needs.around.x + ui.px(24), needs.around.y + ui.px(24)};
    return {step, place, needs, sizes, compat::text_size(ui.fonts.mono_small, step.name).x + ui.px(16)};
}

// ---- sizes

// The heights that a picture of this width can use.
SizeHint height_wanted(const Ui& ui, const Picture& p, float width) {
    const float most = fitted_height(ui, p.needs, width, 1e6F);
    return {std::min(p.sizes.least.y, most), std::min(p.sizes.good.y, most), most};
}

// The widths that a picture of at most this height can use.
SizeHint width_wanted(const Ui& ui, const Picture& p, float height) {
    const float cell = std::max((height - p.needs.around.y) / static_cast<float>(p.needs.rows), number_width(ui, 4));
    const float most = std::min(p.sizes.most.x, p.needs.around.x + cell * static_cast<float>(p.needs.columns));
    // A title is worth some width.
    const float title = std::min(p.title, ui.px(190));
    return {std::max(std::min(p.sizes.least.x, most), title), std::max(std::min(p.sizes.good.x, most), title),
            std::max(most, title)};
}

// How well a picture reads at this size: 1 if its cells are square and hold four characters.
float readability(const Ui& ui, const Picture& p, ImVec2 size) {
    const ImVec2 room = {std::max(size.x - p.needs.around.x, 1.0F), std::max(size.y - p.needs.around.y, 1.0F)};
    const ImVec2 cell = fitted_cell(ui, p.needs.rows, p.needs.columns, room);
    const float shape = std::sqrt(std::min(cell.x, cell.y) / std::max(cell.x, cell.y));
    const bool too_small = size.x + 1.0F < p.sizes.least.x || size.y + 1.0F < p.sizes.least.y;
    return shape * std::min(1.0F, cell.x / number_width(ui, 4)) * std::min(1.0F, cell.y / ui.px(20)) *
           (too_small ? 0.25F : 1.0F);
}

// The readability of all pictures together; the result counts twice. What must be scrolled reads less well.
float readability(const Layout& l, const Arrangement& a) {
    const auto size = [](const Area& area) { return ImVec2{area.width(), area.height()}; };
    float sum = 2.0F * readability(l.ui, l.result, size(a.result));
    for (std::size_t i = 0; i < a.operands.size(); ++i)
        sum += readability(l.ui, l.operands[i], size(a.operands[i].area));
    const float needed = a.bottom - l.area.low.y, seen = std::min(1.0F, l.area.height() / std::max(needed, 1.0F));
    return needed > l.area.height() + 1.0F ? 0.25F * sum * seen * seen * seen : sum;
}

// ---- operands left of the result

// Pictures in a column, each at the height that it can use, at its top or in its middle. Returns their bottom.
enum class Upright { top, middle };
float stack(const Layout& l, std::span<const Picture> pictures, Area column, Upright upright,
            std::vector<Card>& cards) {
    std::vector<SizeHint> wants;
    for (const Picture& p : pictures) wants.push_back(height_wanted(l.ui, p, column.width()));
    const float gaps = l.gap() * static_cast<float>(pictures.size() - 1);
    const std::vector<float> heights = shares(column.height() - gaps, wants);
    float sum = gaps;
    for (const float height : heights) sum += height;
    float y = column.low.y;
    if (upright == Upright::middle) y += std::max(0.0F, (column.height() - sum) * 0.5F);
    for (std::size_t i = 0; i < pictures.size(); ++i) {
        cards.push_back(
            {pictures[i].step, {{column.low.x, y}, {column.high.x, y + heights[i]}}, false, pictures[i].place});
        y += heights[i] + l.gap();
    }
    return y - l.gap();
}

// The width of the arrow: its text has a line for each word.
float arrow_width(const Layout& l) {
    const std::string name(l.result.step.operation.about().name);
    float widest = 0.0F;
    for (std::size_t at = 0; at < name.size();) {
        const std::size_t end = std::min(name.find(' ', at), name.size());
        widest = std::max(widest, compat::text_size(l.ui.fonts.caption, name.substr(at, end - at)).x);
        at = end + 1;
    }
    return std::clamp(widest + l.ui.px(10), l.ui.px(48), l.ui.px(104));
}

// Whether the only operand and the result, each in half of the width, have cells alike, and large enough for ".58".
bool can_be_level(const Layout& l) {
    const HeatmapNeeds &operand = l.operands.front().needs, &result = l.result.needs;
    if (l.operands.size() > 1 || operand.rows != result.rows || operand.columns != result.columns) return false;
    const ImVec2 room = {(l.area.width() - arrow_width(l)) * 0.5F - std::max(operand.around.x, result.around.x),
                         l.area.height() - std::max(operand.around.y, result.around.y)};
    return characters_in(l.ui, fitted_cell(l.ui, result.rows, result.columns, room)) >= 3;
}

// `level`: as wide as each other, so that a row of the only operand is beside the result's.
Arrangement side_by_side(const Layout& l, bool level) {
    const Area& area = l.area;
    const float arrow = arrow_width(l), room = area.width() - arrow;
    const float each =
        (area.height() - l.gap() * static_cast<float>(l.operands.size() - 1)) / static_cast<float>(l.operands.size());
    SizeHint left;
    for (const Picture& p : l.operands) left = larger(left, width_wanted(l.ui, p, each));
    const SizeHint right = width_wanted(l.ui, l.result, area.height());
    // The result first gets the width for its numbers, and what the operands can't use.
    const float kept = std::min(left.least, room * 0.5F);
    const float result = level ? room * 0.5F
                               : std::min(std::max({right.good, std::min(room * 0.5F, right.most), room - left.most}),
                                          std::max(room - kept, 1.0F));
    Arrangement a;
    const float edge = std::floor(area.high.x - result);
    const float bottom = stack(l, l.operands, {area.low, {edge - arrow, area.high.y}}, Upright::middle, a.operands);
    std::vector<Card> cards;
    const float result_bottom = stack(l, {&l.result, 1}, {{edge, area.low.y}, area.high}, Upright::middle, cards);
    a.result = cards.front().area;
    if (level) {  // what is below the cells may be of other heights
        const float top = std::min(a.result.low.y, a.operands.front().area.low.y);
        for (Area* one : {&a.result, &a.operands.front().area})
            *one = {{one->low.x, top}, {one->high.x, top + one->height()}};
    }
    a.operation = {{edge - arrow, area.low.y}, {edge, std::max({area.high.y, bottom, result_bottom})}};
    a.bottom = std::max(bottom, result_bottom);
    return a;
}

// ---- operands above the result

// A column of operands. A norm's gain and bias, which have one row each, share one beside the matrix.
using Column = std::span<const Picture>;

std::vector<Column> columns_of(std::span<const Picture> operands) {
    const auto flat = [](const Picture& p) { return p.needs.rows == 1; };
    const bool beside = !std::ranges::all_of(operands, flat);
    std::vector<Column> columns;
    for (std::size_t i = 0; i < operands.size();) {
        std::size_t end = i + 1;
        while (beside && flat(operands[i]) && end < operands.size() && flat(operands[end])) ++end;
        columns.push_back(operands.subspan(i, end - i));
        i = end;
    }
    return columns;
}

struct Row {
    std::vector<Column> columns;
    std::vector<float> widths;
    SizeHint height;
};

Row row_of(const Layout& l, std::span<const Column> columns) {
    Row row{.columns = {columns.begin(), columns.end()}, .widths = {}, .height = {}};
    std::vector<SizeHint> wants;
    for (const Column& column : columns) {
        SizeHint width;
        for (const Picture& p : column) width = larger(width, width_wanted(l.ui, p, l.area.height() * 0.5F));
        wants.push_back(width);
    }
    row.widths = shares(l.area.width() - l.gap() * 2.0F * static_cast<float>(columns.size() - 1), wants);
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const float gaps = l.gap() * static_cast<float>(columns[i].size() - 1);
        SizeHint height = {gaps, gaps, gaps};
        for (const Picture& p : columns[i]) height = sum(height, height_wanted(l.ui, p, row.widths[i]));
        row.height = larger(row.height, height);
    }
    return row;
}

Arrangement one_above_the_other(const Layout& l, std::span<const Column> columns, std::size_t per_row) {
    const Area& area = l.area;
    const float arrow = l.ui.px(24);
    std::vector<Row> rows;
    std::vector<SizeHint> wants;
    for (std::size_t i = 0; i < columns.size(); i += per_row) {
        rows.push_back(row_of(l, columns.subspan(i, std::min(per_row, columns.size() - i))));
        wants.push_back(rows.back().height);
    }
    wants.push_back(height_wanted(l.ui, l.result, area.width()));
    const std::vector<float> heights =
        shares(area.height() - arrow - l.gap() * static_cast<float>(rows.size() - 1), wants);
    Arrangement a;
    a.downwards = true;
    a.answer_first = l.result.step.part == Part::own;
    float y = area.low.y + (a.answer_first ? heights.back() + arrow : 0.0F);
    for (std::size_t r = 0; r < rows.size(); ++r) {
        float x = area.low.x;
        for (std::size_t i = 0; i < rows[r].widths.size(); ++i) {
            const Area column = {{x, y}, {x + rows[r].widths[i], y + heights[r]}};
            stack(l, rows[r].columns[i], column, Upright::top, a.operands);
            x += rows[r].widths[i] + l.gap() * 2.0F;
        }
        y += heights[r] + l.gap();
    }
    y -= l.gap();
    const float top = a.answer_first ? area.low.y : y + arrow;
    a.result = {{area.low.x, top}, {area.high.x, top + heights.back()}};
    const float between = a.answer_first ? a.result.high.y : y;
    a.operation = {{area.low.x, between}, {area.high.x, between + arrow}};
    a.bottom = a.answer_first ? y : a.result.high.y;
    return a;
}

// The operands beside the result or above it, however the cells of all of them become the most readable: square, large
// enough for their numbers, above all those of the result. The pictures share all of the area that is of use to them.
Arrangement arrange(const Ui& ui, const core::Session& session, const Step& result, Area area, bool on_slide) {
    Layout l{ui, area, {}, picture_of(ui, session, result, result, area.width(), on_slide)};
    for (const Ref operand : distinct_operands(session.shown().run->plan(), result))
        l.operands.push_back(picture_of(ui, session, *operand, result, area.width() * 0.5F, on_slide));
    if (l.operands.empty()) {
        const SizeHint height = height_wanted(ui, l.result, area.width());
        const float bottom = area.low.y + std::max(height.least, std::min(height.most, area.height()));
        return {.operands = {}, .operation = {}, .result = {area.low, {area.high.x, bottom}}, .bottom = bottom};
    }
    std::vector<Arrangement> tried;
    tried.push_back(side_by_side(l, can_be_level(l)));
    const std::vector<Column> columns = columns_of(l.operands);
    for (std::size_t per_row = 1; per_row <= std::min<std::size_t>(3, columns.size()); ++per_row)
        tried.push_back(one_above_the_other(l, columns, per_row));
    std::vector<float> read;
    for (const Arrangement& a : tried) read.push_back(readability(l, a));
    return std::move(tried[static_cast<std::size_t>(std::ranges::max_element(read) - read.begin())]);
}

// The pictures on their way to their places in this step's arrangement, from those that they had in the last one's.
bool glide(ViewState& state, const Step& result, Arrangement& arrangement) {
    std::vector<Glide::Placed> pictures = {{result.name, arrangement.result}};
    for (Card& card : arrangement.operands) pictures.push_back({card.step.name, card.area});
    return state.part<Glide>().advance(result.name, std::move(pictures), !state.reduces_motion());
}

// The cards in an area; they are scrolled where they need more height than it has.
void draw_pictures(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    scrolled("pictures", with_scroll_bar(area), [&](ImVec2 start) {
        Arrangement arrangement = arrange(ui, session, session.step(),
                                          {start, {start.x + area.width(), start.y + area.height()}}, state.presenting);
        if (glide(state, session.step(), arrangement)) state.busy = true;
        draw_cards(ui, session, state, arrangement, commands);
        return arrangement.bottom;
    });
}

// What a lecture hall must be told of the picture, which no panel beside it says: "softmax, head 3, batch row 0".
Sentence said_below(const core::Session& session, const Step& step) {
    const auto several = [&](std::string_view name) {
        return std::ranges::any_of(step.axes, [&](const Axis& along) { return along.name == name && along.size > 1; });
    };
    const core::Place place = session.cursor().place;
    const Arguments arguments = {
        {"operation", step.operation.about().name}, {"head", place.head}, {"row", place.batch}};
    if (several(axis::head) && several(axis::batch))
        return message("{operation}, head {head}, batch row {row}", arguments);
    if (several(axis::head)) return message("{operation}, head {head}", arguments);
    if (several(axis::batch)) return message("{operation}, batch row {row}", arguments);
    return Sentence::verbatim(step.operation.about().name);
}

// What stands below the pictures of a slide: the formula, of a chosen cell in its numbers, and what the step does.
struct SlideText {
    std::vector<std::string> formula, sentence;  // lines
    std::string answer, where;
    float answer_width = 0.0F, where_width = 0.0F;
};

// With as many terms of each line as there is room for.
SlideText text_of_slide(const Ui& ui, const core::Session& session, const ViewState& state, float width) {
    constexpr std::size_t kLines = 2, kTerms = 4;
    const Step& step = session.step();
    SlideText text{.formula = lines_of(ui.fonts.mono, step.operation.about().formula, width),
                   .where = tr(said_below(session, step))};
    text.where_width = compat::text_size(ui.fonts.text, text.where).x;
    // Each state of a talk has a sentence of its own.
    if (session.talk().empty())
        text.sentence = lines_of(ui.fonts.text, core::step::sentence_of(step), width - text.where_width - ui.px(16));
    const auto cell = explained_cell(session, state, step);
    if (!cell) return text;
    const auto explanation = core::step::shown_explanation(session.derived(), session.shown(), step, *cell);
    if (!explanation || explanation->lines.empty()) return text;
    text.formula.clear();
    const std::size_t count = explanation->lines.size();
    text.answer = core::step::shown_place(session.derived(), session.shown(), step, *cell)->answer;
    text.answer_width = compat::text_size(ui.fonts.text, text.answer).x;
    for (std::size_t i = count - std::min(count, kLines); i < count; ++i) {
        const float room = width - (i + 1 == count ? text.answer_width + ui.px(16) : 0.0F);
        std::size_t terms = kTerms;
        std::string line = core::step::written_out(explanation->lines[i], terms);
        while (terms > 1 && compat::text_size(ui.fonts.mono, line).x > room)
            line = core::step::written_out(explanation->lines[i], --terms);
        text.formula.push_back(fitted(ui.fonts.mono, line, room));
    }
    return text;
}

// What the picture shows, in words. Returns its height.
float draw_step_title(const Ui& ui, const core::Session& session, Area area) {
    const Step& step = session.step();
    const bool looks = is_over_keys(step.axes) && !step.backward;
    return draw_titled(ui,
                       {core::step::headline_of(session.shown().run->plan(), step),
                        looks ? tr("row: who looks · column: at whom") : std::string()},
                       {}, area);
}

// For a lecture hall: the operands and the result as large as the screen, the formula below them, and what it does.
void draw_slide(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    const float pad = ui.px(16), gap = ui.px(8);
    Area inner = {{area.low.x + pad, area.low.y + gap}, {area.high.x - pad, area.high.y - gap}};
    inner.low.y += draw_step_title(ui, session, inner);
    const SlideText text = text_of_slide(ui, session, state, inner.width());
    const float formula = compat::font_size(ui.fonts.mono) + ui.px(4),
                words = compat::font_size(ui.fonts.text) + ui.px(4);
    const float below = formula * static_cast<float>(text.formula.size()) +
                        words * static_cast<float>(std::max<std::size_t>(text.sentence.size(), 1)) + 2 * gap;
    draw_pictures(ui, session, state, {inner.low, {inner.high.x, inner.high.y - below}}, commands);
    float y = inner.high.y - below + gap;
    for (const std::string& line : text.formula) {
        draw_text(ui, {ui.fonts.mono, ui.theme.text}, {inner.low.x, y}, line, inner.width());
        y += formula;
    }
    draw_text(ui, {ui.fonts.text, ui.theme.accent}, {inner.high.x - text.answer_width, y - formula}, text.answer);
    y += gap;
    draw_text(ui, ui.hint(), {inner.high.x - text.where_width, y}, text.where);
    for (const std::string& line : text.sentence) {
        draw_text(ui, ui.body(), {inner.low.x, y}, line);
        y += words;
    }
}

void draw_step_tab(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    if (state.presenting && !sheet_is_open(state)) return draw_slide(ui, session, state, area, commands);
    const float pad = ui.px(16), left = area.low.x + pad, right = area.high.x - pad;
    Area pictures = {{left, area.low.y + ui.px(6)}, {right, area.high.y - ui.px(8)}};
    if (control_lines(ui, area.height()) > 1) pictures.low.y += draw_step_title(ui, session, pictures);
    if (sheet_is_open(state))
        draw_spreadsheet(ui, session, state, pictures, commands);
    else
        draw_pictures(ui, session, state, pictures, commands);
}

}  // namespace

// Adds no exports: every tab exports the step.
Tab step_tab() {
    return {.id = core::files::kStepTab,
            .title = message("Step"),
            .question = message("How is this tensor computed?"),
            .key = Key::s,
            .term = "step",
            .draw = draw_step_tab,
            .suggest = suggest,
            .selectors = place_selectors};
}

}  // namespace decoderscope::views::step

#include "app/views/labs/step/arrangement.h"

#include "app/core/labs/step/shown_step.h"
#include "app/views/widgets/heatmap_layout.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/row_layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope::views::step {

namespace {

// A picture to place.
struct Picture {
    const Step& step;
    core::Place place;
    HeatmapNeeds needs;
    HeatmapSizes sizes;
    float title;
};

// The height of an arrow that points down or up.
constexpr float kDownArrow = 24.0F;

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

// A step beside the result, or the result itself.
Picture picture_of(const Ui& ui, const core::Session& session, const Step& step, const Step& result, float width) {
    const core::Place place = core::place_beside(step, result, session.cursor().place);
    HeatmapNeeds needs{.around = {ui.px(160), ui.px(44)}};  // of the line that says that it is being computed
    if (!session.shown().run_of(step).value(step.id).empty())
        needs =
            needs_of(ui, core::step::shown_heatmap(session.derived(), session.shown(), step, place)->heatmap, width);
    return {step, place, needs, sizes_of(ui, needs), compat::text_size(ui.fonts.mono_small, step.name).x + ui.px(16)};
}

// ---- sizes

// The heights that a picture of this width can use.
Want height_wanted(const Ui& ui, const Picture& p, float width) {
    const float most = fitted_height(ui, p.needs, width, 1e6F);
    return {std::min(p.sizes.least.y, most), std::min(p.sizes.good.y, most), most};
}

// The widths that a picture of at most this height can use.
Want width_wanted(const Ui& ui, const Picture& p, float height) {
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

// How well they read in an arrangement: all pictures together, of which the result counts twice; and the result alone.
// What must be scrolled reads less well.
struct Reading {
    float all = 0.0F, result = 0.0F;
};

Reading read(const Layout& l, const Arrangement& a) {
    const auto size = [](const Area& area) { return ImVec2{area.width(), area.height()}; };
    Reading reading;
    reading.result = readability(l.ui, l.result, size(a.result));
    reading.all = 2.0F * reading.result;
    for (const Card& card : a.operands) {
        const auto of = std::ranges::find_if(l.operands, [&](const Picture& p) { return &p.step == &card.step; });
        reading.all += readability(l.ui, *of, size(card.area));
    }
    const float needed = a.bottom - l.area.low.y, seen = std::min(1.0F, l.area.height() / std::max(needed, 1.0F));
    if (needed > l.area.height() + 1.0F) reading.all *= 0.25F * seen * seen * seen;
    return reading;
}

// ---- operands left of the result

// Pictures in a column, each at the height that it can use, at its top or in its middle. Returns their bottom.
enum class Upright { top, middle };
float stack(const Layout& l, std::span<const Picture> pictures, Area column, Upright upright,
            std::vector<Card>& cards) {
    std::vector<Want> wants;
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

Arrangement side_by_side(const Layout& l) {
    const Area& area = l.area;
    const float arrow = arrow_width(l), room = area.width() - arrow;
    const float each =
        (area.height() - l.gap() * static_cast<float>(l.operands.size() - 1)) / static_cast<float>(l.operands.size());
    Want left;
    for (const Picture& p : l.operands) left = larger(left, width_wanted(l.ui, p, each));
    const Want right = width_wanted(l.ui, l.result, area.height());
    // The result first gets the width for its numbers, and what the operands can't use.
    const float kept = std::min(left.least, room * 0.5F);
    const float result = std::min(std::max({right.good, std::min(room * 0.5F, right.most), room - left.most}),
                                  std::max(room - kept, 1.0F));
    Arrangement a;
    const float edge = std::floor(area.high.x - result);
    const float bottom = stack(l, l.operands, {area.low, {edge - arrow, area.high.y}}, Upright::middle, a.operands);
    std::vector<Card> cards;
    const float result_bottom = stack(l, {&l.result, 1}, {{edge, area.low.y}, area.high}, Upright::middle, cards);
    a.result = cards.front().area;
    a.arrows.push_back(
        {{{edge - arrow, area.low.y}, {edge, std::max({area.high.y, bottom, result_bottom})}}, Arrow::Way::right});
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
    Want height;
};

Row row_of(const Layout& l, std::span<const Column> columns) {
    Row row{.columns = {columns.begin(), columns.end()}, .widths = {}, .height = {}};
    std::vector<Want> wants;
    for (const Column& column : columns) {
        Want width;
        for (const Picture& p : column) width = larger(width, width_wanted(l.ui, p, l.area.height() * 0.5F));
        wants.push_back(width);
    }
    row.widths = shares(l.area.width() - l.gap() * 2.0F * static_cast<float>(columns.size() - 1), wants);
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const float gaps = l.gap() * static_cast<float>(columns[i].size() - 1);
        Want height = {gaps, gaps, gaps};
        for (const Picture& p : columns[i]) height = sum(height, height_wanted(l.ui, p, row.widths[i]));
        row.height = larger(row.height, height);
    }
    return row;
}

Arrangement one_above_the_other(const Layout& l, std::span<const Column> columns, std::size_t per_row) {
    const Area& area = l.area;
    const float arrow = l.ui.px(kDownArrow);
    std::vector<Row> rows;
    std::vector<Want> wants;
    for (std::size_t i = 0; i < columns.size(); i += per_row) {
        rows.push_back(row_of(l, columns.subspan(i, std::min(per_row, columns.size() - i))));
        wants.push_back(rows.back().height);
    }
    wants.push_back(height_wanted(l.ui, l.result, area.width()));
    const std::vector<float> heights =
        shares(area.height() - arrow - l.gap() * static_cast<float>(rows.size() - 1), wants);
    Arrangement a;
    float y = area.low.y;
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
    a.arrows.push_back({{{area.low.x, y}, {area.high.x, y + arrow}}, Arrow::Way::down});
    a.result = {{area.low.x, y + arrow}, {area.high.x, y + arrow + heights.back()}};
    a.bottom = a.result.high.y;
    return a;
}

// The result alone.
Arrangement alone(const Layout& l) {
    const Want height = height_wanted(l.ui, l.result, l.area.width());
    const float most = std::max(height.least, std::min(height.most, l.area.height()));
    const float low = std::floor(l.area.low.y + std::max(0.0F, (l.area.height() - most) * 0.5F));
    return {{}, {{l.area.low.x, low}, {l.area.high.x, low + most}}, {}, low + most};
}

// All arrangements in which nothing has a place yet.
std::vector<Arrangement> free_arrangements(const Layout& l) {
    std::vector<Arrangement> all;
    if (l.operands.empty()) {
        all.push_back(alone(l));
        return all;
    }
    all.push_back(side_by_side(l));
    const std::vector<Column> columns = columns_of(l.operands);
    for (std::size_t per_row = 1; per_row <= std::min<std::size_t>(3, columns.size()); ++per_row)
        all.push_back(one_above_the_other(l, columns, per_row));
    return all;
}

Arrangement best_of(const Layout& l, std::vector<Arrangement> all) {
    std::vector<float> reads;
    for (const Arrangement& a : all) reads.push_back(read(l, a).all);
    return std::move(all[static_cast<std::size_t>(std::ranges::max_element(reads) - reads.begin())]);
}

// ---- around a picture that is kept

enum class Side { left, right, above, below };
constexpr std::array kSides = {Side::right, Side::left, Side::below, Side::above};

// A picture that has its place: one of the operands, or the result.
struct Fixed {
    const Picture* operand;  // nullptr: the result
    Area area;
};

// What is left of an area on one side of a picture, beyond an arrow.
struct Strip {
    Area area, arrow;
    [[nodiscard]] bool is_of_use(const Ui& ui) const { return area.width() >= ui.px(60) && area.height() >= ui.px(60); }
};

Strip strip_beside(const Layout& l, Area fixed, Side side) {
    const Area& all = l.area;
    const float across = arrow_width(l), down = l.ui.px(kDownArrow);
    switch (side) {
        case Side::left:
            return {{all.low, {fixed.low.x - across, all.high.y}},
                    {{fixed.low.x - across, fixed.low.y}, {fixed.low.x, fixed.high.y}}};
        case Side::right:
            return {{{fixed.high.x + across, all.low.y}, all.high},
                    {{fixed.high.x, fixed.low.y}, {fixed.high.x + across, fixed.high.y}}};
        case Side::above:
            return {{all.low, {all.high.x, fixed.low.y - down}},
                    {{fixed.low.x, fixed.low.y - down}, {fixed.high.x, fixed.low.y}}};
        default:
            return {{{all.low.x, fixed.high.y + down}, all.high},
                    {{fixed.low.x, fixed.high.y}, {fixed.high.x, fixed.high.y + down}}};
    }
}

// The way to that side, or from it.
Arrow::Way way_of(Side side, bool to) {
    switch (side) {
        case Side::left:
            return to ? Arrow::Way::left : Arrow::Way::right;
        case Side::right:
            return to ? Arrow::Way::right : Arrow::Way::left;
        case Side::above:
            return to ? Arrow::Way::up : Arrow::Way::down;
        default:
            return to ? Arrow::Way::down : Arrow::Way::up;
    }
}

// Whether the result is next to the arrow, with no operand in between.
bool is_beside_arrow(const Layout& l, const Arrangement& a, Side side) {
    return std::ranges::none_of(a.operands, [&](const Card& card) {
        switch (side) {
            case Side::left:
                return card.area.low.x >= a.result.high.x - l.gap();
            case Side::right:
                return card.area.high.x <= a.result.low.x + l.gap();
            case Side::above:
                return card.area.low.y >= a.result.high.y - l.gap();
            default:
                return card.area.high.y <= a.result.low.y + l.gap();
        }
    });
}

// The arrow between a kept operand and the result: at the height, or the width, that both have.
Area arrow_to(Area arrow, Area result, Side side) {
    const auto common = [](float& low, float& high, float other_low, float other_high) {
        const float from = std::max(low, other_low), to = std::min(high, other_high);
        low = from < to ? from : other_low;
        high = from < to ? to : other_high;
    };
    if (side == Side::left || side == Side::right)
        common(arrow.low.y, arrow.high.y, result.low.y, result.high.y);
    else
        common(arrow.low.x, arrow.high.x, result.low.x, result.high.x);
    return arrow;
}

// The result, with the other operands, on one side of a kept operand.
std::optional<Arrangement> beside_operand(const Layout& l, const Fixed& fixed, Side side) {
    const Strip strip = strip_beside(l, fixed.area, side);
    if (!strip.is_of_use(l.ui)) return std::nullopt;
    std::vector<Picture> others;
    for (const Picture& p : l.operands)
        if (&p != fixed.operand) others.push_back(p);
    const Layout rest = {l.ui, strip.area, std::move(others), l.result};
    Arrangement a = best_of(rest, free_arrangements(rest));
    const Area arrow = arrow_to(strip.arrow, a.result, side);
    if (is_beside_arrow(l, a, side)) a.arrows.insert(a.arrows.begin(), Arrow{arrow, way_of(side, true)});
    a.operands.push_back({fixed.operand->step, fixed.area, false, fixed.operand->place});
    a.bottom = std::max(a.bottom, fixed.area.high.y);
    return a;
}

// All operands on one side of a kept result: in a column, or in a row.
std::optional<Arrangement> beside_result(const Layout& l, const Fixed& fixed, Side side) {
    const Strip strip = strip_beside(l, fixed.area, side);
    if (!strip.is_of_use(l.ui) || l.operands.empty()) return std::nullopt;
    Arrangement a{
        .operands = {}, .result = fixed.area, .arrows = {Arrow{strip.arrow, way_of(side, false)}}, .bottom = 0.0F};
    if (side == Side::left || side == Side::right) {
        a.bottom = stack(l, l.operands, strip.area, Upright::middle, a.operands);
    } else {
        const Layout above = {l.ui, strip.area, l.operands, l.result};
        const std::vector<Column> columns = columns_of(above.operands);
        const Row row = row_of(above, columns);
        const float height = std::min(strip.area.height(), row.height.most);
        const float y = side == Side::above ? strip.area.high.y - height : strip.area.low.y;
        float x = strip.area.low.x;
        for (std::size_t i = 0; i < row.widths.size(); ++i) {
            const Area column = {{x, y}, {x + row.widths[i], y + height}};
            a.bottom = std::max(a.bottom, stack(above, row.columns[i], column, Upright::top, a.operands));
            x += row.widths[i] + l.gap() * 2.0F;
        }
    }
    a.bottom = std::max(a.bottom, fixed.area.high.y);
    return a;
}

// The kept picture with smaller or larger cells, at the edge of the stage that it is nearer to.
Area scaled(const Layout& l, const Picture& p, Area area, float factor) {
    const auto length = [&](float whole, float around) {
        return std::min(around, whole) + std::max(whole - around, 0.0F) * factor;
    };
    const float width = std::min(length(area.width(), p.needs.around.x), l.area.width());
    const float height = std::min(length(area.height(), p.needs.around.y), l.area.height());
    const bool left = area.low.x - l.area.low.x <= l.area.high.x - area.high.x;
    const float x = left ? area.low.x : area.high.x - width, y = (area.low.y + area.high.y - height) * 0.5F;
    const ImVec2 low = {std::floor(std::clamp(x, l.area.low.x, std::max(l.area.low.x, l.area.high.x - width))),
                        std::floor(std::clamp(y, l.area.low.y, std::max(l.area.low.y, l.area.high.y - height)))};
    return factor == 1.0F && low.x == std::floor(area.low.x) && low.y == std::floor(area.low.y)
               ? area
               : Area{low, {low.x + width, low.y + height}};
}

bool is_at(const Area& place, const Area& card) {
    return std::abs(card.low.x - place.low.x) < 1.0F && std::abs(card.low.y - place.low.y) < 1.0F &&
           card.high.x > place.high.x - 1.0F && card.high.y > place.high.y - 1.0F;
}

// Those that have a picture at a place anyway.
std::vector<Arrangement> that_have(const Fixed& fixed, const std::vector<Arrangement>& free) {
    std::vector<Arrangement> all;
    for (const Arrangement& a : free) {
        const auto card = std::ranges::find_if(
            a.operands, [&](const Card& one) { return fixed.operand != nullptr && &one.step == &fixed.operand->step; });
        if (card == a.operands.end() && fixed.operand != nullptr) continue;
        if (is_at(fixed.area, fixed.operand == nullptr ? a.result : card->area)) all.push_back(a);
    }
    return all;
}

std::vector<Arrangement> beside(const Layout& l, const Fixed& fixed) {
    std::vector<Arrangement> all;
    for (const Side side : kSides)
        if (auto a = fixed.operand == nullptr ? beside_result(l, fixed, side) : beside_operand(l, fixed, side))
            all.push_back(std::move(*a));
    return all;
}

// From the same size to ever smaller and larger ones.
constexpr std::array kFactors = {1.0F, 0.87F, 1.15F, 0.75F, 1.35F, 0.62F, 1.6F, 0.5F, 2.0F};
// A kept picture may cost so much: hardly anything of the result's numbers, some of the others'.
constexpr float kResultKept = 0.97F, kAllKept = 0.82F;

Arrangement arranged(const Layout& l, const std::optional<KeptPlace>& kept) {
    std::vector<Arrangement> free = free_arrangements(l);
    if (!kept) return best_of(l, std::move(free));
    Fixed fixed = {nullptr, kept->second};
    for (const Picture& p : l.operands)
        if (p.step.name == kept->first) fixed.operand = &p;
    const Picture& picture = fixed.operand == nullptr ? l.result : *fixed.operand;
    if (picture.step.name != kept->first) return best_of(l, std::move(free));
    const Arrangement best = best_of(l, free);
    const Reading wanted = read(l, best);
    const auto chosen = [&](const std::vector<Arrangement>& all) {
        const Arrangement* found = nullptr;
        float most = kAllKept * wanted.all;
        for (const Arrangement& a : all) {
            const Reading reading = read(l, a);
            if (reading.result < kResultKept * wanted.result || reading.all < most) continue;
            found = &a;
            most = reading.all;
        }
        return found == nullptr ? std::nullopt : std::optional(*found);
    };
    for (const float factor : kFactors) {
        const Fixed scaled_one = {fixed.operand, scaled(l, picture, kept->second, factor)};
        if (auto found = chosen(that_have(scaled_one, free))) return std::move(*found);
        if (auto found = chosen(beside(l, scaled_one))) return std::move(*found);
    }
    return best;
}

// The part of its area that a picture takes: with labels, title and legend as they are there.
Area taken(const Ui& ui, const core::Session& session, const Step& step, core::Place place, Area area) {
    if (session.shown().run_of(step).value(step.id).empty()) return area;
    const core::Value<core::step::ShownHeatmap> shown =
        core::step::shown_heatmap(session.derived(), session.shown(), step, place);
    const HeatmapNeeds needs = needs_of(ui, shown->heatmap, area.width());
    const HeatmapSizes sizes = sizes_of(ui, needs);
    const ImVec2 room = {std::max(area.width() - needs.around.x, 1.0F), std::max(area.height() - needs.around.y, 1.0F)};
    const ImVec2 cell = fitted_cell(ui, needs.rows, needs.columns, room);
    const float title = compat::text_size(ui.fonts.mono_small, step.name).x + ui.px(16);
    const float width = std::max(needs.around.x + cell.x * static_cast<float>(needs.columns), title),
                height = needs.around.y + cell.y * static_cast<float>(needs.rows);
    Area part = {area.low,
                 {std::min(area.high.x, area.low.x + std::max(width, sizes.least.x)),
                  std::min(area.high.y, area.low.y + std::max(height, sizes.least.y))}};
    const HeatmapNeeds narrower = needs_of(ui, shown->heatmap, part.width());
    const bool alike = narrower.around.x == needs.around.x && narrower.around.y == needs.around.y;
    if (!alike) part.high = area.high;  // its legend would take more lines
    return part;
}

}  // namespace

Arrangement arrange(const Ui& ui, const core::Session& session, const Step& result, Area area,
                    const std::optional<KeptPlace>& kept) {
    Layout l{ui, area, {}, picture_of(ui, session, result, result, area.width())};
    for (const Ref operand : distinct_operands(session.shown().run->plan(), result))
        l.operands.push_back(picture_of(ui, session, *operand, result, area.width() * 0.5F));
    if (!l.operands.empty()) return arranged(l, kept);
    const Want height = height_wanted(ui, l.result, area.width());
    const float bottom = area.low.y + std::max(height.least, std::min(height.most, area.height()));
    return {{}, {area.low, {area.high.x, bottom}}, {}, bottom};
}

std::optional<KeptPlace> PicturePlaces::kept(const Ui& ui, const Plan& plan, const Step& result, Area area) const {
    const auto placed = [&](const KeptPlace& kept) {
        const Area& at = kept.second;
        return KeptPlace{
            kept.first,
            {{area.low.x + at.low.x, area.low.y + at.low.y}, {area.low.x + at.high.x, area.low.y + at.high.y}}};
    };
    if (width_ != area.width() / ui.fonts.scale) return std::nullopt;
    if (step_ == result.name) return kept_ ? std::optional(placed(*kept_)) : std::nullopt;
    const std::vector<Ref> operands = distinct_operands(plan, result);
    const auto is_operand = [&](const std::string& name) {
        return std::ranges::any_of(operands, [&](Ref operand) { return operand->name == name; });
    };
    if (const auto at = drawn_.find(step_); at != drawn_.end() && is_operand(step_)) return placed(*at);
    if (const auto at = drawn_.find(result.name); at != drawn_.end()) return placed(*at);
    for (const Ref operand : operands)
        if (const auto at = drawn_.find(operand->name); at != drawn_.end()) return placed(*at);
    return std::nullopt;
}

void PicturePlaces::remember(const Ui& ui, const core::Session& session, const Step& result, const Arrangement& drawn,
                             Area area) {
    const core::Place place = session.cursor().place;
    std::map<std::string, Area> places;
    const auto add = [&](const Step& step, core::Place at, Area card) {
        const Area part = taken(ui, session, step, at, card);
        // What is scrolled out of sight keeps no place.
        if (part.high.y > area.high.y + 1.0F) return;
        places[step.name] = {{part.low.x - area.low.x, part.low.y - area.low.y},
                             {part.high.x - area.low.x, part.high.y - area.low.y}};
    };
    add(result, place, drawn.result);
    for (const Card& card : drawn.operands) add(card.step, card.place.value_or(place), card.area);
    const float width = area.width() / ui.fonts.scale;
    if (step_ != result.name || width_ != width) {
        const std::optional<KeptPlace> was = kept(ui, session.shown().run->plan(), result, area);
        const auto now = was ? places.find(was->first) : places.end();
        kept_ = now == places.end() ? std::nullopt : std::optional<KeptPlace>(*now);
    }
    step_ = result.name;
    width_ = width;
    drawn_ = std::move(places);
}

}  // namespace decoderscope::views::step

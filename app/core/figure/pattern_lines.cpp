#include "app/core/figure/pattern_lines.h"

#include "app/core/figure/figure_cells.h"
#include "app/core/text/numbers.h"
#include "app/core/text/text_layout.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <tuple>

namespace decoderscope::core {

namespace {

constexpr float kLeastWeight = 0.02F;
constexpr std::size_t kAlwaysDrawn = 400, kLinesOfToken = 4;

}  // namespace

FoundLines::FoundLines(Index queries, Index keys)
    : most_(std::max(kAlwaysDrawn, kLinesOfToken * static_cast<std::size_t>(std::max(queries, keys)))),
      least_seen_(std::numeric_limits<float>::infinity()) {}

void FoundLines::add(std::span<const float> weights) {
    const Index query = std::ssize(found_.broken);
    found_.broken.push_back(!weights.empty() && std::isnan(weights.front()));
    for (Index key = 0; key < std::ssize(weights); ++key) {
        const float weight = weights[static_cast<std::size_t>(key)];
        if (!(weight > 0.0F)) continue;
        found_.largest = std::max(found_.largest, weight);
        least_seen_ = std::min(least_seen_, weight);
        if (weight > found_.least) found_.lines.push_back({query, key, weight});
    }
    if (found_.lines.size() > 8 * most_) keep_largest();
}

// From then on none counts that isn't larger than so many.
void FoundLines::keep_largest() {
    if (found_.lines.size() <= most_) return;
    const auto last = found_.lines.begin() + static_cast<std::ptrdiff_t>(most_);
    std::ranges::nth_element(found_.lines, last, std::greater<>(), &PatternLines::Line::weight);
    found_.least = last->weight;
    std::erase_if(found_.lines, [&](const PatternLines::Line& line) { return line.weight <= found_.least; });
}

PatternLines FoundLines::found() const {
    FoundLines all = *this;
    PatternLines& made = all.found_;
    if (made.largest == 0.0F) return made;
    all.keep_largest();
    made.largest = std::min(made.largest, 1.0F);
    made.least = std::max(made.least, std::min(kLeastWeight, made.largest * 0.5F));
    made.leaves_out = least_seen_ <= made.least;
    std::erase_if(made.lines, [&](const PatternLines::Line& line) { return line.weight <= made.least; });
    std::ranges::sort(made.lines, {},
                      [](const PatternLines::Line& line) { return std::tuple(line.weight, line.query, line.key); });
    return made;
}

PatternLines pattern_lines(const Heatmap& pattern) {
    FoundLines found(pattern.rows, pattern.columns);
    for (Index row = 0; row < pattern.rows; ++row)
        found.add(
            std::span(pattern.values)
                .subspan(static_cast<std::size_t>(row * pattern.columns), static_cast<std::size_t>(pattern.columns)));
    return found.found();
}

namespace figure {

void draw_pattern(Canvas& canvas, const Heatmap& pattern, const FigureStyle& style, const Page& page, double top) {
    if (pattern.row_axis != axis::query || pattern.column_axis != axis::key || pattern.scale != Scale::sequential)
        throw Error("{tensor}: isn't an attention's weights, expected a tensor such as blocks.0.attn.pattern for lines",
                    {{"tensor", pattern.title}});
    constexpr double usual_room = 240, beside = 7;
    const double room = page.is_asked() ? page.room : usual_room;
    const AxisLabels queries = row_labels(pattern.row_labels, line_height),
                     keys = row_labels(pattern.column_labels, line_height);
    const auto height = [](Index tokens) { return line_height * static_cast<double>(tokens); };
    const auto name_width = [](const std::string& name) { return axis_name_size * text_width_em(name, true, false); };
    const double left = margin + std::max(queries.reach, name_width(pattern.row_axis)) + beside,
                 first = top + 12 + column_name_room(pattern.row_axis),
                 middle = first + std::max(height(pattern.rows), height(pattern.columns)) / 2;
    const auto y = [&](Index token, Index tokens) {
        return middle - height(tokens) / 2 + line_height * (static_cast<double>(token) + 0.5);
    };
    canvas.grow({left, first, room, 2 * (middle - first)});
    const PatternLines lines = pattern_lines(pattern);
    const Rgba color = meaning_color(Meaning::attention);
    for (const auto& [query, key, weight] : lines.lines) {
        const double share = std::min(1.0, static_cast<double>(weight / lines.largest));
        canvas.put(Polyline{{{left, y(query, pattern.rows)}, {left + room, y(key, pattern.columns)}},
                            0.5 + 2.5 * share,
                            {color.r, color.g, color.b, static_cast<std::uint8_t>(std::lround(40 + 215 * share))}});
    }
    const Inks& inks = canvas.inks();
    const auto label = [&](const std::string& text, double x, double at, Anchor anchor) {
        canvas.put(text_at(text, x, at + half_capital * label_size, {label_size, inks.text}, anchor));
    };
    for (std::size_t i = 0; i < queries.texts.size(); ++i)
        label(queries.texts[i], left - beside, y(static_cast<Index>(i) * queries.stride, pattern.rows), Anchor::end);
    for (std::size_t i = 0; i < keys.texts.size(); ++i)
        label(keys.texts[i], left + room + beside, y(static_cast<Index>(i) * keys.stride, pattern.columns),
              Anchor::start);
    const auto name = [&](const std::string& text, Meaning meaning, double x, Anchor anchor) {
        canvas.put(text_at(text, x, top + 18,
                           {axis_name_size, readable_on(meaning_color(meaning), inks.background), true}, anchor));
    };
    name(pattern.row_axis, Meaning::query, left - beside, Anchor::end);
    name(pattern.column_axis, Meaning::key, left + room + beside, Anchor::start);
    if (!style.bar) return;
    const std::string said = lines.leaves_out
                                 ? tr("Lines are weights above {least}; the largest is {largest}.",
                                      {{"least", short_number_text(static_cast<double>(lines.least), 3)},
                                       {"largest", short_number_text(static_cast<double>(lines.largest), 3)}})
                                 : tr("The largest weight is {largest}.",
                                      {{"largest", short_number_text(static_cast<double>(lines.largest), 3)}});
    canvas.paragraph(said, margin, canvas.bottom() + 20, canvas.text_width(std::max(320.0, canvas.right() - margin)),
                     {label_size, inks.quiet});
}

}  // namespace figure

}  // namespace decoderscope::core

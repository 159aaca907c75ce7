#include "app/core/figure/heatmap_image.h"

#include "engine/base/on_this_cpu.h"
#include "engine/base/parallel.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace decoderscope::core {

namespace {

std::size_t place(Index offset) { return static_cast<std::size_t>(offset); }

std::uint8_t causes_at(const Heatmap& heatmap, Index offset) {
    return heatmap.hidden.empty() ? hidden_by::nothing : heatmap.hidden[place(offset)];
}

Coloring coloring_of(const Heatmap& heatmap, ColorMap map, bool dark) {
    return {heatmap.range, heatmap.scale, map, dark};
}

Rgba color_at(const Heatmap& heatmap, Index offset, const Coloring& coloring, bool dark) {
    const float value = heatmap.values[place(offset)];
    const std::uint8_t causes = causes_at(heatmap, offset);
    if (hidden_by::masked(causes) && !std::isnan(value)) return hidden_color(causes, dark);
    return heatmap.has_vanished(place(offset)) ? coloring(Mark::vanished) : coloring(value);
}

// The cells [first, last) beneath one of `pixels` pixels that show `cells` cells.
struct Span {
    Index first = 0, last = 0;
};

Span beneath(Index pixel, Index pixels, Index cells) {
    if (pixels >= cells) {
        const Index cell = (2 * pixel + 1) * cells / (2 * pixels);
        return {cell, cell + 1};
    }
    return {pixel * cells / pixels, ((pixel + 1) * cells + pixels - 1) / pixels};
}

// The spans beneath each of this many pixels.
std::vector<Span> all_beneath(Index pixels, Index cells) {
    std::vector<Span> spans;
    spans.reserve(place(pixels));
    for (Index pixel = 0; pixel < pixels; ++pixel) spans.push_back(beneath(pixel, pixels, cells));
    return spans;
}

// Causes from weak to strong, with the bit's place as index.
constexpr std::array<Rgba, 8> hidden_on_light = {{{0xDC, 0xDD, 0xE0, 255},
                                                  {0xC3, 0xD5, 0xE3, 255},
                                                  {0xC9, 0xD3, 0xC0, 255},
                                                  {0xDC, 0xCF, 0xE3, 255},
                                                  {0xE8, 0xDA, 0xBF, 255},
                                                  {0xF0, 0xC6, 0xCC, 255},
                                                  {0xE4, 0xE4, 0xE4, 255},
                                                  {0xE6, 0xE0, 0xD8, 255}}};
constexpr std::array<Rgba, 8> hidden_on_dark = {{{0x3A, 0x3B, 0x40, 255},
                                                 {0x34, 0x4B, 0x5C, 255},
                                                 {0x46, 0x50, 0x3C, 255},
                                                 {0x54, 0x43, 0x5E, 255},
                                                 {0x5E, 0x50, 0x34, 255},
                                                 {0x6E, 0x3E, 0x48, 255},
                                                 {0x70, 0x70, 0x70, 255},
                                                 {0x48, 0x44, 0x3E, 255}}};
constexpr std::array<Phrase, 6> cause_names = {message("causal"), message("window"),   message("padding"),
                                               message("custom"), message("document"), message("manual")};
constexpr std::array<Hatch, 8> cause_hatches = {Hatch::forward, Hatch::level, Hatch::backward, Hatch::dots,
                                                Hatch::grid,    Hatch::cross, Hatch::upright,  Hatch::upright};

std::size_t strongest_cause(std::uint8_t causes) {
    return static_cast<std::size_t>(std::max(static_cast<int>(std::bit_width(causes)), 1) - 1);
}

std::uint8_t blended(std::uint8_t color, std::uint8_t ink, double part) {
    return static_cast<std::uint8_t>(std::lround(color + part * (ink - color)));
}

// The masked run of one row that starts at a column and ends where the causes change.
Index run_length(const Heatmap& heatmap, Index row, Index column) {
    const std::uint8_t causes = causes_at(heatmap, row * heatmap.columns + column);
    Index last = column + 1;
    while (last < heatmap.columns && causes_at(heatmap, row * heatmap.columns + last) == causes) ++last;
    return last - column;
}

// Extends the block of the row above by a run of the same columns and causes. Returns false if there is no such block.
bool joined_above(std::vector<HiddenBlock>& blocks, std::vector<std::size_t>& block_of_column, const HiddenBlock& run) {
    const std::size_t above = block_of_column[place(run.cells.column)];
    if (above >= blocks.size()) return false;
    HiddenBlock& block = blocks[above];
    const bool fits = block.causes == run.causes && block.cells.column == run.cells.column &&
                      block.cells.columns == run.cells.columns && block.cells.row + block.cells.rows == run.cells.row;
    if (fits) ++block.cells.rows;
    return fits;
}

// If several cells share a pixel, the one of the largest magnitude is shown. Each cell is turned into one number, its
// priority, so that a picture of millions of cells takes one comparison per cell: the bits of the magnitude, which grow
// with it up to ∞ and NaN, then the sign bit; minus 2^31, because signed numbers are compared in fewer instructions. A
// hidden cell other than NaN has the lowest one.
using Priority = std::int32_t;
constexpr Priority kHiddenPriority = std::numeric_limits<Priority>::min();
constexpr std::uint32_t kTop = 0x80000000U;
constexpr Priority kInfinitePriority = static_cast<Priority>(0xff000001U ^ kTop);

inline Priority priority_of(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return std::max(static_cast<Priority>((bits << 1U | bits >> 31U) ^ kTop), kHiddenPriority + 1);
}

void raise(Priority* keys, const float* values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) keys[i] = std::max(keys[i], priority_of(values[i]));
}

void raise_where_shown(Priority* keys, const float* values, const std::uint8_t* hidden, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        const Priority key = priority_of(values[i]);
        const bool shows = !hidden_by::masked(hidden[i]) || key > kInfinitePriority;
        keys[i] = std::max(keys[i], shows ? key : kHiddenPriority);
    }
}

void raise_where_kept(Priority* keys, const float* values, const float* kept, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        const Priority key = priority_of(values[i]);
        keys[i] = std::max(keys[i], kept[i] != 0.0F || key > kInfinitePriority ? key : kHiddenPriority);
    }
}

// The value of a priority other than kHiddenPriority.
float value_of(Priority key) {
    const std::uint32_t bits = static_cast<std::uint32_t>(key) ^ kTop;
    return std::bit_cast<float>(bits >> 1U | bits << 31U);
}

// Raises the priorities of a row of pixels, one pixel per cell, to those of the cells from `offset` on.
void raise_priorities(std::span<Priority> keys, const Heatmap& heatmap, Index offset) {
    const float* values = heatmap.values.data() + offset;
    if (heatmap.hidden.empty())
        on_this_cpu<raise>(keys.data(), values, keys.size());
    else
        on_this_cpu<raise_where_shown>(keys.data(), values, heatmap.hidden.data() + offset, keys.size());
}

}  // namespace

void Strongest::add(Index first, std::span<const float> values, std::span<const float> kept) {
    Priority* const keys = keys_.data() + first;
    if (kept.empty())
        on_this_cpu<raise>(keys, values.data(), values.size());
    else
        on_this_cpu<raise_where_kept>(keys, values.data(), kept.data(), values.size());
}

std::optional<float> Strongest::among(Index first, Index end) const {
    const Priority key = *std::max_element(keys_.begin() + first, keys_.begin() + end);
    return key == kHiddenPriority ? std::nullopt : std::optional(value_of(key));
}

void Strongest::forget() { std::ranges::fill(keys_, kHiddenPriority); }

Rgba cell_color(const Heatmap& heatmap, Index row, Index column, ColorMap map, bool dark) {
    return color_at(heatmap, row * heatmap.columns + column, coloring_of(heatmap, map, dark), dark);
}

MarksIn marks_in(const Heatmap& heatmap) {
    std::array<bool, static_cast<std::size_t>(Mark::vanished) + 1> occurs{};
    const bool masks = !heatmap.hidden.empty();
    for (std::size_t i = 0; i < heatmap.values.size(); ++i) {
        const float value = heatmap.values[i];
        const Mark mark =
            value >= heatmap.range.low && value <= heatmap.range.high ? Mark::none : mark_of(value, heatmap.range);
        if (mark == Mark::nan || !masks || !hidden_by::masked(heatmap.hidden[i]))
            occurs[static_cast<std::size_t>(mark)] = true;
    }
    occurs[static_cast<std::size_t>(Mark::vanished)] = !heatmap.vanished.empty();
    MarksIn found;
    for (const Mark mark :
         {Mark::nan, Mark::positive_infinity, Mark::negative_infinity, Mark::above, Mark::below, Mark::vanished})
        if (occurs[static_cast<std::size_t>(mark)]) found.marks.push_back(mark);
    found.has_scale =
        occurs[static_cast<std::size_t>(Mark::none)] || found.marks.empty() || found.marks.front() != Mark::nan;
    return found;
}

std::vector<Rgba> cell_colors(const Heatmap& heatmap, ColorMap map, bool dark) {
    const Coloring coloring = coloring_of(heatmap, map, dark);
    std::vector<Rgba> colors(heatmap.values.size());
    for (std::size_t i = 0; i < colors.size(); ++i)
        colors[i] = color_at(heatmap, static_cast<Index>(i), coloring, dark);
    return colors;
}

std::vector<Rgba> reduced_colors(const Heatmap& heatmap, const CellRect& seen, Index height, Index width, ColorMap map,
                                 bool dark) {
    std::vector<Rgba> colors(place(height * width));
    const Coloring coloring = coloring_of(heatmap, map, dark);
    const std::vector<Span> columns = all_beneath(width, seen.columns);
    const Index rows_beneath = seen.rows / std::max<Index>(1, height) + 1;
    in_parallel(height, rows_beneath * seen.columns, [&](Index begin, Index end) {
        std::vector<Priority> keys(place(seen.columns));
        for (Index y = begin; y < end; ++y) {
            const Span rows = beneath(y, height, seen.rows);
            std::ranges::fill(keys, kHiddenPriority);
            for (Index row = rows.first; row < rows.last; ++row)
                raise_priorities(keys, heatmap, (seen.row + row) * heatmap.columns + seen.column);
            Rgba* color = colors.data() + y * width;
            for (const Span& span : columns) {
                Priority key = kHiddenPriority;
                for (Index column = span.first; column < span.last; ++column) key = std::max(key, keys[place(column)]);
                const Index first = (seen.row + rows.first) * heatmap.columns + seen.column + span.first;
                const auto any_vanished = [&] {
                    for (Index row = rows.first; row < rows.last; ++row)
                        for (Index column = span.first; column < span.last; ++column)
                            if (heatmap.has_vanished(place((seen.row + row) * heatmap.columns + seen.column + column)))
                                return true;
                    return false;
                };
                if (key == kHiddenPriority)
                    *color++ = hidden_color(causes_at(heatmap, first), dark);
                else if (value_of(key) == 0.0F && !heatmap.vanished.empty() && any_vanished())
                    *color++ = coloring(Mark::vanished);
                else
                    *color++ = coloring(value_of(key));
            }
        }
    });
    return colors;
}

Rgba hidden_color(std::uint8_t causes, bool dark) {
    return (dark ? hidden_on_dark : hidden_on_light)[strongest_cause(causes)];
}

Rgba hatch_color(std::uint8_t causes, bool dark) {
    const Rgba color = hidden_color(causes, dark);
    const std::uint8_t ink = dark ? 255 : 0;
    const double part = dark ? 0.30 : 0.33;
    return {blended(color.r, ink, part), blended(color.g, ink, part), blended(color.b, ink, part), 255};
}

Hatch hatch_of(std::uint8_t causes) {
    if (causes == hidden_by::nothing) return Hatch::none;
    const auto others = static_cast<std::uint8_t>(causes & ~(1U << strongest_cause(causes)));
    if (others == hidden_by::nothing) return cause_hatches[strongest_cause(causes)];
    const bool causal = (causes & hidden_by::causal) != 0;
    const bool padding = (causes & hidden_by::padding) != 0;
    return causal && padding ? Hatch::cross : cause_hatches[strongest_cause(others)];
}

Sentence hidden_sentence(std::uint8_t causes) {
    if (causes == hidden_by::hand) return message("masked manually");
    if (causes == hidden_by::no_key) return message("no key: the sink");
    if (causes == hidden_by::fill) return message("filled in the recording");
    Sentence all;
    for (std::size_t i = 0; i < cause_names.size(); ++i)
        if ((causes >> i & 1U) != 0)
            all = all.empty() ? Sentence(cause_names[i])
                              : message("{mask} + {another}", {{"mask", all}, {"another", Sentence(cause_names[i])}});
    return message("{causes} mask", {{"causes", all}});
}

std::string hidden_text(std::uint8_t causes) { return tr(hidden_sentence(causes)); }

std::vector<HiddenBlock> hidden_blocks(const Heatmap& heatmap) {
    std::vector<HiddenBlock> blocks;
    if (heatmap.hidden.empty()) return blocks;
    constexpr std::size_t no_block = static_cast<std::size_t>(-1);
    std::vector<std::size_t> block_of_column(place(heatmap.columns), no_block);
    for (Index row = 0; row < heatmap.rows; ++row) {
        for (Index column = 0; column < heatmap.columns;) {
            const Index length = run_length(heatmap, row, column);
            const HiddenBlock run{{row, column, 1, length}, causes_at(heatmap, row * heatmap.columns + column)};
            if (run.causes != hidden_by::nothing && !joined_above(blocks, block_of_column, run)) {
                block_of_column[place(column)] = blocks.size();
                blocks.push_back(run);
            }
            column += length;
        }
    }
    return blocks;
}

}  // namespace decoderscope::core

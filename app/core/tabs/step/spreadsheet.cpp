#include "app/core/tabs/step/spreadsheet.h"

#include "app/core/tabs/step/explanation_text.h"
#include "app/core/tabs/step/shown_step.h"
#include "app/core/tabs/step/tiles.h"
#include "app/core/text/characters.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace decoderscope::core::step {

namespace {

constexpr std::size_t kLongestExact = 15;  // "−1.1754944e-38"
constexpr std::size_t kLongestHead = 16;
constexpr Index kFewEnoughToMeasure = 50'000;

template <class ValueAt>
std::vector<Index> sorted(Index count, const SheetSort& sort, ValueAt value_at) {
    std::vector<Index> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), Index{0});
    if (!sort.by) return order;
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
        const float x = value_at(a), y = value_at(b);
        if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
        return sort.smallest_first ? x < y : x > y;
    });
    return order;
}

std::size_t longest_number(const Heatmap& heatmap) {
    if (heatmap.rows * heatmap.columns > kFewEnoughToMeasure) return kLongestExact;
    std::size_t longest = 0;
    for (const float value : heatmap.values) longest = std::max(longest, characters(exact_number(value)).size());
    return longest;
}

std::size_t longest_head(const Heatmap& heatmap) {
    std::size_t longest = 0;
    for (Index row = 0; row < heatmap.rows && longest < kLongestHead; ++row)
        longest = std::max(longest, characters(sheet_head(heatmap.row_labels, row)).size());
    return std::min(longest, kLongestHead);
}

// As spreadsheets read it: a plain minus, and no tab or line break.
std::string plain(std::string text) {
    for (const auto& [sign, written] : {std::pair{std::string("−"), "-"}, {std::string("∞"), "inf"}})
        for (std::size_t at = text.find(sign); at != std::string::npos; at = text.find(sign, at))
            text.replace(at, sign.size(), written);
    std::ranges::replace_if(
        text, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
    return text;
}

}  // namespace

SheetSort SheetSort::clicked(Index head) const {
    if (by != head) return {head, false};
    return smallest_first ? SheetSort{} : SheetSort{head, true};
}

std::vector<Index> sorted_rows(const Heatmap& heatmap, const SheetSort& sort) {
    const SheetSort valid = sort.by < heatmap.columns ? sort : SheetSort{};
    return sorted(heatmap.rows, valid, [&](Index row) { return heatmap.at(row, *valid.by); });
}

std::vector<Index> sorted_columns(const Heatmap& heatmap, const SheetSort& sort) {
    const SheetSort valid = sort.by < heatmap.rows ? sort : SheetSort{};
    return sorted(heatmap.columns, valid, [&](Index column) { return heatmap.at(*valid.by, column); });
}

Value<SheetOrder> shown_order(Derived& derived, const Snapshot& shown, const Step& step, Place place,
                              const SheetSort& rows, const SheetSort& columns) {
    return derived.get<SheetOrder>(
        Origins{shown.run, shown.unedited, shown.early}, std::tie(step.id, place, rows, columns), [&] {
            const Value<ShownHeatmap> table = rows.by || columns.by ? shown_heatmap(derived, shown, step, place)
                                                                    : shown_card(derived, shown, step, place);
            return SheetOrder{sorted_rows(table->heatmap, rows), sorted_columns(table->heatmap, columns),
                              longest_number(table->heatmap), longest_head(table->heatmap)};
        });
}

std::string tab_separated(const Heatmap& heatmap, const SheetOrder& order, const CellRect& block, bool heads) {
    std::string text;
    const auto column_at = [&](Index i) { return order.columns[static_cast<std::size_t>(block.column + i)]; };
    if (heads) {
        for (Index i = 0; i < block.columns; ++i) text += "\t" + plain(sheet_head(heatmap.column_labels, column_at(i)));
        text += '\n';
    }
    for (Index i = 0; i < block.rows; ++i) {
        const Index row = order.rows[static_cast<std::size_t>(block.row + i)];
        if (heads) text += plain(sheet_head(heatmap.row_labels, row)) + "\t";
        for (Index j = 0; j < block.columns; ++j)
            text += (j > 0 ? "\t" : "") + plain(exact_number(heatmap.at(row, column_at(j))));
        text += '\n';
    }
    return text;
}

std::string sheet_head(std::span<const std::string> labels, Index at) {
    const std::string index = std::to_string(at);
    const std::string& label = labels[static_cast<std::size_t>(at)];
    return label.empty() || label == index ? index : index + " " + label;
}

}  // namespace decoderscope::core::step

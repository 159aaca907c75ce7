#include "app/core/figure/crop.h"

#include "engine/base/bounds.h"
#include "engine/base/error.h"
#include "engine/base/message.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace decoderscope::core {

namespace {

constexpr Index kEnd = std::numeric_limits<Index>::max();  // however many there are

[[noreturn]] void refuse(std::string_view text) {
    throw Error("“{text}”: expected rows and columns to keep, such as 0:8,0:8 or 2:,:", {{"text", text}});
}

// "2:9", "2:", ":9"; nothing for ":".
std::optional<Extent> extent_from(std::string_view text, std::string_view whole) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) refuse(whole);
    const auto number = [&](std::string_view digits, Index otherwise) {
        if (digits.empty()) return otherwise;
        const std::optional<Index> read = number_within<Index>(digits, {0, kEnd - 1});
        if (!read) refuse(whole);
        return *read;
    };
    const Extent extent{number(text.substr(0, colon), 0), number(text.substr(colon + 1), kEnd)};
    if (extent.first >= extent.end) refuse(whole);
    return extent == Extent{0, kEnd} ? std::nullopt : std::optional(extent);
}

std::string text_of(Extent extent) {
    return std::to_string(extent.first) + ":" + (extent.end == kEnd ? "" : std::to_string(extent.end));
}

// The rows or columns that are kept of `count`.
std::vector<Index> kept(const Panel& panel, const std::optional<Extent>& extent, Index count,
                        const std::vector<std::uint8_t>& special, bool with_special, Phrase what) {
    const Extent from = extent.value_or(Extent{0, count});
    const Index end = from.end == kEnd ? count : from.end;
    if (end > count || from.first >= end)
        throw Error("{tensor}: has {count} {what}, expected a part of 0:{count}, not {extent}",
                    {{"tensor", panel.tensor}, {"count", count}, {"what", what}, {"extent", text_of(from)}});
    std::vector<Index> numbers;
    for (Index i = from.first; i < end; ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (with_special || at >= special.size() || special[at] == 0) numbers.push_back(i);
    }
    if (numbers.empty())
        throw Error("{tensor}: all of these {what} are special tokens, and none would be left",
                    {{"tensor", panel.tensor}, {"what", what}});
    return numbers;
}

// "1:5", "0:2 4:5".
std::string runs_of(const std::vector<Index>& numbers) {
    std::string text;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t end = i + 1;
        while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
        text += (text.empty() ? "" : " ") + text_of({numbers[i], numbers[end - 1] + 1});
        i = end;
    }
    return text;
}

struct Kept {
    std::vector<Index> rows, columns;
};

// The numbers of all kept cells in row order.
template <class T>
std::vector<T> cells(const std::vector<T>& whole, Index columns, const Kept& kept) {
    std::vector<T> part;
    if (whole.empty()) return part;
    for (const Index row : kept.rows)
        for (const Index column : kept.columns) part.push_back(whole[static_cast<std::size_t>(row * columns + column)]);
    return part;
}

std::vector<std::string> labels(const std::vector<std::string>& whole, const std::vector<Index>& numbers) {
    std::vector<std::string> part;
    for (const Index number : numbers) part.push_back(whole[static_cast<std::size_t>(number)]);
    return part;
}

Heatmap part_of(const Heatmap& whole, const Kept& kept, const std::string& part, bool own_range) {
    Heatmap heatmap = whole;
    heatmap.subtitle += (heatmap.subtitle.empty() ? "" : ", ") + part;
    heatmap.rows = static_cast<Index>(kept.rows.size());
    heatmap.columns = static_cast<Index>(kept.columns.size());
    heatmap.row_labels = labels(whole.row_labels, kept.rows);
    heatmap.column_labels = labels(whole.column_labels, kept.columns);
    heatmap.values = cells(whole.values, whole.columns, kept);
    heatmap.hidden = cells(whole.hidden, whole.columns, kept);
    heatmap.vanished = cells(whole.vanished, whole.columns, kept);
    heatmap.texts = cells(whole.texts, whole.columns, kept);
    heatmap.has_sink = whole.has_sink && kept.columns.back() == whole.columns - 1;
    heatmap.kept_rows = kept.rows;
    heatmap.kept_columns = kept.columns;
    heatmap.notes.clear();
    const auto place = [](const std::vector<Index>& numbers, Index number) {
        return std::ranges::find(numbers, number) - numbers.begin();
    };
    for (const NotedCell& note : whole.notes) {
        const Index row = place(kept.rows, note.row), column = note.column ? place(kept.columns, *note.column) : 0;
        if (row == heatmap.rows || column == heatmap.columns) continue;
        heatmap.notes.push_back({row, note.column ? std::optional(column) : std::nullopt, note.text});
    }
    if (own_range) heatmap.range = range_of_seen(heatmap);
    return heatmap;
}

}  // namespace

Crop crop_from(std::string_view text) {
    const std::size_t comma = text.find(',');
    if (comma == std::string_view::npos) refuse(text);
    return {.rows = extent_from(text.substr(0, comma), text), .columns = extent_from(text.substr(comma + 1), text)};
}

std::string text_of(const Crop& crop) {
    return (crop.rows ? text_of(*crop.rows) : ":") + "," + (crop.columns ? text_of(*crop.columns) : ":");
}

// Small pictures that share one legend share one range, whatever is kept of them.
Exhibit cropped(Exhibit exhibit, const Crop& crop) {
    if (crop.keeps_all()) return exhibit;
    const bool own_range = !exhibit.alike || exhibit.own_ranges;
    for (Panel& panel : exhibit.panels) {
        Kept kept{
            core::kept(panel, crop.rows, panel.rows, panel.special_rows, crop.special, message("rows")),
            core::kept(panel, crop.columns, panel.columns, panel.special_columns, crop.special, message("columns"))};
        if (std::ssize(kept.rows) == panel.rows && std::ssize(kept.columns) == panel.columns) continue;
        panel.part = "rows " + runs_of(kept.rows) + ", columns " + runs_of(kept.columns) + " of " +
                     std::to_string(panel.rows) + " × " + std::to_string(panel.columns);
        panel.has_sink = panel.has_sink && kept.columns.back() == panel.columns - 1;
        panel.rows = std::ssize(kept.rows);
        panel.columns = std::ssize(kept.columns);
        panel.change = {};  // it is known of the whole picture only
        panel.special_rows.clear();
        panel.special_columns.clear();
        panel.heatmap = [whole = std::move(panel.heatmap), kept = std::move(kept), part = panel.part, own_range] {
            return part_of(whole(), kept, part, own_range);
        };
    }
    return exhibit;
}

}  // namespace decoderscope::core

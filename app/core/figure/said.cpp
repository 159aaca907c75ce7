#include "app/core/figure/said.h"

#include "app/core/figure/heatmap_image.h"
#include "app/core/text/numbers.h"
#include "app/core/text/places.h"
#include "app/core/text/text_layout.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>

namespace decoderscope::core {
namespace {

// Sentences that tell of more parts would be lists.
constexpr std::size_t kMostParts = 6;

std::string told_number(double value) { return short_number_text(value, 4); }
std::string percent(double share) { return short_number_text(100 * share, 3); }

struct Spot {
    Index row = 0, column = 0;
    float value = 0.0F;
};

// What is counted over the cells of a heatmap. Masked cells count as hidden alone.
struct Counted {
    std::optional<Spot> largest, smallest;  // of the finite numbers, the first of equals
    Index nan = 0, infinite = 0, vanished = 0;
    std::map<std::uint8_t, Index> hidden;                // by causes
    std::vector<double> row_sums, squares, column_sums;  // [row], [row], [column]
    std::vector<bool> seen;                              // [row]: has a cell that isn't masked
};

void count_number(Counted& counted, const Spot& at) {
    if (std::isnan(at.value)) ++counted.nan;
    if (std::isinf(at.value)) ++counted.infinite;
    if (!std::isfinite(at.value)) return;
    if (!counted.largest || at.value > counted.largest->value) counted.largest = at;
    if (!counted.smallest || at.value < counted.smallest->value) counted.smallest = at;
    const auto row = static_cast<std::size_t>(at.row);
    counted.row_sums[row] += static_cast<double>(at.value);
    counted.squares[row] += static_cast<double>(at.value) * static_cast<double>(at.value);
    counted.column_sums[static_cast<std::size_t>(at.column)] += static_cast<double>(at.value);
}

Counted counted_of(const Heatmap& heatmap) {
    Counted counted;
    const auto rows = static_cast<std::size_t>(heatmap.rows);
    counted.row_sums.resize(rows);
    counted.squares.resize(rows);
    counted.seen.resize(rows);
    counted.column_sums.resize(static_cast<std::size_t>(heatmap.columns));
    for (Index row = 0; row < heatmap.rows; ++row)
        for (Index column = 0; column < heatmap.columns; ++column) {
            const auto at = static_cast<std::size_t>(row * heatmap.columns + column);
            const std::uint8_t causes = heatmap.hidden.empty() ? hidden_by::nothing : heatmap.hidden[at];
            if (hidden_by::masked(causes)) {
                ++counted.hidden[causes];
                continue;
            }
            counted.seen[static_cast<std::size_t>(row)] = true;
            count_number(counted, {row, column, heatmap.values[at]});
            if (heatmap.has_vanished(at)) ++counted.vanished;
        }
    return counted;
}

// Whether each row shares out 1: weights or probabilities.
bool are_distributions(const Heatmap& heatmap, const Counted& counted) {
    if (heatmap.scale != Scale::sequential || heatmap.columns < 2 || counted.nan + counted.infinite > 0) return false;
    if (!counted.smallest || counted.smallest->value < 0.0F) return false;
    for (std::size_t row = 0; row < counted.seen.size(); ++row)
        if (counted.seen[row] && std::fabs(counted.row_sums[row] - 1.0) > 1e-3) return false;
    return true;
}

Sentence row_of(const Heatmap& heatmap, Index row) {
    return place_sentence(heatmap.row_axis, row, heatmap.row_labels[static_cast<std::size_t>(row)]);
}
Sentence column_of(const Heatmap& heatmap, Index column) {
    if (column >= heatmap.own_columns()) return hidden_sentence(hidden_by::no_key);
    return place_sentence(heatmap.column_axis, column, heatmap.column_labels[static_cast<std::size_t>(column)]);
}
// Without its row if there is only one, which has no name.
Sentence place_of(const Heatmap& heatmap, Index row, Index column) {
    if (heatmap.rows == 1 && heatmap.row_axis.empty()) return column_of(heatmap, column);
    return message("{row}, {column}", {{"row", row_of(heatmap, row)}, {"column", column_of(heatmap, column)}});
}

Index largest_in(std::span<const double> values) { return std::ranges::max_element(values) - values.begin(); }

Sentence extremes_of(const Heatmap& heatmap, const Counted& counted) {
    if (!counted.largest) return message("It has no finite number that isn't masked.");
    const Spot &largest = *counted.largest, &smallest = *counted.smallest;
    if (largest.value == smallest.value)
        return message("All numbers that aren't masked are {value}.", {{"value", told_number(largest.value)}});
    if (are_distributions(heatmap, counted)) {
        const Index most = largest_in(counted.column_sums);
        const auto rows = std::ranges::count(counted.seen, true);
        const double share = counted.column_sums[static_cast<std::size_t>(most)] / static_cast<double>(rows);
        return message(
            "The largest weight is {value}, at {place}; on average {share} % of a row's weight is at {column}, more "
            "than at any other.",
            {{"value", told_number(largest.value)},
             {"place", place_of(heatmap, largest.row, largest.column)},
             {"share", percent(share)},
             {"column", column_of(heatmap, most)}});
    }
    const Sentence ends = message("The largest number is {largest}, at {place}; the smallest is {smallest}, at {other}",
                                  {{"largest", told_number(largest.value)},
                                   {"place", place_of(heatmap, largest.row, largest.column)},
                                   {"smallest", told_number(smallest.value)},
                                   {"other", place_of(heatmap, smallest.row, smallest.column)}});
    double all = 0;
    for (const double squares : counted.squares) all += squares;
    if (heatmap.rows < 2 || all == 0) return message("{what}.", {{"what", ends}});
    const Index most = largest_in(counted.squares);
    return message("{what}; {share} % of the sum of squares is in {row}.",
                   {{"what", ends},
                    {"share", percent(counted.squares[static_cast<std::size_t>(most)] / all)},
                    {"row", row_of(heatmap, most)}});
}

Sentence with_odd_numbers(const Sentence& told, const Counted& counted) {
    Sentence all = told;
    if (counted.nan > 0)
        all = message("{told} {nan}", {{"told", all},
                                       {"nan", message_n("{count} number is NaN.", "{count} numbers are NaN.",
                                                         counted.nan, {{"count", grouped(counted.nan)}})}});
    if (counted.infinite > 0)
        all = message("{told} {infinite}",
                      {{"told", all},
                       {"infinite", message_n("{count} number is infinite.", "{count} numbers are infinite.",
                                              counted.infinite, {{"count", grouped(counted.infinite)}})}});
    if (counted.vanished > 0)
        all = message("{told} {vanished}",
                      {{"told", all},
                       {"vanished", message_n("{count} number was rounded to 0.", "{count} numbers were rounded to 0.",
                                              counted.vanished, {{"count", grouped(counted.vanished)}})}});
    return all;
}

Sentence size_of(const Heatmap& heatmap) {
    const std::string rows = grouped(heatmap.rows), columns = grouped(heatmap.columns);
    if (heatmap.rows == 1 && heatmap.row_axis.empty())
        return message("one row of {columns} numbers along {axis}",
                       {{"columns", columns}, {"axis", axis_sentence(heatmap.column_axis)}});
    if (heatmap.row_axis.empty() || heatmap.column_axis.empty())
        return message("{rows} × {columns} numbers", {{"rows", rows}, {"columns", columns}});
    return message("{rows} × {columns} numbers, {row} by {column}", {{"rows", rows},
                                                                     {"columns", columns},
                                                                     {"row", axis_sentence(heatmap.row_axis)},
                                                                     {"column", axis_sentence(heatmap.column_axis)}});
}

Sentence listed(const std::vector<Sentence>& items) {
    Sentence list;
    for (std::size_t i = 0; i < std::min(items.size(), kMostParts); ++i)
        list = list.empty() ? items[i] : message("{list}; {item}", {{"list", list}, {"item", items[i]}});
    if (items.size() > kMostParts)
        list = message_n("{list}; and {count} more", "{list}; and {count} more", items.size() - kMostParts,
                         {{"list", list}});
    return list;
}

Sentence hidden_of(const Counted& counted) {
    std::vector<Sentence> kinds;
    for (const auto& [causes, count] : counted.hidden)
        kinds.push_back(message("{count} ({mask})", {{"mask", hidden_sentence(causes)}, {"count", grouped(count)}}));
    return listed(kinds);
}

Sentence named(const std::string& title, const std::string& subtitle) {
    if (subtitle.empty()) return Sentence::verbatim(title);
    return message("{tensor}, {place}", {{"tensor", title}, {"place", subtitle}});
}

Sentence what_is_shown(const Heatmap& heatmap, const Counted& counted) {
    const Sentence shown =
        message("{name}: {size}", {{"name", named(heatmap.title, heatmap.subtitle)}, {"size", size_of(heatmap)}});
    if (counted.hidden.empty()) return message("{what}.", {{"what", shown}});
    return message("{what}; masked: {masks}.", {{"what", shown}, {"masks", hidden_of(counted)}});
}

// "head 2: from −0.3 to 0.98"
Sentence range_of_part(const std::string& name, const Counted& counted) {
    if (!counted.largest) return message("{name}: no finite number", {{"name", name}});
    return message("{name}: from {smallest} to {largest}", {{"name", name},
                                                            {"smallest", told_number(counted.smallest->value)},
                                                            {"largest", told_number(counted.largest->value)}});
}

// ---- charts

struct CurvePoint {
    const ChartCurve* curve = nullptr;
    const DepthPoint* point = nullptr;
};

Sentence place_of(const CurvePoint& at) {
    const std::string name = at.curve->run.empty() || at.curve->run == at.curve->curve.name
                                 ? at.curve->curve.name
                                 : at.curve->run + ", " + at.curve->curve.name;
    if (name.empty()) return Sentence::verbatim(at.point->step);
    return message("{curve} at {place}", {{"curve", name}, {"place", at.point->step}});
}

Sentence extremes_of(const Chart& chart) {
    CurvePoint most, least;
    for (const ChartCurve& curve : chart.curves)
        for (const DepthPoint& point : curve.curve.points) {
            if (!std::isfinite(point.value)) continue;
            if (most.point == nullptr || point.value > most.point->value) most = {&curve, &point};
            if (least.point == nullptr || point.value < least.point->value) least = {&curve, &point};
        }
    if (most.point == nullptr) return message("{name}: no finite number", {{"name", chart.title}});
    return message("{name}: the highest is {largest}, {place}; the lowest is {smallest}, {other}",
                   {{"name", chart.title},
                    {"largest", told_number(most.point->value)},
                    {"place", place_of(most)},
                    {"smallest", told_number(least.point->value)},
                    {"other", place_of(least)}});
}

Sentence what_is_shown(const Chart& chart) {
    return message_n("{name}, {measure}: {count} curve", "{name}, {measure}: {count} curves", chart.curves.size(),
                     {{"name", chart.title}, {"measure", chart.caption}});
}

std::string joined(const std::vector<std::string>& texts) {
    std::string all;
    for (const std::string& text : texts) {
        if (!all.empty()) all += between_lines(all, text);
        all += text;
    }
    return all;
}

}  // namespace

Said::Said(const Exhibit& exhibit) : exhibit_(exhibit) {}

void Said::add(const Panel& panel, const Heatmap& heatmap) {
    const Counted counted = counted_of(heatmap);
    const std::string name = panel.label.empty() ? panel.tensor : panel.label;
    Part part{.what = what_is_shown(heatmap, counted),
              .detail = with_odd_numbers(extremes_of(heatmap, counted), counted),
              .in_short = range_of_part(name, counted),
              .where = {}};
    if (counted.largest) {
        part.finite = true;
        part.largest = counted.largest->value;
        part.where =
            message("{picture}, {place}",
                    {{"picture", name}, {"place", place_of(heatmap, counted.largest->row, counted.largest->column)}});
    }
    parts_.push_back(std::move(part));
    cells_ += heatmap.rows * heatmap.columns;
    if (!panel.change) return;
    change_known_ = true;
    const PictureChange change = panel.change(heatmap);
    changed_ += change.cells;
    const double by = std::fabs(static_cast<double>(change.after) - static_cast<double>(change.before));
    if (change.cells == 0 || (by <= change_ && !std::isnan(by))) return;
    change_ = std::isnan(by) ? HUGE_VAL : by;
    const Sentence place = place_of(heatmap, change.row, change.column);
    largest_change_ = message(
        "most at {place}: from {before} to {after}",
        {{"place",
          exhibit_.panels.size() == 1 ? place : message("{picture}, {place}", {{"picture", name}, {"place", place}})},
         {"before", told_number(change.before)},
         {"after", told_number(change.after)}});
}

Sentence Said::what() const {
    if (parts_.size() == 1 && exhibit_.charts.empty()) return parts_.front().what;
    const Sentence title = named(exhibit_.title, exhibit_.subtitle);
    std::vector<Sentence> items;
    if (exhibit_.alike && !exhibit_.panels.empty())
        items.push_back(message_n(
            "{count} picture of {rows} × {columns} numbers", "{count} pictures of {rows} × {columns} numbers",
            parts_.size(),
            {{"rows", grouped(exhibit_.panels.front().rows)}, {"columns", grouped(exhibit_.panels.front().columns)}}));
    else
        for (const Panel& panel : exhibit_.panels)
            items.push_back(
                message("{name}, {rows} × {columns}", {{"name", panel.label.empty() ? panel.tensor : panel.label},
                                                       {"rows", grouped(panel.rows)},
                                                       {"columns", grouped(panel.columns)}}));
    for (const Chart& chart : exhibit_.charts) items.push_back(what_is_shown(chart));
    if (items.empty()) return message("{what}.", {{"what", title}});
    if (title.english().empty()) return message("{what}.", {{"what", listed(items)}});
    return message("{name}: {parts}.", {{"name", title}, {"parts", listed(items)}});
}

Sentence Said::extremes() const {
    if (parts_.size() == 1 && exhibit_.charts.empty()) return parts_.front().detail;
    if (exhibit_.alike && !parts_.empty()) {
        const Part* most = nullptr;
        const Part* least = nullptr;  // whose own largest is the smallest: the most even of patterns
        for (const Part& part : parts_) {
            if (!part.finite) continue;
            if (most == nullptr || part.largest > most->largest) most = &part;
            if (least == nullptr || part.largest < least->largest) least = &part;
        }
        if (most == nullptr) return message("It has no finite number that isn't masked.");
        return message(
            "The largest number is {largest}, at {place}; of the largest numbers of each the smallest is {least}, at "
            "{other}.",
            {{"largest", told_number(most->largest)},
             {"place", most->where},
             {"least", told_number(least->largest)},
             {"other", least->where}});
    }
    std::vector<Sentence> items;
    for (const Part& part : parts_) items.push_back(part.in_short);
    for (const Chart& chart : exhibit_.charts) items.push_back(extremes_of(chart));
    if (items.empty()) return {};
    return message("{what}.", {{"what", listed(items)}});
}

Sentence Said::changes() const {
    if (!change_known_) return exhibit_.caption.empty() ? Sentence() : message("{what}.", {{"what", exhibit_.caption}});
    if (changed_ == 0) return message("The edits change none of these {count} numbers.", {{"count", grouped(cells_)}});
    return message("The edits change {count} of these {all} numbers, {most}.",
                   {{"count", grouped(changed_)}, {"all", grouped(cells_)}, {"most", largest_change_}});
}

std::vector<Sentence> Said::sentences() const {
    std::vector<Sentence> all;
    for (Sentence sentence : {what(), extremes(), changes()})
        if (!sentence.empty()) all.push_back(std::move(sentence));
    return all;
}

std::vector<Sentence> said(const Exhibit& exhibit) {
    Said told(exhibit);
    for (const Panel& panel : exhibit.panels) told.add(panel, panel.heatmap());
    return told.sentences();
}

std::string spoken_text(const std::vector<Sentence>& sentences) {
    std::vector<std::string> texts;
    for (const Sentence& sentence : sentences) texts.push_back(tr(sentence));
    return joined(texts);
}

std::string english_text(const std::vector<Sentence>& sentences) {
    std::vector<std::string> texts;
    for (const Sentence& sentence : sentences) texts.push_back(sentence.english());
    return joined(texts);
}

}  // namespace decoderscope::core

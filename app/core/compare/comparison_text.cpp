#include "app/core/compare/comparison_text.h"

#include "app/core/text/characters.h"
#include "app/core/text/numbers.h"
#include "engine/base/translate.h"

#include <algorithm>

namespace decoderscope::core::diff {

NamedTensors weights_of(const Run& run) {
    NamedTensors weights;
    for (const Step& step : run.plan().steps())
        if (step.role == Role::parameter && !step.source.empty()) weights.emplace_back(step.name, step.source);
    return weights;
}

bool has_other_weights(const Run& a, const Run& b) {
    const NamedTensors left = weights_of(a);
    const auto is_shared = [&](const auto& one) {
        const Ref other = b.plan().find(one.first);
        return other != nullptr && one.second.shares_values_with(other->source);
    };
    return !left.empty() && !weights_of(b).empty() && std::ranges::none_of(left, is_shared);
}

std::vector<std::size_t> furthest_first(const Comparison& comparison) {
    std::vector<std::size_t> order = worst_first(comparison);
    const auto measured = [&](std::size_t at) {
        const TensorDifference& d = comparison.tensors[at];
        return d.presence == Presence::in_both && d.largest > 0.0;
    };
    const auto begin = std::ranges::find_if(order, measured);
    const auto end = std::find_if_not(begin, order.end(), measured);
    std::stable_sort(begin, end, [&](std::size_t left, std::size_t right) {
        return comparison.tensors[left].relative() > comparison.tensors[right].relative();
    });
    return order;
}

namespace {

// Text padded with spaces, on its left if it is a number.
std::string padded(const std::string& text, std::size_t width, bool right) {
    const std::size_t long_already = characters(text).size();
    const std::string space(width > long_already ? width - long_already : 0, ' ');
    return right ? space + text : text + space;
}

Sentence tensors_text(std::size_t count) { return message_n("{count} tensor", "{count} tensors", count); }

// Leaves out what only one of the two has.
Sentence verdict_of_common(const Comparison& c) {
    const Arguments what = {{"tensors", tensors_text(c.in_both)}, {"most", difference_text(c.tolerance)}};
    const bool exact = c.tolerance <= 0.0;
    if (c.over > 0 && exact)
        return message_n("{count} of {tensors} differs", "{count} of {tensors} differ", c.over, what);
    if (c.over > 0)
        return message_n("{count} of {tensors} differs by more than {most}",
                         "{count} of {tensors} differ by more than {most}", c.over, what);
    if (c.in_both == 0) return message("No tensor can be compared");
    if (c.same_bits)
        return message_n("Nothing differs: {count} tensor is equal bit for bit",
                         "Nothing differs: {count} tensors are equal bit for bit", c.in_both);
    if (c.largest == 0.0) return message("Nothing differs: the numbers of {tensors} are equal", what);
    return exact ? message("None of {tensors} differs", what)
                 : message("None of {tensors} differs by more than {most}", what);
}

// One line per tensor that differs, in this order, below a header.
std::string lines_of(const Comparison& c, const std::vector<std::size_t>& order, const char* second, const char* third,
                     std::string_view a, std::string_view b,
                     std::vector<std::string> (*numbers)(const TensorDifference&)) {
    if (!c.differs()) return {};
    std::vector<TextRow> rows = {{tr("tensor"), {tr("largest"), second, third}, tr("where")}};
    for (const std::size_t at : order) {
        const TensorDifference& d = c.tensors[at];
        if (!d.differs()) continue;
        if (d.presence != Presence::in_both)
            rows.push_back({d.name, {}, presence_text(d, a, b)});
        else
            rows.push_back({d.name, numbers(d), place_of_largest(d)});
    }
    return table_text(rows);
}

}  // namespace

std::string difference_text(double difference) { return short_number_text(difference, 3); }

std::string verdict_of(const Comparison& c) {
    const Sentence common = verdict_of_common(c);
    const Sentence verdict = c.both_nan == 0
                                 ? common
                                 : message_n("{verdict}; {count} number is NaN in both and can't be compared",
                                             "{verdict}; {count} numbers are NaN in both and can't be compared",
                                             static_cast<std::size_t>(c.both_nan), {{"verdict", common}});
    if (c.unmatched == 0) return tr("{verdict}.", {{"verdict", verdict}});
    return tr_n("{verdict}; {count} is not in both or of another shape.",
                "{verdict}; {count} are not in both or of another shape.", c.unmatched, {{"verdict", verdict}});
}

Sentence first_difference(const Comparison& c, std::string_view a, std::string_view b) {
    if (!c.first) return {};
    const TensorDifference& d = c.tensors[*c.first];
    if (d.presence != Presence::in_both)
        return message("The first to differ is {step}: {shapes}",
                       {{"step", d.name}, {"shapes", presence_text(d, a, b)}});
    return message("The first to differ is {step}, by up to {difference} at {cell}",
                   {{"step", d.name}, {"difference", difference_text(d.largest)}, {"cell", cell_name("", d.cell)}});
}

std::string measured_text(const Comparison& c) {
    return tr("{tensors}, {numbers} numbers compared, largest difference {difference}",
              {{"tensors", tensors_text(c.in_both)},
               {"numbers", grouped(c.numbers)},
               {"difference", difference_text(c.largest)}});
}

std::string equality_text(const TensorDifference& d, bool in_full) {
    if (d.both_nan > 0) return tr("NaN in both at {nan} of {all}", {{"nan", d.both_nan}, {"all", d.count}});
    if (!in_full) return tr("equal");
    return d.same_bits ? tr("equal bit for bit") : tr("equal numbers, other bits");
}

std::string presence_text(const TensorDifference& d, std::string_view a, std::string_view b) {
    const std::string in_a(a), in_b(b);
    switch (d.presence) {
        case Presence::other_shape:
            return tr(
                "{shape_a} in {a}, {shape_b} in {b}",
                {{"shape_a", shape_text(d.shape_a)}, {"a", in_a}, {"shape_b", shape_text(d.shape_b)}, {"b", in_b}});
        case Presence::only_in_a:
            return tr("only in {run}", {{"run", in_a}});
        case Presence::only_in_b:
            return tr("only in {run}", {{"run", in_b}});
        case Presence::in_both:
            break;
    }
    return {};
}

Table table_of(const Comparison& comparison, std::span<const std::size_t> order, const Plan& plan) {
    Table table{
        .about = "step",
        .title = message("The difference"),
        .about_title = {},
        .columns = {{"largest", message("largest"), Unit::difference, 3,
                     message("max |A − B| over all cells of the step")},
                    {"relative", message("relative"), Unit::difference, 3,
                     message("The largest difference relative to the largest number in A and B"), true},
                    {"mean", message("mean"), Unit::difference, 3, message("The mean of |A − B| over all cells"), true},
                    {"over", message("cells over"), Unit::words, 3,
                     message("How many cells differ by more than the tolerance")}},
        .marks = true};
    for (const std::size_t at : order) {
        const TensorDifference& d = comparison.tensors[at];
        const Ref step = plan.find(d.name);
        TableRow& row = table.rows.emplace_back();
        row.name = Sentence::verbatim(d.name);
        row.step = d.name;
        row.meaning = step != nullptr ? step->meaning : Meaning::residual;
        row.muted = !d.differs();
        if (d.presence != Presence::in_both)
            row.entries = {Entry(), Entry(), Entry(), Sentence::verbatim(presence_text(d, "A", "B"))};
        else if (d.largest == 0.0)
            row.entries = {Entry(), Entry(), Entry(), Sentence::verbatim(equality_text(d, false))};
        else
            row.entries = {d.largest, d.relative(), d.mean,
                           message("{count} of {all}", {{"count", d.over}, {"all", d.count}})};
    }
    return table;
}

std::string table_text(const std::vector<TextRow>& rows) {
    constexpr std::size_t kShortestName = 6, kGap = 2;
    std::size_t longest = kShortestName;
    std::vector<std::size_t> widths;
    for (const TextRow& row : rows) {
        longest = std::max(longest, characters(row.name).size());
        widths.resize(std::max(widths.size(), row.numbers.size()), 10);
        for (std::size_t i = 0; i < row.numbers.size(); ++i)
            widths[i] = std::max(widths[i], characters(row.numbers[i]).size() + kGap);
    }
    std::string text;
    for (const TextRow& row : rows) {
        text += padded(row.name, longest + kGap, false);
        for (std::size_t i = 0; i < row.numbers.size(); ++i) text += padded(row.numbers[i], widths[i], true);
        text += (row.numbers.empty() ? "" : "  ") + row.text + "\n";
    }
    return text;
}

std::string place_of_largest(const TensorDifference& d) {
    return cell_name("", d.cell) + "  " + short_number_text(static_cast<double>(d.a), 6) + "  " +
           short_number_text(static_cast<double>(d.b), 6);
}

std::string moves_table(const Comparison& c, std::string_view a, std::string_view b) {
    return lines_of(c, furthest_first(c), tr("relative"), tr("mean"), a, b, [](const TensorDifference& d) {
        return std::vector{difference_text(d.largest), difference_text(d.relative()), difference_text(d.mean)};
    });
}

std::string difference_table(const Comparison& c, std::string_view a, std::string_view b) {
    return lines_of(c, worst_first(c), tr("mean"), tr("cells over"), a, b, [](const TensorDifference& d) {
        return std::vector{difference_text(d.largest), difference_text(d.mean),
                           tr("{count} of {all}", {{"count", d.over}, {"all", d.count}})};
    });
}

}  // namespace decoderscope::core::diff

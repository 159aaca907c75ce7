#include "app/core/diff/comparison_text.h"

#include "app/core/text/numbers.h"
#include "app/core/text/utf8.h"

#include <algorithm>

namespace decoderscope {

namespace {

std::string shape_text_of(const std::vector<Index>& shape) {
    std::string text;
    for (const Index size : shape) text += (text.empty() ? "" : ", ") + std::to_string(size);
    return "[" + text + "]";
}

// "24,576"
std::string with_commas(Index number) {
    std::string text = std::to_string(number);
    for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
        text.insert(static_cast<std::size_t>(at), ",");
    return text;
}

std::string tensors_text(std::size_t count) { return std::to_string(count) + (count == 1 ? " tensor" : " tensors"); }

// Text filled up with spaces, on its left where it is a number.
std::string filled(const std::string& text, std::size_t width, bool right) {
    const std::size_t long_already = characters(text).size();
    const std::string space(width > long_already ? width - long_already : 0, ' ');
    return right ? space + text : text + space;
}

std::string cell_text(const Cell& cell) {
    std::string text;
    for (const Index i : cell) text += (text.empty() ? "" : ", ") + std::to_string(i);
    return "[" + text + "]";
}

}  // namespace

std::string difference_text(double difference) { return short_number_text(difference, 3); }

std::string verdict_of(const Comparison& c) {
    const std::string more = c.tolerance > 0.0 ? " by more than " + difference_text(c.tolerance) : "";
    const std::string rest = c.unmatched == 0
                                 ? ""
                                 : "; " + std::to_string(c.unmatched) + (c.unmatched == 1 ? " is" : " are") +
                                       " not in both or of another shape";
    if (c.over > 0) return std::to_string(c.over) + " of " + tensors_text(c.in_both) + " differ" + more + rest + ".";
    if (c.in_both == 0) return "No tensor can be compared" + rest + ".";
    if (c.same_bits)
        return "Nothing differs: " + tensors_text(c.in_both) + (c.in_both == 1 ? " is" : " are") +
               " equal bit for bit" + rest + ".";
    if (c.largest == 0.0)
        return "Nothing differs: the numbers of " + tensors_text(c.in_both) + " are equal" + rest + ".";
    return "None of " + tensors_text(c.in_both) + " differs" + more + rest + ".";
}

std::string measured_text(const Comparison& c) {
    return tensors_text(c.in_both) + ", " + with_commas(c.numbers) + " numbers compared, largest difference " +
           difference_text(c.largest);
}

std::string presence_text(const TensorDifference& d, std::string_view a, std::string_view b) {
    const std::string in_a(a), in_b(b);
    switch (d.presence) {
        case Presence::other_shape:
            return shape_text_of(d.shape_a) + " in " + in_a + ", " + shape_text_of(d.shape_b) + " in " + in_b;
        case Presence::only_in_a:
            return "only in " + in_a;
        case Presence::only_in_b:
            return "only in " + in_b;
        case Presence::in_both:
            break;
    }
    return {};
}

std::string difference_table(const Comparison& c, std::string_view a, std::string_view b) {
    std::size_t longest = 6;
    for (const TensorDifference& d : c.tensors)
        if (d.differs()) longest = std::max(longest, d.name.size());
    const auto line = [&](const std::string& name, const std::string& largest, const std::string& mean,
                          const std::string& over, const std::string& where) {
        return filled(name, longest + 2, false) + filled(largest, 10, true) + filled(mean, 10, true) +
               filled(over, 18, true) + "  " + where + "\n";
    };
    std::string text = c.differs() ? line("tensor", "largest", "mean", "cells over", "where") : "";
    for (const std::size_t at : worst_first(c)) {
        const TensorDifference& d = c.tensors[at];
        if (!d.differs()) continue;
        if (d.presence != Presence::in_both)
            text += filled(d.name, longest + 2, false) + presence_text(d, a, b) + "\n";
        else
            text += line(d.name, difference_text(d.largest), difference_text(d.mean),
                         std::to_string(d.over) + " of " + std::to_string(d.count),
                         cell_text(d.cell) + "  " + short_number_text(static_cast<double>(d.a), 6) + "  " +
                             short_number_text(static_cast<double>(d.b), 6));
    }
    return text;
}

}  // namespace decoderscope

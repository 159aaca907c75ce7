#include "app/core/run/watched.h"

#include "app/core/text/numbers.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

namespace decoderscope::core {

namespace {

// Where a note's numbers are in a tensor: the first one's cell, and how many there are.
struct Stretch {
    Cell first;
    Index count = 1;
};

std::optional<Stretch> numbers_at(const Cell& cell, const Axes& axes) {
    if (axes.empty()) return cell.empty() ? std::optional(Stretch{}) : std::nullopt;
    const bool whole = cell.empty(), row = cell.size() + 1 == axes.size();
    if (whole && element_count(axes) != axes.back().size) return std::nullopt;
    Stretch numbers{whole ? Cell(axes.size(), 0) : cell};
    if (!whole && row) numbers.first.push_back(0);
    if (whole || row) numbers.count = axes.back().size;
    if (numbers.first.size() != axes.size() || numbers.count == 0) return std::nullopt;
    for (std::size_t i = 0; i < axes.size(); ++i)
        if (numbers.first[i] < 0 || numbers.first[i] >= axes[i].size) return std::nullopt;
    return numbers;
}

std::span<const float> values_of(const Tensor& tensor, const Stretch& at) {
    return tensor.values().subspan(static_cast<std::size_t>(tensor.offset(at.first)),
                                   static_cast<std::size_t>(at.count));
}

Change change_of(std::span<const float> now, std::span<const float> before) {
    if (now.size() != before.size()) return Change::differs;
    bool both_nan = false;
    for (std::size_t i = 0; i < now.size(); ++i) {
        if (std::isnan(now[i]) && std::isnan(before[i]))
            both_nan = true;
        else if (now[i] != before[i])
            return now.size() > 1 || std::isnan(now[i]) || std::isnan(before[i]) ? Change::differs
                   : now[i] > before[i]                                          ? Change::up
                                                                                 : Change::down;
    }
    return both_nan ? Change::unclear : Change::none;
}

std::vector<float> beginning(std::span<const float> numbers) {
    const auto first = numbers.first(std::min(numbers.size(), static_cast<std::size_t>(kMostOfRow)));
    return {first.begin(), first.end()};
}

Sentence why_missing(const Note& note, const Axes& axes) {
    const Arguments of = {{"step", note.step}, {"shape", shape_text(axes)}};
    return note.cell.empty() ? message("{step} {shape} has more than one row: choose a cell or a row of it.", of)
                             : message("{step} has the shape {shape} in this run, which has no such cell.", of);
}

std::string text_of(const std::vector<float>& numbers, bool goes_on, int digits) {
    std::string text;
    for (const float number : numbers)
        text += (text.empty() ? "" : ", ") + short_number_text(static_cast<double>(number), digits);
    return text + (goes_on ? " …" : "");
}

Resumable<WatchedNumber> watched(Note note, std::shared_ptr<const Run> run, std::shared_ptr<const Run> unedited) {
    if (!run->value(note.step).is_ready() || !unedited->value(note.step).is_ready()) co_yield kPause;
    co_return watched_number(note, *run, *unedited);
}

}  // namespace

WatchedNumber watched_number(const Note& note, const Run& run, const Run& unedited) {
    WatchedNumber number;
    const Ref step = run.plan().find(note.step);
    if (step == nullptr) {
        number.missing = message("This run has no step {step}.", {{"step", note.step}});
        return number;
    }
    const std::optional<Stretch> at = numbers_at(note.cell, step->axes);
    const Tensor& values = run.value(step->id);
    if (!at || values.empty()) {
        number.missing =
            at ? message("{step} is not computed: go to it.", {{"step", note.step}}) : why_missing(note, step->axes);
        return number;
    }
    const std::span<const float> now = values_of(values, *at);
    number.now = beginning(now);
    number.goes_on = at->count > kMostOfRow;
    if (&run == &unedited) return number;
    const Tensor& old_values = unedited.value(note.step);
    const std::optional<Stretch> then = old_values.empty() ? std::nullopt : numbers_at(note.cell, old_values.axes());
    number.change = Change::only_here;
    if (!then) return number;
    const std::span<const float> before = values_of(old_values, *then);
    number.before = beginning(before);
    number.change = change_of(now, before);
    return number;
}

Value<WatchedNumber> shown_watched(Derived& derived, const Snapshot& shown, const Note& note) {
    const Ref step = shown.run->plan().find(note.step);
    const bool early = step != nullptr && shown.early && &shown.run_of(*step) == shown.early.get();
    return derived.later<WatchedNumber>({shown.run, shown.unedited, shown.early}, std::tie(note.step, note.cell),
                                        [&] { return watched(note, early ? shown.early : shown.run, shown.unedited); });
}

std::string now_text(const WatchedNumber& number, int digits) { return text_of(number.now, number.goes_on, digits); }

std::string before_text(const WatchedNumber& number, int digits) {
    return text_of(number.before, number.goes_on, digits);
}

std::string change_mark(Change change) {
    switch (change) {
        case Change::up:
            return "↑";
        case Change::down:
            return "↓";
        case Change::differs:
            return "≠";
        case Change::unclear:
            return "?";
        case Change::no_edits:
        case Change::none:
        case Change::only_here:
            return "";
    }
    return "";
}

Sentence number_sentence(const WatchedNumber& number, int digits) {
    if (!number.missing.empty()) return number.missing;
    const Arguments all = {{"value", now_text(number, digits)},
                           {"mark", change_mark(number.change)},
                           {"before", before_text(number, digits)}};
    switch (number.change) {
        case Change::no_edits:
            return Sentence("{value}", all);
        case Change::none:
            return message("{value}, as without edits", all);
        case Change::unclear:
            return message("{value}; without edits {before}: NaN and NaN can't be compared", all);
        case Change::only_here:
            return message("{value}; without edits there is no such number", all);
        case Change::up:
        case Change::down:
        case Change::differs:
            break;
    }
    return message("{value} {mark} without edits {before}", all);
}

}  // namespace decoderscope::core

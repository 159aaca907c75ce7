#include "app/core/run/overlay.h"

#include "app/core/run/notes.h"
#include "app/core/text/numbers.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace decoderscope::core {

namespace {

bool is_before(const OverlayValue& a, const OverlayValue& b) {
    return a.step != b.step ? a.step < b.step : a.cell < b.cell;
}

bool same_place(const OverlayValue& a, const OverlayValue& b) { return a.step == b.step && a.cell == b.cell; }

void check(const OverlayValue& value) {
    if (!std::isfinite(value.value))
        throw Error("the number of {place} isn't finite, expected a finite number", {{"place", place_text(value)}});
    if (value.text.size() > kLongestOverlayText)
        throw Error("the text of {place} has {size} bytes, expected at most {most}",
                    {{"place", place_text(value)}, {"size", value.text.size()}, {"most", kLongestOverlayText}});
}

Scale scale_of(const std::vector<OverlayValue>& values) {
    const bool negative = std::ranges::any_of(values, [](const OverlayValue& value) { return value.value < 0.0F; });
    return negative ? Scale::diverging : Scale::sequential;
}

Range range_of(const std::vector<OverlayValue>& values, Scale scale) {
    std::vector<float> numbers;
    numbers.reserve(values.size());
    for (const OverlayValue& value : values) numbers.push_back(value.value);
    return range_of(std::span<const float>(numbers), scale);
}

// If two belong to the same place, the error names the one that was given later.
void check_places(const std::vector<OverlayValue>& values, const std::vector<std::size_t>& order,
                  const std::function<std::string(std::size_t)>& where) {
    for (std::size_t i = 1; i < order.size(); ++i) {
        if (!same_place(values[order[i - 1]], values[order[i]])) continue;
        naming(where(order[i]), [&] {
            throw Error("{place} has a number before this one, expected one for each place",
                        {{"place", place_text(values[order[i]])}});
        });
    }
}

}  // namespace

Overlay make_overlay(std::string name, std::vector<OverlayValue> values,
                     const std::function<std::string(std::size_t)>& where) {
    if (values.empty()) throw Error("{name}: no numbers, expected NAME, value, text in each line", {{"name", name}});
    for (std::size_t i = 0; i < values.size(); ++i)
        if (i >= kMostOverlayValues)
            throw Error("{where}: too many numbers, expected at most {most}",
                        {{"where", where(i)}, {"most", kMostOverlayValues}});
        else
            naming(where(i), [&] { check(values[i]); });
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return is_before(values[a], values[b]); });
    check_places(values, order, where);
    Overlay overlay{.name = std::move(name), .scale = scale_of(values)};
    overlay.range = range_of(values, overlay.scale);
    overlay.values.reserve(values.size());
    for (const std::size_t i : order) overlay.values.push_back(std::move(values[i]));
    return overlay;
}

bool same_overlay(const std::shared_ptr<const Overlay>& a, const std::shared_ptr<const Overlay>& b) {
    if (a == b || !a || !b) return a == b;
    return a->name == b->name && a->values == b->values;
}

std::string place_text(const OverlayValue& value) {
    return value.cell.empty() ? value.step : cell_name(value.step, value.cell);
}

std::span<const OverlayValue> values_of(const Overlay& overlay, std::string_view step) {
    const auto from = std::ranges::lower_bound(overlay.values, step, {}, &OverlayValue::step);
    const auto to = std::find_if(from, overlay.values.end(), [&](const OverlayValue& one) { return one.step != step; });
    return {from, to};
}

const OverlayValue* number_of(const Overlay& overlay, std::string_view step) {
    const std::span<const OverlayValue> own = values_of(overlay, step);
    if (!own.empty() && own.front().cell.empty()) return &own.front();
    if (!own.empty())
        return &*std::ranges::max_element(own, {}, [](const OverlayValue& one) { return std::fabs(one.value); });
    for (std::string_view part = part_around(step); !part.empty(); part = part_around(part))
        if (const auto its = values_of(overlay, part); !its.empty() && its.front().cell.empty()) return &its.front();
    return nullptr;
}

std::string overlay_sentence(const Overlay& overlay, std::string_view step, const OverlayValue& number) {
    const std::string value = short_number_text(static_cast<double>(number.value), 4);
    if (number.step != step)
        return tr("{file}: {value}, of {part}", {{"file", overlay.name}, {"value", value}, {"part", number.step}});
    if (number.cell.empty()) return tr("{file}: {value}", {{"file", overlay.name}, {"value", value}});
    return tr_n("{file}: {count} cell, {value}", "{file}: {count} cells, the largest {value}",
                values_of(overlay, step).size(), {{"file", overlay.name}, {"value", value}});
}

}  // namespace decoderscope::core

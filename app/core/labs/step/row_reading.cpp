#include "app/core/labs/step/row_reading.h"

#include "app/core/run/labels.h"
#include "app/core/run/step_picture.h"
#include "app/core/text/numbers.h"
#include "engine/tensor/row_math.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <tuple>

namespace decoderscope::core::step {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Which of an attention's steps have rows by query: its scores to its output.
bool has_queries(const Step& step) {
    return step.axes.size() == 4 && step.axes[1].name == axis::head && step.axes[2].name == axis::query;
}

// The values as a row of the pattern reads them.
struct ValueRows {
    const Tensor& v;  // [batch, kv_head, key, d_head]
    Index batch, head;

    [[nodiscard]] std::span<const float> of(Index key) const { return v.row({batch, head, key, 0}); }
};

// z as the pattern and the values make it, and each key's part of it.
void read_parts(PatternRowReading& row, std::span<const float> weights, const ValueRows& values,
                std::span<const float> z) {
    std::vector<double> sum(z.size(), 0.0);
    for (KeyPart& part : row.parts) {
        const std::span<const float> v = values.of(part.key);
        const auto weight = static_cast<double>(weights[static_cast<std::size_t>(part.key)]);
        double squares = 0.0, along = 0.0;
        for (std::size_t i = 0; i < v.size(); ++i) {
            const double term = weight * static_cast<double>(v[i]);
            sum[i] += term;
            squares += term * term;
            along += term * static_cast<double>(z[i]);
        }
        part.length = std::sqrt(squares);
        part.share = along;
    }
    double squares = 0.0, off = 0.0;
    for (std::size_t i = 0; i < z.size(); ++i) {
        const auto value = static_cast<double>(z[i]);
        squares += value * value;
        off += (value - sum[i]) * (value - sum[i]);
    }
    constexpr double kRounding = 1e-4;  // of the length
    if (!(squares > 0.0) || !(off <= kRounding * kRounding * squares)) {
        row.parts.clear();
        return;
    }
    row.length = std::sqrt(squares);
    for (KeyPart& part : row.parts) part.share /= squares;
    std::ranges::stable_sort(row.parts, std::greater<>(), [](const KeyPart& part) { return std::abs(part.share); });
}

}  // namespace

std::optional<PatternRowReading> read_pattern_row(const Scenario& scenario, const Run& run, const Step& step,
                                                  const Cell& cell) {
    const Plan& plan = run.plan();
    const Ref pattern = plan.step_of(step.attention, AttentionStep::pattern);
    if (pattern == nullptr || step.backward || !has_queries(step) || cell.size() != 4) return std::nullopt;
    const Tensor& weights = run.value(pattern->id);  // [batch, head, query, key]
    const Cell first = {cell[0], cell[1], cell[2], 0};
    if (weights.empty() || !weights.contains(first)) return std::nullopt;
    const std::span<const float> here = weights.row(first);
    // If a weight was set to a value that no softmax gives, nothing can be read from the row.
    if (std::ranges::any_of(here, [](float weight) { return weight < 0.0F || weight > 1.0F + 1e-4F; }))
        return std::nullopt;
    PatternRowReading row{.query = cell[2]};
    row.entropy = row::entropy(here);
    if (cell[2] > 0) row.before = row::entropy(weights.row({cell[0], cell[1], cell[2] - 1, 0}));
    if (const Ref sink = sink_beside(run, *pattern)) row.sink = static_cast<double>(run.value(sink->id).at(first));
    const PlaceNames names(scenario, *pattern, {3}, cell[0]);
    for (std::size_t key = 0; key < here.size(); ++key) {
        const auto at = static_cast<Index>(key);
        row.parts.push_back({.key = at, .name = names.index(0, at), .weight = static_cast<double>(here[key])});
    }
    row.length = kNan;
    if (std::isnan(row.entropy)) row.parts.clear();
    if (row.parts.size() >= 2) {
        std::vector<KeyPart> largest = row.parts;
        std::ranges::stable_sort(largest, std::greater<>(), &KeyPart::weight);
        row.largest = largest[0];
        row.second = largest[1];
    }
    const Ref v = plan.step_of(step.attention, AttentionStep::value),
              z = plan.step_of(step.attention, AttentionStep::z);
    if (v == nullptr || z == nullptr || run.value(v->id).empty() || run.value(z->id).empty()) row.parts.clear();
    if (row.parts.empty()) return row;
    const Tensor &values = run.value(v->id), &made = run.value(z->id);
    const Index kv_head = cell[1] * values.dim(1) / weights.dim(1);
    read_parts(row, here, {values, cell[0], kv_head}, made.row(first));
    return row;
}

Value<ShownPatternRow> shown_pattern_row(Derived& derived, const Snapshot& shown, const Step& step, const Cell& cell) {
    return derived.get<ShownPatternRow>({shown.run}, std::make_tuple(step.id, cell), [&] {
        return ShownPatternRow{read_pattern_row(shown.scenario, *shown.run, step, cell)};
    });
}

Sentence sharpness_sentence(const PatternRowReading& row) {
    if (std::isnan(row.entropy)) return message("Its entropy is NaN: it has nothing to attend to.");
    Arguments arguments = {{"entropy", short_number_text(row.entropy, 3)}};
    if (!row.before || std::isnan(*row.before)) return message("Row: entropy {entropy} bits.", arguments);
    const double more = row.entropy - *row.before;
    arguments.push_back({"change", short_number_text(std::abs(more), 3)});
    if (more == 0.0) return message("Row: entropy {entropy} bits, the same as the row above.", arguments);
    return more > 0.0 ? message("Row: entropy {entropy} bits, {change} more than above.", arguments)
                      : message("Row: entropy {entropy} bits, {change} less than above.", arguments);
}

Sentence hesitation_sentence(const PatternRowReading& row) {
    if (!row.largest || !row.second) return {};
    return message("Largest: {first} {weight}, {second} {other}; {apart} apart.",
                   {{"first", row.largest->name},
                    {"weight", short_number_text(row.largest->weight, 3)},
                    {"second", row.second->name},
                    {"other", short_number_text(row.second->weight, 3)},
                    {"apart", short_number_text(row.largest->weight - row.second->weight, 3)}});
}

Sentence sink_sentence(const PatternRowReading& row) {
    if (!row.sink || std::isnan(*row.sink)) return {};
    return message("The sink takes {weight}, which goes to no key.", {{"weight", short_number_text(*row.sink, 3)}});
}

Sentence part_sentence(const KeyPart& part) {
    return message("{key} makes {percent} % of z (length {length}).",
                   {{"key", part.name},
                    {"percent", short_number_text(part.share * 100.0, 3)},
                    {"length", short_number_text(part.length, 3)}});
}

}  // namespace decoderscope::core::step

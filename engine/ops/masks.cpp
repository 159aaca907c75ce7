#include "engine/ops/masks.h"

#include "engine/base/parallel.h"

#include "engine/base/translate.h"
#include "engine/tensor/row_math.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace decoderscope::ops {

float fill_in(Arithmetic type, float mask_value) {
    if (mask_value != std::numeric_limits<float>::lowest() || type == Arithmetic::float32)
        return rounded(mask_value, type);
    return type == Arithmetic::bfloat16 ? -0x1.FEp127F : -65504.0F;
}

namespace {

// The strides of a broadcast mask along [batch, head, query, key]; 0 along an axis that it lacks or that has length 1.
std::array<Index, 4> broadcast_strides(const Tensor& mask) {
    std::array<Index, 4> strides = {};
    Index step = 1;
    for (std::size_t i = mask.rank(); i-- > 0; step *= mask.dim(i))
        strides[4 - mask.rank() + i] = mask.dim(i) == 1 ? 0 : step;
    return strides;
}

}  // namespace

Axes CombineMasks::axes(const OperandAxes&) const {
    return {{axis::batch, batch}, {axis::head, heads}, {axis::query, queries}, {axis::key, keys}};
}

// The broadcast rule of PyTorch: axes are matched from the last one, and an axis of length 1 is repeated.
Cell CombineMasks::custom_cell(const Tensor& custom, const Cell& cell) {
    Cell at(custom.rank());
    for (std::size_t i = 0; i < at.size(); ++i) {
        const Index index = cell[cell.size() - at.size() + i];
        at[i] = custom.dim(i) == 1 ? 0 : index;
    }
    return at;
}

Masks CombineMasks::combined() const {
    const auto if_there = [](bool there, Masks mask) { return there ? mask : Masks{0}; };
    return static_cast<Masks>(if_there(causal, masked_by::causal) | if_there(window > 0, masked_by::window) |
                              if_there(padding, masked_by::padding) | if_there(custom, masked_by::custom) |
                              if_there(segments, masked_by::segments));
}

Masks CombineMasks::hidden_by(const Operands& in, const Cell& cell) const {
    Masks hiding = 0;
    const auto also = [&](bool hides, Masks mask) { hiding = hides ? static_cast<Masks>(hiding | mask) : hiding; };
    also(causal && cell[3] > places.first + cell[2], masked_by::causal);
    also(window > 0 && distance(in, cell) >= static_cast<float>(window), masked_by::window);
    also(padding && in[0].at(key_cell(cell)) == 0.0F, masked_by::padding);
    also(custom && in[custom_operand()].at(custom_cell(in[custom_operand()], cell)) == 0.0F, masked_by::custom);
    also(segments && !same_segment(in, cell), masked_by::segments);
    return hiding;
}

OperandRole CombineMasks::role_of(std::size_t operand) const {
    if (padding && operand == 0) return OperandRole::padding_mask;
    if (custom && operand == custom_operand()) return OperandRole::custom_mask;
    return segments && operand == segments_operand() ? OperandRole::segments : OperandRole::positions;
}

float CombineMasks::distance(const Operands& in, const Cell& cell) const {
    const Places keys_of = {0, places.given};
    return places.number(in, positions_operand(), cell[0], cell[2]) -
           keys_of.number(in, positions_operand(), cell[0], cell[3]);
}

bool CombineMasks::same_segment(const Operands& in, const Cell& cell) const {
    const Tensor& segment = in[segments_operand()];
    return segment.at(query_cell(cell)) == segment.at(key_cell(cell));
}

Tensor CombineMasks::compute(const Operands& in, const Axes& axes) const {
    const auto given = [&](bool there, std::size_t operand) { return there ? in[operand] : Tensor(); };
    return {axes, std::make_shared<const CombinedMasks>(
                      *this, CombinedMasks::Given{given(padding, 0), given(custom, custom_operand()),
                                                  given(segments, segments_operand()),
                                                  given(places.given && window > 0, positions_operand())})};
}

CombinedMasks::CombinedMasks(const CombineMasks& masks, Given given) : masks_(masks), given_(std::move(given)) {
    if (!given_.custom.empty()) strides_ = broadcast_strides(given_.custom);
    constexpr Index kLarge = 8'000'000, kAtOnce = 64;
    const Axes axes = masks.axes({});
    if (element_count(axes) >= kLarge) by_rows_ = {axes, kAtOnce};
}

void CombinedMasks::row(Index b, Index h, Index q, std::span<float> kept) const {
    std::ranges::fill(kept, 1.0F);
    fill(b, h, q, kept, 0.0F, kept);
}

void CombinedMasks::fill(Index b, Index h, Index q, std::span<const float> scores, float value,
                         std::span<float> masked) const {
    const auto visible = static_cast<std::size_t>(allowed(q)), first = static_cast<std::size_t>(first_in_window(q));
    row::keep_part(scores, first, visible, value, masked);
    const auto at_query = static_cast<std::size_t>(place_of(q));
    const auto of_row = [&](const Tensor& by_key) { return by_key.row({b, 0}); };
    if (!given_.padding.empty())
        hide(masked, visible, value, [row = of_row(given_.padding)](std::size_t k) { return row[k] == 0.0F; });
    if (!given_.positions.empty())
        hide(masked, visible, value, [&, row = of_row(given_.positions)](std::size_t k) {
            return row[at_query] - row[k] >= static_cast<float>(masks_.window);
        });
    if (!given_.segments.empty())
        hide(masked, visible, value,
             [&, row = of_row(given_.segments)](std::size_t k) { return row[k] != row[at_query]; });
    if (given_.custom.empty()) return;
    const Index head = part_.head ? part_.head->number : h;
    const float* custom = given_.custom.data() + b * strides_[0] + head * strides_[1] + row_of(q) * strides_[2];
    hide(masked, visible, value, [&](std::size_t k) { return custom[static_cast<Index>(k) * strides_[3]] == 0.0F; });
}

Index CombinedMasks::allowed(Index query) const {
    return masks_.causal ? std::min(place_of(query) + 1, masks_.keys) : masks_.keys;
}

Index CombinedMasks::first_in_window(Index query) const {
    if (masks_.window == 0 || !given_.positions.empty()) return 0;
    return std::clamp<Index>(place_of(query) - masks_.window + 1, 0, masks_.keys);
}

Index CombinedMasks::first_query_allowed(Index first_key) const {
    return masks_.causal ? std::max<Index>(0, first_key - place_of(0) + part_.apart - 1) / part_.apart : 0;
}

Tensor CombinedMasks::some_rows(const SomeRows& rows) const {
    CombineMasks masks = masks_;
    masks.queries = rows.count;
    SomeRows part = part_;
    part.first = row_of(rows.first);
    part.apart *= rows.apart;
    if (rows.head && masks.heads > 1) {
        part.head = Head{rows.head->among(masks.heads), masks.heads};
        masks.heads = 1;
    }
    const auto made = std::make_shared<CombinedMasks>(masks, given_);
    made->part_ = part;
    return {masks.axes({}), made};
}

void CombinedMasks::rows(Index begin, Index end, std::span<float> kept) const {
    const auto width = static_cast<std::size_t>(masks_.keys);
    for (Index r = begin; r < end; ++r, kept = kept.subspan(width)) {
        const Index plane = r / masks_.queries;
        row(plane / masks_.heads, plane % masks_.heads, r % masks_.queries, kept.first(width));
    }
}

void CombinedMasks::make(std::span<float> values) const {
    rows(0, masks_.batch * masks_.heads * masks_.queries, values);
}

Explanation CombineMasks::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const Masks hiding = hidden_by(in, cell);
    const auto kept = [&](Masks mask) { return (hiding & mask) == 0; };
    const auto number = [&](Masks mask) { return kept(mask) ? 1.0 : 0.0; };
    std::vector<Factor> factors;
    if (causal)
        factors.push_back(constant_factor(
            number(masked_by::causal),
            tr("causal: key {key} {relation} query {query}", {{"key", cell[3]},
                                                              {"relation", kept(masked_by::causal) ? "≤" : ">"},
                                                              {"query", places.first + cell[2]}})));
    if (window > 0) {
        const std::string back = short_number(static_cast<double>(distance(in, cell)));
        factors.push_back(constant_factor(
            number(masked_by::window),
            tr("window: {back} {relation} {window} positions back",
               {{"back", back}, {"relation", kept(masked_by::window) ? "<" : "≥"}, {"window", window}})));
    }
    if (segments) {
        const Tensor& of = in[segments_operand()];
        factors.push_back(
            constant_factor(number(masked_by::segments), tr("document: key's {key} {relation} query's {query}",
                                                            {{"key", static_cast<Index>(of.at(key_cell(cell)))},
                                                             {"relation", kept(masked_by::segments) ? "=" : "≠"},
                                                             {"query", static_cast<Index>(of.at(query_cell(cell)))}})));
    }
    if (padding) factors.push_back(derived_factor(number(masked_by::padding), tr("padding"), 0, key_cell(cell)));
    if (custom)
        factors.push_back(derived_factor(number(masked_by::custom), tr("custom"), custom_operand(),
                                         custom_cell(in[custom_operand()], cell)));
    if (factors.empty()) factors.push_back(constant_factor(1.0, tr("nothing hides it")));
    return {{line(tr("kept"), {term(std::move(factors))})}};
}

ByFormula CombineMasks::formula() const {
    std::string kept;
    const auto also = [&](bool acts, const char* condition) {
        if (acts) kept += (kept.empty() ? "" : " · ") + std::string(condition);
    };
    const bool by_positions = places.given && window > 0;
    also(causal, "[k ≤ q + past]");                                             // not a message: a formula
    also(window > 0 && !by_positions, "[q + past − k < window]");               // not a message: a formula
    also(by_positions, "[positions[b, q + past] − positions[b, k] < window]");  // not a message: a formula
    also(padding, "[padding[b, k] ≠ 0]");                                       // not a message: a formula
    also(custom, "[custom[b, h, q, k] ≠ 0]");                                   // not a message: a formula
    also(segments, "[segments[b, q + past] = segments[b, k]]");                 // not a message: a formula
    ByFormula by{
        "mask[b: batch, h: head, q: query, k: key] = " + (kept.empty() ? "1" : kept),  // not a message: a formula
        {},
        {places.past(), {"window", static_cast<double>(window)}}};
    if (padding) by.operands.emplace_back("padding", OperandRole::padding_mask);
    if (custom) by.operands.emplace_back("custom", OperandRole::custom_mask);
    if (segments) by.operands.emplace_back("segments", OperandRole::segments);
    if (by_positions) by.operands.emplace_back("positions", OperandRole::positions);
    return by;
}

ByFormula FillMasked::formula() const {
    return {"fill", {"scores", "mask"}, {{"mask_value", static_cast<double>(value)}}, tr("masked score")};
}

Tensor FillMasked::compute(const Operands& in, const Axes& axes) const {
    return {axes, std::make_shared<const MaskedScores>(in[0], in[1], value)};
}

MaskedScores::MaskedScores(Tensor scores, Tensor mask, float value)
    : scores_(std::move(scores)),
      mask_(std::move(mask)),
      rules_(mask_.lazy<LazyRows>()),
      combined_(mask_.lazy<CombinedMasks>()),
      value_(value) {}

void MaskedScores::rows(Index begin, Index end, std::span<float> masked) const {
    const Index heads = scores_.dim(1), queries = scores_.dim(2);
    const auto width = static_cast<std::size_t>(scores_.dim(3));
    Index q = begin % queries, h = begin / queries % heads, b = begin / queries / heads;
    const float* scores = scores_.data() + static_cast<std::size_t>(begin) * width;
    const float* mask = rules_ == nullptr ? mask_.data() + static_cast<std::size_t>(begin) * width : nullptr;
    for (Index r = begin; r < end; ++r, masked = masked.subspan(width), scores += width) {
        if (combined_ != nullptr) {
            combined_->fill(b, h, q, {scores, width}, value_, masked.first(width));
        } else if (rules_ != nullptr) {
            rules_->rows(r, r + 1, masked.first(width));
            for (std::size_t k = 0; k < width; ++k) masked[k] = masked[k] == 0.0F ? value_ : scores[k];
        } else {
            for (std::size_t k = 0; k < width; ++k) masked[k] = mask[k] == 0.0F ? value_ : scores[k];
            mask += width;
        }
        if (++q < queries) continue;
        q = 0;
        if (++h < heads) continue;
        h = 0;
        ++b;
    }
}

std::span<const float> MaskedScores::in_place(Index row) const {
    if (!hidden_for_good(row) || !combined_->only_causal()) return {};
    return allowed(row);
}

Index MaskedScores::finite_at_most(Index row) const {
    return hidden_for_good(row) ? static_cast<Index>(allowed(row).size()) : scores_.dim(3);
}

std::span<const float> MaskedScores::allowed(Index row) const {
    const auto width = static_cast<std::size_t>(scores_.dim(3));
    return {scores_.data() + static_cast<std::size_t>(row) * width,
            static_cast<std::size_t>(combined_->allowed(row % scores_.dim(2)))};
}

bool MaskedScores::hidden_for_good(Index row) const {
    constexpr float kFarBelow = 110.0F;  // the exponential of minus that is 0 in float32
    if (combined_ == nullptr || std::isinf(value_)) return combined_ != nullptr && value_ < 0.0F;
    return combined_->only_causal() &&
           std::ranges::any_of(allowed(row), [&](float score) { return score - kFarBelow > value_; });
}

void MaskedScores::make(std::span<float> values) const {
    rows(0, element_count(scores_.axes()) / scores_.dim(3), values);
}

namespace {

// The first query before `end` that may see a key from `first_key` on; `end` if none may.
Index first_query_allowed(const Tensor& mask, Index first_key, Index end) {
    if (const auto* combined = mask.lazy<CombinedMasks>())
        return std::min(end, combined->first_query_allowed(first_key));
    if (mask.by_rows() != nullptr) return 0;  // to look for a key would be to compute it
    const Index planes = mask.dim(0) * mask.dim(1), queries = mask.dim(2), keys = mask.dim(3);
    for (Index plane = 0; plane < planes; ++plane) {
        for (Index q = 0; q < end; ++q) {
            const float* row = mask.data() + (plane * queries + q) * keys;
            if (std::any_of(row + first_key, row + keys, [](float kept) { return kept != 0.0F; })) end = q;
        }
    }
    return end;
}

}  // namespace

// A hidden score may change without effect: the fill replaces it.
Changed FillMasked::changed(const OperandsChange& change) const {
    const Changed &scores = change.changed[0], &mask = change.changed[1];
    if (mask.columns != Changed::kNone) return {};
    const Index rows = std::min({scores.rows, mask.rows, change.now[0].dim(2)});
    if (scores.columns == Changed::kNone) return {rows, Changed::kNone};
    return {first_query_allowed(change.now[1], scores.columns, rows), Changed::kNone};
}

namespace {

constexpr Index kFillGradientCost = 8;  // of one number, in multiply-adds

}  // namespace

Tensor FillMasked::pull_back(std::size_t, const Backward& b) const {
    Tensor out(b.grad.axes());
    const std::span<float> to = out.writable();
    const MaskedScores passed(b.grad, b.in[1], 0.0F);
    const Index keys = out.dim(3);
    in_parallel(out.size() / keys, keys * kFillGradientCost, [&](Index begin, Index end) {
        passed.rows(begin, end, to.subspan(static_cast<std::size_t>(begin * keys)));
    });
    return out;
}

}  // namespace decoderscope::ops

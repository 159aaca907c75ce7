#pragma once

#include "engine/ops/places.h"

#include <array>
#include <optional>

namespace decoderscope::ops {

// Which keys each query may see: causal AND window AND padding AND custom AND of its own segment. 1 = kept, 0 = hidden.
// {padding [batch, key]?, custom, broadcastable to [batch, head, query, key]?, segments [batch, key]?, positions
// [batch, key], by which the window counts, if they are given} -> [batch, head, query, key]
struct CombineMasks {
    Index batch = 1, heads = 1, queries = 1, keys = 1;
    bool causal = true;
    bool padding = false;  // whether there is such an operand
    bool custom = false;
    bool segments = false;
    Places places = {};  // of the queries
    Index window = 0;    // a query sees its own position and the window − 1 before it (Beltagy et al. 2020); 0 = all

    [[nodiscard]] Masks hidden_by(const Operands& in, const Cell& cell) const;
    [[nodiscard]] Traits traits() const { return {.values = Values::mask, .deferred = true, .masks = combined()}; }

    [[nodiscard]] OpDescription about() const {
        return described(window > 0 ? "mask_with_window" : segments ? "mask_with_segments" : "mask");
    }
    // The book's "mask" with what acts here.
    [[nodiscard]] ByFormula formula() const;
    // It compares numbers of positions, and makes none of others.
    [[nodiscard]] static Work work(const OperandAxes& in, const Axes&) { return copying(in); }
    [[nodiscard]] Axes axes(const OperandAxes& in) const;
    [[nodiscard]] OperandRole role_of(std::size_t operand) const;
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    bool operator==(const CombineMasks&) const = default;

private:
    [[nodiscard]] Masks combined() const;
    [[nodiscard]] static Cell key_cell(const Cell& cell) { return {cell[0], cell[3]}; }
    [[nodiscard]] Cell query_cell(const Cell& cell) const { return {cell[0], places.first + cell[2]}; }
    [[nodiscard]] static Cell custom_cell(const Tensor& custom, const Cell& cell);
    // Optional operands that are there come before the next one.
    [[nodiscard]] std::size_t custom_operand() const { return padding ? 1 : 0; }
    [[nodiscard]] std::size_t segments_operand() const { return custom_operand() + (custom ? 1 : 0); }
    [[nodiscard]] std::size_t positions_operand() const { return segments_operand() + (segments ? 1 : 0); }
    // How many positions the key stands before the query, as the window counts.
    [[nodiscard]] float distance(const Operands& in, const Cell& cell) const;
    [[nodiscard]] bool same_segment(const Operands& in, const Cell& cell) const;
};

// Combined masks that were not read yet: a handful of rules in place of one number per head, query and key.
class CombinedMasks : public LazyRows {
public:
    // What is not there is an empty tensor.
    struct Given {
        Tensor padding, custom;      // [batch, key], broadcastable to [batch, head, query, key]
        Tensor segments, positions;  // [batch, key]
    };
    CombinedMasks(const CombineMasks& masks, Given given);
    // What one query may see: 1 or 0 per key.
    void row(Index batch, Index head, Index query, std::span<float> kept) const;
    // The scores of one query, with `value` where it may not see the key. `masked` may be `scores`.
    void fill(Index batch, Index head, Index query, std::span<const float> scores, float value,
              std::span<float> masked) const;
    // How many keys the causal mask lets a query see: its own position and those before it; all without one.
    [[nodiscard]] Index allowed(Index query) const;
    // The first key that the window lets a query see, if it counts places; 0 if it counts by given positions.
    [[nodiscard]] Index first_in_window(Index query) const;
    // Whether there is no other mask.
    [[nodiscard]] bool only_causal() const {
        return given_.padding.empty() && given_.custom.empty() && given_.segments.empty() && masks_.window == 0;
    }
    // The first query that the causal mask lets see any key from this one on.
    [[nodiscard]] Index first_query_allowed(Index first_key) const;
    void make(std::span<float> values) const override;
    void rows(Index begin, Index end, std::span<float> kept) const override;
    [[nodiscard]] Index finite_at_most(Index) const override { return masks_.keys; }
    [[nodiscard]] std::span<const float> in_place(Index) const override { return {}; }
    [[nodiscard]] Tensor some_rows(const SomeRows& rows) const override;
    [[nodiscard]] const ByRows* by_rows() const override { return by_rows_ ? &*by_rows_ : nullptr; }

private:
    // Hides each key before `visible` for which `hides(k)` holds.
    template <class Hides>
    static void hide(std::span<float> masked, std::size_t visible, float value, const Hides& hides) {
        for (std::size_t k = 0; k < visible; ++k)
            if (hides(k)) masked[k] = value;
    }

    // Which row a query is of the mask that these are a part of, and its position, with what a KV cache keeps.
    [[nodiscard]] Index row_of(Index query) const { return part_.first + query * part_.apart; }
    [[nodiscard]] Index place_of(Index query) const { return masks_.places.first + row_of(query); }

    CombineMasks masks_;
    Given given_;
    SomeRows part_;                      // of a mask, if these are only a part of it
    std::array<Index, 4> strides_ = {};  // of the custom mask
    std::optional<ByRows> by_rows_;      // if all numbers would take much room
};

// mask_value as a type has it. float32's lowest number stands for the type's own lowest, torch.finfo(dtype).min, which
// Hugging Face's families fill in.
[[nodiscard]] float fill_in(Arithmetic type, float mask_value);

// The scores with `value` where the mask is 0, like torch.Tensor.masked_fill.
// {scores [batch, head, query, key], mask [batch, head, query, key]} -> the same axes
struct FillMasked {
    float value = 0.0F;

    [[nodiscard]] ByFormula formula() const;
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] ByRow by_row() const { return {{true, true}}; }
    [[nodiscard]] FillMasked of_head(const Head&) const { return *this; }
    [[nodiscard]] Changed changed(const OperandsChange& change) const;
    [[nodiscard]] Traits traits() const { return {.deferred = true, .fill = FillFacts{value}}; }
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    bool operator==(const FillMasked&) const = default;
};

// Masked scores that were not read yet: the softmax reads them one row at a time.
class MaskedScores : public LazyRows {
public:
    MaskedScores(Tensor scores, Tensor mask, float value);
    // The masked scores of some queries; rows are numbered across [batch, head, query].
    void rows(Index begin, Index end, std::span<float> masked) const override;
    // Keys in a query's future are hidden by −∞, or by a fill that weighs nothing beside the others.
    [[nodiscard]] Index finite_at_most(Index row) const override;
    // With only the causal mask, the scores of the allowed keys are unchanged.
    [[nodiscard]] std::span<const float> in_place(Index row) const override;
    void make(std::span<float> values) const override;

private:
    [[nodiscard]] bool hidden_for_good(Index row) const;
    [[nodiscard]] std::span<const float> allowed(Index row) const;

    Tensor scores_, mask_;           // [batch, head, query, key]
    const LazyRows* rules_;          // the mask, if it was not read yet
    const CombinedMasks* combined_;  // and if it isn't edited
    float value_;
};

}  // namespace decoderscope::ops

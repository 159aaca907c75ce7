#pragma once

#include "engine/ops/formula.h"
#include "engine/ops/kinds.h"
#include "engine/ops/places.h"

#include <functional>
#include <utility>
#include <vector>

namespace decoderscope::ops {

// The rows of an embedding table for the tokens, times `scale` (√d_model in Vaswani et al. 2017, section 3.4), times
// `multiplier` (Granite's), rounded after each. As torch.nn.Embedding.   {tokens [batch, pos], table [vocab, d_model]}
// -> [batch, pos, d_model] Throws Error if a token is not a row of the table.
struct Embed {
    float scale = 1.0F, multiplier = 1.0F;

    [[nodiscard]] Axes axes(const OperandAxes& in) const;
    [[nodiscard]] ByFormula formula() const;
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    // Each row of the gradient is added to that of its token.
    [[nodiscard]] static Work pull_back_work(std::size_t, const OperandAxes& in, const Axes& out) {
        return reading_gradient(in, out, element_count(out));
    }
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    bool operator==(const Embed&) const = default;
};

// The number of each position if padding doesn't count, from 0; padding has the number of what comes before it. As
// Hugging Face's generate numbers them, and its OPT.   {attention_mask [batch, pos]} -> [batch, pos]
[[nodiscard]] Tensor counted_by(const Tensor& attention_mask);
// The number of each position in its document, from 0: how many positions of the same document are before it. As
// packed texts are numbered (Krell et al. 2021; Hugging Face's DataCollatorWithFlattening).
// {segments [batch, pos]} -> [batch, pos]
[[nodiscard]] Tensor counted_within(const Tensor& segments);
// One of these as a step.
struct CountedPositions {
    bool within_documents = false;

    [[nodiscard]] ByFormula formula() const {
        if (within_documents) return {"positions_from_segments", {{"segments", OperandRole::segments}}};
        return {"positions_from_mask", {{"padding", OperandRole::padding_mask}}};
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes&) const {
        return within_documents ? counted_within(in[0]) : counted_by(in[0]);
    }
    [[nodiscard]] Traits traits() const { return {.values = Values::non_negative}; }
    bool operator==(const CountedPositions&) const = default;
};

// The fixed positional code of Vaswani et al. 2017, section 3.5 (the encoder-decoder tutorial, post-ln-encdec, section
// 4.3): sine in the even columns, cosine in the odd ones, wavelengths from 2π to 10000·2π. Angles are float32, as
// PyTorch computes them. Times `scale`.   {} -> [pos, d_model], or {positions [batch, key]} -> [batch, pos, d_model]
struct SinusoidalPositions {
    Axis positions;
    Index d_model = 0;
    Places places = {};
    double scale = 1.0;

    [[nodiscard]] ByFormula formula() const {
        return {places.label("sinusoidal"),
                places.with_numbers({}),
                {places.past(),
                 {"pos", static_cast<double>(positions.size)},
                 {"d_model", static_cast<double>(d_model)},
                 {"position_scale", scale}}};
    }
    [[nodiscard]] Axes axes(const OperandAxes& in) const {
        if (places.given) return {in[0][0], positions, {axis::d_model, d_model}};
        return {positions, {axis::d_model, d_model}};
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    bool operator==(const SinusoidalPositions&) const = default;
};

// Rows of a learned table, one per position (GPT-2's wpe), times `scale`.
// {table [max_positions, d_model]} -> [pos, d_model], or {table, positions [batch, key]} -> [batch, pos, d_model]
struct LearnedPositions {
    Axis positions;
    Places places = {};
    double scale = 1.0;

    [[nodiscard]] Axes axes(const OperandAxes& in) const {
        if (places.given) return {in[1][0], positions, {axis::d_model, in[0][1].size}};
        return {positions, {axis::d_model, in[0][1].size}};
    }
    [[nodiscard]] ByFormula formula() const;
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    bool operator==(const LearnedPositions&) const = default;
};

// How the frequencies are lowered for texts longer than those of the training. linear divides all by `factor`. llama3
// divides those whose wave is longer than original_positions / low_freq_factor, leaves those shorter than
// original_positions / high_freq_factor, and blends between (Llama 3.1). yarn leaves the pairs that turn more than
// beta_fast times within original_positions, divides those that turn less than beta_slow times, and blends between in
// proportion to the pair's number (Peng et al. 2023). longrope divides each by its own divisor (Ding et al. 2024).
struct RopeScaling {
    RopeScalingKind kind = RopeScalingKind::none;
    double factor = 1.0, low_freq_factor = 1.0, high_freq_factor = 4.0;
    Index original_positions = 0;
    double beta_fast = 32.0, beta_slow = 1.0;
    bool truncate = true;               // yarn's blend begins and ends at whole pairs
    double attention_factor = 0.0;      // 0 = what yarn and longrope have by default
    std::vector<double> divisors = {};  // longrope's

    // The frequency of each pair of this many columns.
    [[nodiscard]] std::vector<float> frequencies(double theta, Index columns) const;
    // What cos and sin are multiplied by, so that scores stay as sharp as they were.
    [[nodiscard]] double magnitude() const;
    bool operator==(const RopeScaling&) const = default;

private:
    [[nodiscard]] float by_llama3(float frequency) const;
    // How much of a pair's frequency is divided, from 0 to 1.
    [[nodiscard]] float divided_by_yarn(Index pair, double theta, Index columns) const;
};

// Rotary positions (Su et al. 2021): pairs of columns are the two coordinates of a point, turned by the angle
// pos · theta^(−2i/columns) for pair i. Rotate-half (Hugging Face's Llama) pairs columns i and i + columns/2,
// interleaved (Su et al., Llama's own release, GPT-J) 2i and 2i + 1. `columns` of the d_head columns are turned, from
// `begin` on (the first in GPT-J, GPT-NeoX and Phi, the last in DeepSeek); the others stay.
// {q or k [batch, head, pos, d_head], positions [batch, key] if given} -> the axes of the first
struct Rope {
    double theta = 10000.0;
    Index columns = 0;  // an even number up to d_head
    bool interleaved = false;
    RopeScaling scaling = {};
    Places places = {};
    Index begin = 0;  // the first column that is turned

    [[nodiscard]] OpDescription about() const { return described(places.label(label())); }
    // Of the plain rotation of the first columns; none otherwise.
    [[nodiscard]] ByFormula formula() const {
        if (scaling.kind != RopeScalingKind::none || begin > 0) return {};
        return {places.label(label()),
                places.with_numbers({"x"}),
                {{"theta", theta}, {"columns", static_cast<double>(columns)}, places.past()}};
    }
    [[nodiscard]] static OperandRole role_of(std::size_t operand) {
        return role_in({OperandRole::input, OperandRole::positions}, operand);
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const { return turned(in[0], in, axes, false); }
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    // Two products and a sum for each number that is turned, whichever way.
    [[nodiscard]] Work work(const OperandAxes& in, const Axes& out) const {
        return reading_all(in, 3 * columns * (element_count(out) / out.back().size));
    }
    [[nodiscard]] Work pull_back_work(std::size_t, const OperandAxes& in, const Axes& out) const {
        return reading_gradient(in, out, static_cast<Index>(work(in, out).operations));
    }
    [[nodiscard]] Rope from_row(Index row) const {
        return {theta, columns, interleaved, scaling, places.from_row(row), begin};
    }
    [[nodiscard]] static bool passes_gradient(std::size_t operand) { return operand == 0; }
    [[nodiscard]] OpDescription about_pull_back(std::size_t) const { return gradient_described(label(), "x"); }
    [[nodiscard]] Tensor pull_back(std::size_t, const Backward& b) const {
        return turned(b.grad, b.in, b.grad.axes(), true);
    }
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const;
    bool operator==(const Rope&) const = default;

private:
    [[nodiscard]] std::string_view label() const {
        return interleaved ? "rope_interleaved" : begin > 0 ? "rope_last" : "rope_halves";
    }
    // The two columns of a pair.
    [[nodiscard]] std::pair<Index, Index> columns_of(Index pair) const {
        return interleaved ? std::pair{begin + 2 * pair, begin + 2 * pair + 1}
                           : std::pair{begin + pair, begin + pair + columns / 2};
    }
    [[nodiscard]] float angle_of(float position, Index pair) const;
    // All rows of x turned, or turned back, by the positions among the operands.
    [[nodiscard]] Tensor turned(const Tensor& x, const Operands& in, const Axes& axes, bool back) const;
    // How a cell is rotated (or a gradient rotated back): from itself and its partner, by `factor_of`.
    [[nodiscard]] Explanation explain_turn(const Operands& in, const Cell& cell, bool back,
                                           const std::function<Factor(const Cell&)>& factor_of) const;
};

// Lengthens queries that stand far behind, by a logarithm of how often their position fills `length`, so that a long
// text doesn't flatten the pattern (Llama 4, Ministral 3). {q [batch, head, pos, d_head], positions [batch, key] if
// given} -> the axes of the first
struct ScaleQueries {
    double beta = 0.1;
    Index length = 1;
    Places places = {};

    [[nodiscard]] ByFormula formula() const {
        return {places.label("scale_queries"),
                places.with_numbers({"x"}),
                {{"beta", beta, "query_scale_beta"},
                 {"length", static_cast<double>(length), "query_scale_positions"},
                 places.past()}};
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const { return formula().compute(in, axes); }
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    [[nodiscard]] ScaleQueries from_row(Index row) const { return {beta, length, places.from_row(row)}; }
    bool operator==(const ScaleQueries&) const = default;
};

// Adds to each score a number that was learned for the distance from query to key, by head (T5, Raffel et al. 2020).
// Distances share rows of a table: each near one has its own, farther ones share a row in steps that grow like a
// logarithm, and beyond `max_distance` all share the last. The rows are numbered in float32, as in Hugging Face's T5.
// {scores [batch, head, query, key], table [bucket, head]} -> the same axes as the scores
struct RelativeBias {
    Index max_distance = 128;
    bool both_ways = false;  // an encoder's: one half of the rows for keys after the query; otherwise those share row 0
    Index first_query = 0;   // the position of the first query: the number of earlier keys kept

    [[nodiscard]] ByFormula formula() const {
        return {"relative_bias",
                {{"scores", OperandRole::scores}, {"table", OperandRole::table}},
                {{"max_distance", static_cast<double>(max_distance)},
                 {"both_ways", both_ways ? 1.0 : 0.0},
                 {"past", static_cast<double>(first_query)}}};
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    // The rows of the table that a query reads are looked up, not computed.
    [[nodiscard]] Work work(const OperandAxes& in, const Axes& out) const {
        return reading_all(in, element_count(out));
    }
    [[nodiscard]] static Work pull_back_work(std::size_t operand, const OperandAxes& in, const Axes& out) {
        return reading_gradient(in, out, operand == 0 ? 0 : element_count(out));
    }
    // Elementwise in the scores; a changed table changes all.
    [[nodiscard]] Changed changed(const OperandsChange& change) const {
        return change.changed[1] == kUnchanged ? change.changed[0] : Changed{};
    }
    [[nodiscard]] RelativeBias from_row(Index row) const { return {max_distance, both_ways, first_query + row}; }
    [[nodiscard]] RelativeBias of_head(const Head&) const { return *this; }
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    bool operator==(const RelativeBias&) const = default;

private:
    // The row of the table for a query's and a key's place among the scores.
    [[nodiscard]] Index row_of(Index query, Index key, Index rows) const;
};

// The row of a table of that many rows for a key that stands `distance` after the query (negative: before it).
[[nodiscard]] Index relative_bucket(Index distance, Index rows, Index max_distance, bool both_ways);

}  // namespace decoderscope::ops

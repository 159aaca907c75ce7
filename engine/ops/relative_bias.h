#pragma once

#include "engine/operation.h"

namespace decoderscope {

// Adds to each score a number that was learned for the distance from query to key, by head (T5, Raffel et al. 2020).
// Distances share rows of a table: each near one has its own, farther ones share a row in steps that grow like a
// logarithm, and beyond `max_distance` all share the last.
// {scores [batch, head, query, key], table [bucket, head]} -> the same axes as the scores
struct RelativeBias {
    Index max_distance = 128;
    bool both_ways = false;  // an encoder's: one half of the rows for keys after the query; else those share row 0
    Index first_query = 0;   // the position of the first query: the number of earlier keys kept

    [[nodiscard]] About about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return in[0]; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    // Elementwise in the scores; a changed table changes all.
    [[nodiscard]] Changed changed(const OperandsChange& change) const {
        return change.changed[1] == kUnchanged ? change.changed[0] : Changed{};
    }
    [[nodiscard]] RelativeBias from_row(Index row) const { return {max_distance, both_ways, first_query + row}; }
    [[nodiscard]] About about_pull_back(std::size_t operand) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const;
    bool operator==(const RelativeBias&) const = default;

private:
    // The row of the table for a query's and a key's place among the scores.
    [[nodiscard]] Index row_of(Index query, Index key, Index rows) const;
};

// The row of a table of so many rows for a key that stands `distance` after the query (negative: before it).
[[nodiscard]] Index relative_bucket(Index distance, Index rows, Index max_distance, bool both_ways);

}  // namespace decoderscope

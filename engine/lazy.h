#pragma once

#include "engine/index.h"

#include <span>

// Values computed on demand: in place of its numbers, a tensor may hold what they are computed from. All the kinds:
//
//     kind              where               makes
//     CombinedMasks     ops/masks.h         a mask, from a handful of rules                              rows
//     MaskedScores      ops/masks.h         scores with the fill where the mask is 0                     rows
//     LaterSoftmax      ops/softmax.cpp     probabilities that no step reads
//     ReplacedRows      rows.cpp            an earlier tensor whose rows from one on are others
//     RestWhenRead      execute.cpp         rows that an edit cannot reach, or that nothing waits for
//     MadeAgain         execute.cpp         a tensor that was freed after its last reader
//     Zeros             ops/pull_back.cpp   gradients by what the target doesn't depend on
//     Unpacked          linalg.cpp          a weight, from the form that its products read
//
// `rows` marks those that implement LazyRows.
namespace decoderscope {

class Tensor;

// What a tensor's values are computed from when they are first read.
class LazyValues {
public:
    LazyValues() = default;
    LazyValues(const LazyValues&) = delete;
    LazyValues& operator=(const LazyValues&) = delete;
    virtual ~LazyValues() = default;
    // Writes all values, row-major.
    virtual void make(std::span<float> values) const = 0;
    // The tensor's rows (engine/rows.h) from `first` on, if they can be computed without the others; else an empty
    // tensor.
    [[nodiscard]] virtual Tensor rows_from(Index first) const;
};

// Values of which any row along the last axis can be computed by itself, so that code reading row after row needs no
// room for all of them: for a long text, one number per head, query and key is as much as the largest tensors of a run.
// Rows are numbered across all axes before the last.
class LazyRows : public LazyValues {
public:
    // Writes the rows from `begin` up to, but not including, `end`.
    virtual void rows(Index begin, Index end, std::span<float> values) const = 0;
    // How many values at a row's beginning may differ from −∞; all that follow are certainly −∞.
    [[nodiscard]] virtual Index finite_at_most(Index row) const = 0;
    // The row's values, if they already exist in memory and need not be written; empty if they don't.
    [[nodiscard]] virtual std::span<const float> in_place(Index row) const = 0;
};

}  // namespace decoderscope

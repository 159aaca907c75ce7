#pragma once

#include "engine/index.h"

#include <span>

// Values that are made on demand: a tensor may hold, in place of its numbers, what they are made from. All kinds there
// are:
//
//     kind              where               makes
//     CombinedMasks     ops/masks.h         a mask, from a handful of rules                              rows
//     MaskedScores      ops/masks.h         scores with the fill where the mask is 0                     rows
//     LaterSoftmax      ops/softmax.cpp     probabilities that no step reads
//     ReplacedRows      rows.cpp            an earlier tensor whose rows from one on are others
//     RestWhenRead      execute.cpp         rows that an edit cannot reach, or that nothing waits for
//     MadeAgain         execute.cpp         a tensor that was freed after its last reader
//     Unpacked          linalg.cpp          a weight, from the form that its products read
//
// `rows` marks those that implement LazyRows.
namespace decoderscope {

class Tensor;

// What values are made from when they are first read.
class LazyValues {
public:
    LazyValues() = default;
    LazyValues(const LazyValues&) = delete;
    LazyValues& operator=(const LazyValues&) = delete;
    virtual ~LazyValues() = default;
    // Writes all values, row-major.
    virtual void make(std::span<float> values) const = 0;
    // The tensor's rows (engine/rows.h) from `first` on, where they are to be had without the others; else none.
    [[nodiscard]] virtual Tensor rows_from(Index first) const;
};

// Values of which any row along the last axis can be made by itself, so that a reader of one row after another needs no
// room for all: for a long text a number a head, query and key would be as much as the largest tensors of a run. Rows
// are numbered through the axes before the last.
class LazyRows : public LazyValues {
public:
    // Writes the rows from `begin` to before `end`.
    virtual void rows(Index begin, Index end, std::span<float> values) const = 0;
    // How many values at a row's beginning can be other than −∞; all that follow are −∞ for certain.
    [[nodiscard]] virtual Index finite_at_most(Index row) const = 0;
    // These values where they lie already, so that they need not be written; empty where they have to be.
    [[nodiscard]] virtual std::span<const float> in_place(Index row) const = 0;
};

}  // namespace decoderscope

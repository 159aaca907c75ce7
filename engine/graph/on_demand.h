#pragma once

#include "engine/graph/plan.h"

// Steps whose tensors are not held, and are computed when they are read: whole, or the rows that are asked for. What
// has rows that stand alone (Operation::rows_stand_alone) has the same bits either way.
namespace decoderscope {

// Whether some of a step's rows can be computed without the others, with the same bits.
[[nodiscard]] bool works_by_row(const Step& step, const Operands& in);

// A step's rows from `first` on, or so many of them, without its edits. Operands that come by rows are read a few rows
// at a time.
[[nodiscard]] Tensor computed_rows(const Operation& operation, const Axes& axes, const Operands& in, Index first = 0,
                                   std::optional<Index> count = {});

// One row of a step.
[[nodiscard]] Tensor computed_row(const Operation& operation, const Axes& axes, const Operands& in, Index row);

// From which size on a tensor that isn't kept comes by rows, and how much of it is made at a time: what stays in the
// processor's cache, but no fewer rows than the kernels of products like.
struct Blocks {
    Index from_bytes = 1'000'000, bytes = 8'000'000, rows = 64;
    // A step of more operations is computed in parts of about so many, so that it can be stopped and watched, if each
    // has rows enough for the kernels of large products.
    double operations = 32e9;
    Index part_rows = 512;
    // From this size on a product is made a few rows at a time as well, though that is slower.
    [[nodiscard]] constexpr Index huge_bytes() const { return 256 * from_bytes; }
};

// A step's tensor with its edits. Rules for rows that would take much room as numbers stay rules.
[[nodiscard]] Tensor edited(Tensor tensor, const Step& step, const Blocks& blocks);

// A step's tensor with its edits, to be computed whenever it is read, from these operands. It comes by rows if it can
// and is large.
[[nodiscard]] Tensor made_again(const Step& step, const Operands& in, const Blocks& blocks);

// Whether that tensor would come by rows.
[[nodiscard]] bool would_come_by_rows(const Step& step, const Operands& in, const Blocks& blocks);

// The rows of a step from `begin` on. Those from `first` on are computed now, the others on demand: either they only
// changed where nothing reads them, or nothing waits for them.
[[nodiscard]] Tensor rest_when_read(const Step& step, const Operands& in, Index begin, Index first);

}  // namespace decoderscope

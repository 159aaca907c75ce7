#pragma once

#include "app/core/tabs/bisect/judgement.h"
#include "engine/base/message.h"
#include "engine/graph/run.h"

namespace decoderscope::core::bisect {

// What theirs is to ours, if that is one of what goes wrong between two programs without either computing a wrong
// formula: times a constant, times one for each row, with the other sign, transposed, shifted by a position, rows,
// heads or columns in another order, or one part of several. Empty if it is none of these. `magnitude`: of what they
// were rounded in, if that was larger.
[[nodiscard]] Sentence relation_between(const Tensor& ours, const Tensor& theirs, Arithmetic type,
                                        double magnitude = 0.0);

// Of rows [batch, pos, …] of which theirs are fewer: those of another position than the last.
[[nodiscard]] Sentence relation_of_rows(const Tensor& ours, const Tensor& theirs, Arithmetic type);

// Which rows of a table theirs are, position by position, if they aren't those from `first` on; "0, 1, 2, …". Empty if
// they aren't all of the table's.
[[nodiscard]] std::string rows_of_table(const Tensor& theirs, const Tensor& table, Index first, double magnitude,
                                        Arithmetic type);

// As above, of a step that sums over its main operand's last axis: theirs is the sum over one part of that axis, as one
// device of several has it before the sum over all of them.
[[nodiscard]] Sentence relation_of_part(const Run& run, const Step& step, const Tensor& theirs, Arithmetic type);

}  // namespace decoderscope::core::bisect

#pragma once

#include "engine/base/message.h"
#include "engine/tensor/arithmetic.h"
#include "engine/tensor/tensor.h"

#include <span>
#include <vector>

namespace decoderscope::core::bisect {

// One recorded tensor beside what the same operands give here, number by number.
struct Beside {
    Tensor theirs;
    std::span<const Tensor> ours;  // the ways to compute it; the first is the one that is told from the others
    Tensor kept;                   // 0 for numbers that don't count; empty: all count
    Arithmetic type = Arithmetic::float32;
    bool shifted_by_row = false;  // a number that is added to a whole row makes no difference: scores
};

// Whether a difference is rounding. Rounding is as large as other orders of computation make it on these very numbers,
// and is as often up as down; a mistake is larger, or has a direction.
struct Judgement {
    Index counted = 0;    // numbers that were compared
    Index apart = 0;      // that are not the same in the type, in the way that comes nearest
    double ulps = 0.0;    // the largest distance in units of the type's last place
    std::size_t way = 0;  // the one that comes nearest
    bool differs = false;
    Sentence why;  // what says so; empty if nothing differs
};

[[nodiscard]] Judgement judged(const Beside& beside);

// The middle one of these, which are put into another order; 0 of none.
[[nodiscard]] double median(std::vector<double>& values);

// Whether the type has all of a tensor's numbers.
[[nodiscard]] bool has_all_of(Arithmetic type, const Tensor& tensor);

}  // namespace decoderscope::core::bisect

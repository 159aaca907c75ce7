#pragma once

#include "engine/formulas/elaborate.h"

// Reads formulas as they are written in PyTorch and NumPy, into the same value as index notation:
//
//     softmax(q @ k.mT / sqrt(d_head), dim=-1)            einsum("bhqd,bhkd->bhqk", q, k)
//     x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * w
//
// A tensor is its axes and its cell at their indices, so that `.mT` reorders axes, `mean` binds an index, and
// broadcasting gives two axes one index. Functions and methods are rows of a table (names.txt), which say in
// index notation what they are; those of the book and of the language needn't be in it. A method is PyTorch's if it
// and NumPy's differ (`x.var(-1)`, but `np.var(x, -1)`).
//
//     formula    = [name "="] expression
//     expression = Python's, of + − * / // % @ **, comparisons, & | ~ and or not
//     primary    = number | name | function "(" … ")" | "(" expression ")", then .method(…), .mT, .T, .shape[i],
//                  [:, None, ..., 0, 1:3, ids]
namespace decoderscope::formulas {

// Either notation: index notation has indices on the left, reductions with an index, or signs that Python has not.
// Without a name the result is `y`. Axes fit by size, as in PyTorch; an index over axes of several names has one of
// them written beside it. Throws FormulaError at the place of the mistake, with both shapes if axes don't fit and the
// nearest name if one isn't known.
[[nodiscard]] Formula read(std::string_view text, const Known& known, const Functions& functions);

// Index notation, with all functions of numbers that PyTorch and NumPy have.
[[nodiscard]] Formula read_indexed(std::string_view text, const Known& known, const Functions& functions);

}  // namespace decoderscope::formulas

#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace decoderscope::formulas {

// How many axes the tensor of this name has; 0 if there is none.
using RankOf = std::function<std::size_t(const std::string& name)>;

// A formula as it stands in a paper's source, "\frac{q k^\top}{\sqrt{d_{head}}}" or "\sum_{j} A_{ij} v_{jd}", in the
// signs of the other notations: as many subscripts as a tensor has axes are its indices, whole tensors beside each
// other are a product of matrices, and other factors are multiplied. Throws FormulaError if a brace is missing.
[[nodiscard]] std::string from_latex(std::string_view text, const RankOf& rank_of);

}  // namespace decoderscope::formulas

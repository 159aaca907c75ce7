#pragma once

#include "engine/formulas/formula.h"
#include "engine/ops/written_formula.h"
#include "engine/sheet/scope.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::sheet {

// A formula that a person wrote, as a step computes it.
struct Written {
    ops::WrittenFormula operation;  // its text is the formula in index notation
    std::vector<Read> operands;
};

// Reads a formula in index notation or in PyTorch's. What stands left of "=" may be left out: the indices then come in
// the order in which the formula has them. `name` is what it computes; `numbers` are those that it may name besides the
// sizes of axes. Throws FormulaError at the place of the mistake, with the nearest name in scope if one isn't known.
[[nodiscard]] Written read_formula(std::string_view text, const std::string& name, const Scope& scope,
                                   const std::map<std::string, double, std::less<>>& numbers);

// The axes as formulas have them.
[[nodiscard]] formulas::Shape shape_of(const Axes& axes);

}  // namespace decoderscope::sheet

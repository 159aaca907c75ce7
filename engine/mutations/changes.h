#pragma once

#include "engine/base/json.h"
#include "engine/formulas/formula.h"
#include "engine/graph/plan.h"
#include "engine/model/config.h"
#include "engine/ops/written_formula.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::mutations {

// The configuration's numbers by their keys, and what a condition says of them: "positional_encoding = rope and not
// qk_norm", an expression of the formulas' language. A word is equal to itself alone, and a list is its length.
class Keys {
public:
    explicit Keys(const Config& config) : config_(config) {}

    // Throws formulas::FormulaError if it can't be read.
    [[nodiscard]] double value(std::string_view expression, const std::map<std::string, double>& more = {}) const;
    [[nodiscard]] const std::string& text(const std::string& key) const { return texts().at(key); }
    [[nodiscard]] const std::map<std::string, double, std::less<>>& numbers() const;

private:
    [[nodiscard]] const std::map<std::string, std::string>& texts() const;

    // Most mistakes ask for none of them.
    const Config& config_;
    mutable std::map<std::string, std::string> texts_;
    mutable std::map<std::string, double, std::less<>> numbers_;
};

// Carries out one entry of a mistake's "change": the steps "at" some places (engine/mutations/sites.h) compute
// something else, or from something else. A step that it doesn't fit stays as it is.
//     "edit"      expressions of the step's formula, each with what stands there instead
//     "formula"   another formula, of the step's operands, of those "with" names, under "operands" if the step has no
//                 names for its own; "of": "heads" reads what the heads' results are made of
//     "then"      a formula of what the step computes, x; or "as query": as that step of the attention does
//     "carry"     an operand by its role, or "step NAME": passed on as it is
//     "drop"      an operand by its role: left out
//     "read"      operands by role, by a part of a parameter's name or by name, each with what is read instead
// It may have "when", a condition on the keys and the sizes of the step's axes ("rows" is the last but one); "values"
// and "facts" say which traits the step has then (engine/graph/traits.h).
void apply_change(Plan& plan, const Keys& keys, const OrderedJson& change);

// A step that computes another formula, from the operands that its own reads.
struct Rewritten {
    ops::WrittenFormula operation;
    std::vector<StepId> operands;
    double steps = 0.0;  // what computing it takes
};
// `numbers` are those that the formula may name besides the step's own. Nothing if the step has no formula, or this one
// doesn't fit it.
[[nodiscard]] std::optional<Rewritten> rewritten(const Plan& plan, const Step& step, const formulas::Formula& formula,
                                                 const std::map<std::string, double, std::less<>>& numbers);

}  // namespace decoderscope::mutations

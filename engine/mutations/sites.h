#pragma once

#include "engine/graph/operation.h"
#include "engine/graph/plan.h"

#include <string>
#include <string_view>
#include <vector>

// The places of a plan that mutations change.
namespace decoderscope::mutations::sites {

// The names of the decoder's self-attentions or cross-attentions.
[[nodiscard]] std::vector<std::string> attentions(const Plan& plan, Part part);

// The steps of one attention that read a parameter whose name ends like this: ".q_proj.weight".
[[nodiscard]] std::vector<StepId> readers(const Plan& plan, const std::string& attention, std::string_view parameter);
// The steps of any part that read such a parameter.
[[nodiscard]] std::vector<StepId> readers(const Plan& plan, std::string_view parameter);

// The steps with that trait: norms' outputs, norms' scales.
[[nodiscard]] std::vector<StepId> norms(const Plan& plan);
[[nodiscard]] std::vector<StepId> scales(const Plan& plan);

// The sums of the residual stream whose update comes from that part, with a norm after it or not.
[[nodiscard]] std::vector<StepId> sums_of(const Plan& plan, Part part);
// The part that made a tensor; for a norm's output after a sublayer, the sublayer's part.
[[nodiscard]] Part made_by(const Plan& plan, StepId id);

// Whether a Linear step has a bias; it is operand number 2.
[[nodiscard]] bool has_bias(const Step& step);

}  // namespace decoderscope::mutations::sites

namespace decoderscope::mutations {

// Two operations as one: the second reads the first's output as its first operand, then the operands that the first
// leaves over.   {the first's operands, the second's others} -> the second's axes
struct Then {
    Operation first, second;
    std::size_t read_by_first = 1;  // how many of the operands

    [[nodiscard]] OpDescription about() const { return second.about(); }
    [[nodiscard]] Axes axes(const OperandAxes& in) const;
    [[nodiscard]] OperandRole role_of(std::size_t operand) const {
        return operand < read_by_first ? first.role_of(operand) : second.role_of(operand - read_by_first + 1);
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] bool passes_gradient(std::size_t operand) const;
    [[nodiscard]] OpDescription about_pull_back(std::size_t operand) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const;
    bool operator==(const Then&) const = default;

private:
    [[nodiscard]] Operands first_operands(const Operands& in) const;
    [[nodiscard]] Operands second_operands(const Operands& in, const Tensor& made) const;
    [[nodiscard]] Tensor between(const Operands& in) const;
    void place_of_second(Explanation& explanation) const;
};

}  // namespace decoderscope::mutations

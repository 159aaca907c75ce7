#pragma once

#include "engine/ops/formula.h"

#include <array>
#include <vector>

// A mixture of experts (Shazeer et al. 2017, Fedus et al. 2022): a router scores the experts at each position, the best
// few compute what a dense MLP would, and their outputs are added by weight. A position's experts stand in slots, the
// best first.
namespace decoderscope::ops {

// The numbers of a position's experts: the best by score + correction; of equal ones, the first. With groups, only of
// the groups whose two best add up to the most (DeepSeek-V3), or whose best one is the best (V2). No gradient comes
// through a choice.
// {scores [batch, pos, expert], correction [expert]?} -> [batch, pos, slot]
struct ChooseExperts {
    Index per_token = 1;
    Index groups = 1, top_groups = 1;
    Index group_best = 2;  // how many of a group's best add up to the group's score

    [[nodiscard]] OpDescription about() const { return described(groups > 1 ? "choose_in_groups" : "choose"); }
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return {in[0][0], in[0][1], {axis::slot, per_token}}; }
    [[nodiscard]] static OperandRole role_of(std::size_t operand) {
        return role_in({OperandRole::scores, OperandRole::bias}, operand);
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    bool operator==(const ChooseExperts&) const = default;

private:
    // The experts of one position, from what they are chosen by.
    [[nodiscard]] std::vector<Index> best_of(const std::vector<float>& by) const;
};

// What the outputs of a position's experts are multiplied by: their scores, divided by the sum of these if `normalize`,
// times `scale`.   {scores [batch, pos, expert], expert [batch, pos, slot]} -> [batch, pos, slot]
// Throws Error if an expert's number is none.
struct WeighExperts {
    bool normalize = false;
    double scale = 1.0;

    [[nodiscard]] Axes axes(const OperandAxes& in) const { return in[1]; }
    [[nodiscard]] ByFormula formula() const {
        return {normalize ? "weigh_normalized" : "weigh", {"scores", "expert"}, {{"router_scale", scale}}};
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] ByRow by_row() const { return {{true, true}}; }
    bool operator==(const WeighExperts&) const = default;
};

// What the outputs of a position's experts are multiplied by in Phi-3.5-MoE (sparsemixer, Liu et al. 2023, without the
// sampling of its training): each one's share, by a softmax, among those that were not chosen before it and whose
// logits are at most 2 · jitter below its own, relative to the larger of the two. {logits [batch, pos, expert], expert
// [batch, pos, slot]} -> [batch, pos, slot]
struct WeighAmongTies {
    double jitter = 0.01;

    [[nodiscard]] Axes axes(const OperandAxes& in) const { return in[1]; }
    [[nodiscard]] ByFormula formula() const {
        return {"weigh_among_ties", {"scores", "expert"}, {{"jitter", jitter, "router_jitter"}}};
    }
    [[nodiscard]] ByRow by_row() const { return {{true, true}}; }
    bool operator==(const WeighAmongTies&) const = default;
};

// A Linear of each slot's expert, computed for the positions that chose it and no others. x is one row for all slots of
// a position, or a row for each.
// {x [batch, pos, in] or [batch, pos, slot, in], expert [batch, pos, slot], weight [expert, out, in],
//  bias [expert, out]?} -> [batch, pos, slot, out]
// Throws Error if an expert's number is none.
struct ExpertLinear {
    std::string_view out_axis = axis::out;

    [[nodiscard]] OpDescription about() const { return described("expert_linear"); }
    [[nodiscard]] Axes axes(const OperandAxes& in) const {
        return {in[1][0], in[1][1], in[1][2], {out_axis, in[2][1].size}};
    }
    [[nodiscard]] static OperandRole role_of(std::size_t operand) {
        return role_in({OperandRole::input, OperandRole::expert, OperandRole::weight, OperandRole::bias}, operand);
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const {
        return formula_for(in[0].rank()).explain(in, out, cell);
    }
    [[nodiscard]] ByRow by_row() const { return {{true, true}}; }
    [[nodiscard]] Work work(const OperandAxes& in, const Axes& out) const {
        return formula_for(in[0].size()).work(in, out);
    }
    // As many products as forward, for the positions that chose an expert and no others.
    [[nodiscard]] Work pull_back_work(std::size_t operand, const OperandAxes& in, const Axes& out) const {
        return reading_gradient(in, out,
                                operand == 3 ? element_count(out) : static_cast<Index>(work(in, out).operations));
    }
    [[nodiscard]] bool passes_gradient(std::size_t operand) const { return operand != 1; }
    [[nodiscard]] OpDescription about_pull_back(std::size_t operand) const {
        return gradient_described("expert_linear", kOperands[operand]);
    }
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const {
        return formula_for(b.in[0].rank()).explain_pull_back(operand, b, cell);
    }
    bool operator==(const ExpertLinear&) const = default;

private:
    static constexpr std::array kOperands{"x", "expert", "W", "bias"};
    // For one row of x for all slots of a position, or a row for each.
    [[nodiscard]] static ByFormula formula_for(std::size_t rank) {
        return {rank == 4 ? "expert_linear_of_slots" : "expert_linear",
                {kOperands[0], kOperands[1], kOperands[2], kOperands[3]}};
    }
};

// The sum of what a position's experts give, each times its weight, and of what all positions share, if anything.
// {expert_out [batch, pos, slot, d_model], expert_weight [batch, pos, slot], shared [batch, pos, d_model]?}
// -> [batch, pos, d_model]
struct MixExperts {
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return {in[0][0], in[0][1], in[0][3]}; }
    [[nodiscard]] ByFormula formula() const {
        return {"mix",
                {{"out", OperandRole::input}, {"weight", OperandRole::expert_weight}, {"shared", OperandRole::update}}};
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] ByRow by_row() const { return {{true, true, true}}; }
    bool operator==(const MixExperts&) const = default;
};

}  // namespace decoderscope::ops

#include "engine/ops/experts.h"

#include "engine/ops/norm.h"

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/base/translate.h"
#include "engine/products/linalg.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>

namespace decoderscope::ops {

namespace {

// The number of an expert as a tensor holds it.
Index expert_of(float value, Index experts) {
    const bool is_one = value >= 0.0F && value < static_cast<float>(experts) && value == std::floor(value);
    if (!is_one)
        throw Error("expert {value}, expected a number from 0 to {highest}",
                    {{"value", short_number(static_cast<double>(value))}, {"highest", experts - 1}});
    return static_cast<Index>(value);
}

// Better than another: larger; NaN, all of which are alike, before numbers, as torch.sort has it.
bool is_better(float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
    return a > b;
}

Index rows_of(const Tensor& x) { return x.dim(0) * x.dim(1); }

// What the experts of a position are chosen by.
std::vector<float> chosen_by(const Operands& in, Index row) {
    const std::span<const float> scores = ops::row_of(in[0], row);
    std::vector<float> by(scores.begin(), scores.end());
    if (in.size() > 1) std::ranges::transform(by, in[1].values(), by.begin(), std::plus<>());
    return by;
}

}  // namespace

// ---- who is chosen

std::vector<Index> ChooseExperts::best_of(const std::vector<float>& by) const {
    const auto count = static_cast<Index>(by.size());
    const auto at = [](const std::vector<float>& values, Index i) { return values[static_cast<std::size_t>(i)]; };
    std::vector<bool> allowed(by.size(), top_groups >= groups);
    if (top_groups < groups) {
        const Index size = count / groups;
        std::vector<float> worth;
        for (Index group = 0; group < groups; ++group) {
            std::vector<float> members(by.begin() + group * size, by.begin() + (group + 1) * size);
            std::ranges::stable_sort(members, is_better);
            const auto counted = members.begin() + std::min(group_best, size);
            worth.push_back(std::accumulate(members.begin() + 1, counted, members[0]));
        }
        std::vector<Index> order(worth.size());
        std::iota(order.begin(), order.end(), Index{0});
        std::ranges::stable_sort(order, [&](Index a, Index b) { return is_better(at(worth, a), at(worth, b)); });
        for (Index n = 0; n < top_groups; ++n)
            for (Index member = 0; member < size; ++member)
                allowed[static_cast<std::size_t>(order[static_cast<std::size_t>(n)] * size + member)] = true;
    }
    std::vector<Index> order;
    for (Index expert = 0; expert < count; ++expert)
        if (allowed[static_cast<std::size_t>(expert)]) order.push_back(expert);
    std::ranges::stable_sort(order, [&](Index a, Index b) { return is_better(at(by, a), at(by, b)); });
    order.resize(static_cast<std::size_t>(per_token));
    return order;
}

Tensor ChooseExperts::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    float* to = out.writable().data();
    for (Index row = 0; row < rows_of(in[0]); ++row)
        for (const Index expert : best_of(chosen_by(in, row))) *to++ = static_cast<float>(expert);
    return out;
}

Explanation ChooseExperts::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const std::vector<Index> best = best_of(chosen_by(in, cell[0] * in[0].dim(1) + cell[1]));
    const Index expert = best[static_cast<std::size_t>(cell[2])];
    const Cell score = {cell[0], cell[1], expert};
    std::vector<Term> by = {term({cell_factor(in[0], 0, score)})};
    if (in.size() > 1) by.push_back(term({cell_factor(in[1], 1, {expert})}));
    Line number =
        line("expert", {term({constant_factor(static_cast<double>(expert),
                                              cell[2] == 0 ? tr("the best") : tr("the best that is left"))})});
    number.given.push_back(cell_factor(in[0], 0, score));
    return {{line(in.size() > 1 ? "score + correction" : "score", std::move(by)), std::move(number)}};
}

// ---- how much each counts

namespace {

// The scores of the experts in a position's slots.
std::vector<double> slot_scores(const Tensor& scores, const Tensor& expert, Index row) {
    std::vector<double> found;
    for (const float number : ops::row_of(expert, row))
        found.push_back(static_cast<double>(
            ops::row_of(scores, row)[static_cast<std::size_t>(expert_of(number, scores.axes().back().size))]));
    return found;
}

double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

}  // namespace

Tensor WeighExperts::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    float* to = out.writable().data();
    for (Index row = 0; row < rows_of(in[1]); ++row) {
        const std::vector<double> scores = slot_scores(in[0], in[1], row);
        const double by = scale / (normalize ? sum_of(scores) : 1.0);
        for (const double score : scores) *to++ = static_cast<float>(score * by);
    }
    return out;
}

// ---- what an expert computes

namespace {

// The rows that go through each expert: numbers of slots, counted over all positions.
struct Routed {
    std::vector<std::vector<Index>> slots;  // by expert

    Routed(const Tensor& expert, Index experts) : slots(static_cast<std::size_t>(experts)) {
        Index slot = 0;
        for (const float number : expert.values())
            slots[static_cast<std::size_t>(expert_of(number, experts))].push_back(slot++);
    }

    // Calls work(expert, its slots) for each that has any, on several threads if it pays.
    template <class Work>
    void each(Index cost, const Work& work) const {
        each_in_parallel(static_cast<Index>(slots.size()), cost, [&](Index expert) {
            const std::vector<Index>& own = slots[static_cast<std::size_t>(expert)];
            if (!own.empty()) work(expert, own);
        });
    }
};

// Rows of a slot's tensor, or of a position's, gathered one after another.
std::vector<float> gathered(const Tensor& x, std::span<const Index> slots, Index per_position) {
    const Index width = x.axes().back().size, slots_a_row = x.rank() == 4 ? 1 : per_position;
    std::vector<float> rows;
    rows.reserve(slots.size() * static_cast<std::size_t>(width));
    for (const Index slot : slots) {
        const float* row = x.data() + slot / slots_a_row * width;
        rows.insert(rows.end(), row, row + width);
    }
    return rows;
}

// Roughly what one expert's product costs, if all share the work.
Index cost_of(const Operands& in) { return in[1].size() * in[2].dim(1) * in[2].dim(2) / in[2].dim(0) + 1; }

}  // namespace

Tensor ExpertLinear::compute(const Operands& in, const Axes& axes) const {
    const Index experts = in[2].dim(0), outputs = in[2].dim(1), inputs = in[2].dim(2);
    const float* weights = in[2].data();
    const float* biases = in.size() > 3 ? in[3].data() : nullptr;
    static_cast<void>(in[0].data());  // computed once, not by each thread
    Tensor out(axes);
    float* to = out.writable().data();
    // A row has the same bits whichever others go to its expert.
    const bool together = products::rows_stand_alone(inputs, outputs);
    Routed(in[1], experts).each(cost_of(in), [&](Index expert, std::span<const Index> slots) {
        const products::ConstMatrix weight = {weights + expert * outputs * inputs, outputs, inputs, inputs};
        for (std::size_t first = 0; first < slots.size(); first += together ? slots.size() : 1) {
            const std::span<const Index> some = slots.subspan(first, together ? slots.size() : 1);
            const auto rows = static_cast<Index>(some.size());
            const std::vector<float> x = gathered(in[0], some, in[1].dim(2));
            std::vector<float> y(static_cast<std::size_t>(rows * outputs));
            const products::Matrix product = {y.data(), rows, outputs, outputs};
            products::multiply_transposed({x.data(), rows, inputs, inputs}, weight, product);
            if (biases != nullptr) products::add_to_rows(biases + expert * outputs, product);
            for (Index row = 0; row < rows; ++row)
                std::copy_n(y.data() + row * outputs, outputs, to + some[static_cast<std::size_t>(row)] * outputs);
        }
    });
    return out;
}

Tensor ExpertLinear::pull_back(std::size_t operand, const Backward& b) const {
    const Tensor &x = b.in[0], &weight = b.in[2];
    const Index experts = weight.dim(0), outputs = weight.dim(1), inputs = weight.dim(2), in_slots = b.in[1].dim(2);
    const Routed routed(b.in[1], experts);
    const float* grad = b.grad.data();
    static_cast<void>(x.data());
    Tensor out(b.in[operand].axes());
    const std::span<float> to = out.writable();
    std::ranges::fill(to, 0.0F);
    if (operand == 0) {
        std::vector<float> of_slots(static_cast<std::size_t>(b.in[1].size() * inputs));
        routed.each(cost_of(b.in), [&](Index expert, std::span<const Index> slots) {
            const auto rows = static_cast<Index>(slots.size());
            const std::vector<float> g = gathered(b.grad, slots, in_slots);
            std::vector<float> y(static_cast<std::size_t>(rows * inputs));
            products::multiply({g.data(), rows, outputs, outputs},
                               {weight.data() + expert * outputs * inputs, outputs, inputs, inputs},
                               {y.data(), rows, inputs, inputs});
            for (Index row = 0; row < rows; ++row)
                std::copy_n(y.data() + row * inputs, inputs,
                            of_slots.data() + slots[static_cast<std::size_t>(row)] * inputs);
        });
        const Index slots_a_row = x.rank() == 4 ? 1 : in_slots;
        for (Index slot = 0; slot < b.in[1].size(); ++slot)
            for (Index i = 0; i < inputs; ++i)
                to[static_cast<std::size_t>(slot / slots_a_row * inputs + i)] +=
                    of_slots[static_cast<std::size_t>(slot * inputs + i)];
        return out;
    }
    routed.each(cost_of(b.in), [&](Index expert, std::span<const Index> slots) {
        const auto rows = static_cast<Index>(slots.size());
        if (operand == 3) {
            for (Index o = 0; o < outputs; ++o) {
                double sum = 0.0;
                for (const Index slot : slots) sum += static_cast<double>(grad[slot * outputs + o]);
                to[static_cast<std::size_t>(expert * outputs + o)] = static_cast<float>(sum);
            }
            return;
        }
        const std::vector<float> g = gathered(b.grad, slots, in_slots), read = gathered(x, slots, in_slots);
        products::multiply_turned({g.data(), rows, outputs, outputs}, {read.data(), rows, inputs, inputs},
                                  {to.data() + expert * outputs * inputs, outputs, inputs, inputs});
    });
    return out;
}

// ---- the sum

Tensor MixExperts::compute(const Operands& in, const Axes& axes) const {
    const Index slots = in[0].dim(2), width = axes[2].size;
    const float* results = in[0].data();
    const float* weights = in[1].data();
    const float* shared = in.size() > 2 ? in[2].data() : nullptr;
    Tensor out(axes);
    float* to = out.writable().data();
    in_parallel(rows_of(in[0]), slots * width * kCopyCost, [&](Index begin, Index end) {
        for (Index row = begin; row < end; ++row)
            for (Index d = 0; d < width; ++d) {
                float sum = 0.0F;
                for (Index slot = row * slots; slot < (row + 1) * slots; ++slot)
                    sum += weights[slot] * results[slot * width + d];
                to[row * width + d] = shared != nullptr ? sum + shared[row * width + d] : sum;
            }
    });
    return out;
}

}  // namespace decoderscope::ops

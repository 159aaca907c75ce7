#include "engine/base/translate.h"
#include "engine/graph/operation.h"
#include "engine/mutations/mutations.h"
#include "engine/mutations/sites.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace decoderscope::mutations {

namespace {

// A softmax that sums over an axis before the last: over queries (2) or heads (1) in place of keys.
// {x [batch, head, query, key]} -> the same axes
struct SoftmaxAlong {
    std::size_t axis = 2;

    [[nodiscard]] OpDescription about() const {
        return {
            tr("softmax over another axis"), "y[…, i, …] = exp(x[…, i, …]) / Σ_j exp(x[…, j, …])",
            tr("The weights of one key, not of one query, sum to 1: a wrong dim in the softmax. With the causal mask "
               "the last query nearly keeps its weights, which hides the mistake.")};
    }
    [[nodiscard]] static OperandRole role_of(std::size_t) { return OperandRole::scores; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const {
        const Tensor& x = in[0];
        Tensor out(axes);
        const std::span<float> y = out.writable();
        Index inner = 1;
        for (std::size_t i = axis + 1; i < axes.size(); ++i) inner *= axes[i].size;
        const Index length = axes[axis].size;
        for (Index start = 0; start < x.size(); start += inner * length) {
            for (Index column = 0; column < inner; ++column) {
                const auto at = [&](Index i) { return static_cast<std::size_t>(start + i * inner + column); };
                float highest = -std::numeric_limits<float>::infinity();
                for (Index i = 0; i < length; ++i) highest = std::max(highest, x.data()[at(i)]);
                double sum = 0.0;
                for (Index i = 0; i < length; ++i) sum += std::exp(static_cast<double>(x.data()[at(i)] - highest));
                for (Index i = 0; i < length; ++i)
                    y[at(i)] = static_cast<float>(std::exp(static_cast<double>(x.data()[at(i)] - highest)) / sum);
            }
        }
        return out;
    }
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor&, const Cell& cell) const {
        const Tensor& x = in[0];
        Cell other = cell;
        double highest = -std::numeric_limits<double>::infinity(), sum = 0.0;
        for (other[axis] = 0; other[axis] < x.dim(axis); ++other[axis])
            highest = std::max(highest, static_cast<double>(x.at(other)));
        for (other[axis] = 0; other[axis] < x.dim(axis); ++other[axis])
            sum += std::exp(static_cast<double>(x.at(other)) - highest);
        const auto value = static_cast<double>(x.at(cell));
        return {
            {line(tr("weight"),
                  {term({derived_factor(std::exp(value - highest), "exp(" + short_number(value) + " − max)", 0, cell),
                         constant_factor(1.0 / sum, "1/" + short_number(sum))})})}};
    }
    bool operator==(const SoftmaxAlong&) const = default;
};

// The mask is applied to the weights: softmax over all keys, then what is masked becomes 0, so that rows no longer sum
// to 1.   {scores [batch, head, query, key], mask [batch, head, query, key]} -> the same axes
struct SoftmaxThenMask {
    [[nodiscard]] OpDescription about() const {
        return {tr("softmax, then mask"), "y[…, k] = mask[…, k] · softmax(scores)[…, k]",
                tr("The softmax has already distributed all of the weight, masked keys included, when the mask removes "
                   "theirs: rows sum to less than 1, and the future still affects what remains.")};
    }
    [[nodiscard]] static ops::ByFormula formula() {
        return {"weight[…, k] = mask[…, k] · softmax_k(scores[…, k])", {"scores", "mask"}};
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const {
        Operands scores;
        scores.add(in[0]);
        Tensor out = ops::Softmax{}.compute(scores, axes);
        const std::span<float> weights = out.writable();
        for (std::size_t i = 0; i < weights.size(); ++i)
            if (in[1].data()[i] == 0.0F) weights[i] = 0.0F;
        return out;
    }
    bool operator==(const SoftmaxThenMask&) const = default;
};

// A mask of zeros and ones that is added to the scores instead of filled in.
// {scores [batch, head, query, key], mask [batch, head, query, key]} -> the same axes
struct AddMask {
    float kept = 1.0F, hidden = 0.0F;  // what is added where the mask keeps, and where it hides

    [[nodiscard]] OpDescription about() const {
        return {tr("mask added to the scores"), "y[b, h, q, k] = scores[b, h, q, k] + (mask ? kept : hidden)",
                tr("A mask of zeros and ones is added to the scores. One more or less in a score is a factor of e, not "
                   "nothing: the future is seen.")};
    }
    [[nodiscard]] ops::ByFormula formula() const {
        return {"masked[…, k] = scores[…, k] + (mask[…, k] ? kept : hidden)",
                {"scores", "mask"},
                {{"kept", static_cast<double>(kept)}, {"hidden", static_cast<double>(hidden)}}};
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const {
        Tensor out(axes);
        const std::span<float> y = out.writable();
        for (std::size_t i = 0; i < y.size(); ++i) y[i] = in[0].data()[i] + (in[1].data()[i] != 0.0F ? kept : hidden);
        return out;
    }
    bool operator==(const AddMask&) const = default;
};

}  // namespace

}  // namespace decoderscope::mutations

namespace decoderscope::mutations::lists {

namespace {

double right_scale(const Config& config) {
    return config.attention_scale > 0.0 ? config.attention_scale
                                        : 1.0 / std::sqrt(static_cast<double>(config.d_head()));
}

}  // namespace

void scale(std::vector<Mutation>& list) {
    list.push_back({.name = "no-scale",
                    .cause = message("The scores are not divided by √d_head."),
                    .configure = [](Config& config) { config.attention_scale = 1.0; }});
    list.push_back({.name = "scale-by-d-head",
                    .cause = message("The scores are multiplied by 1/√d_head."),
                    .configure = [](Config& config) { config.attention_scale = 0.0; }});
    list.push_back({.name = "scale-by-d-model",
                    .cause = message("The scores are divided by √d_model instead of √d_head."),
                    .configure = [](Config& config) {
                        config.attention_scale = 1.0 / std::sqrt(static_cast<double>(config.d_model));
                    }});
    list.push_back(
        {.name = "scale-without-root",
         .cause = message("The scores are divided by d_head instead of its root."),
         .configure = [](Config& config) { config.attention_scale = 1.0 / static_cast<double>(config.d_head()); }});
    list.push_back({.name = "scale-multiplied",
                    .cause = message("The scores are multiplied by √d_head instead of divided by it."),
                    .configure = [](Config& config) { config.attention_scale = 1.0 / right_scale(config); }});
    list.push_back({.name = "scaled-twice",
                    .cause = message("The scores are divided by √d_head twice: once in the query, once in the scores."),
                    .configure = [](Config& config) { config.attention_scale = std::pow(right_scale(config), 2); }});
}

namespace {

Mutation filled(std::string_view name, Phrase cause, float value) {
    return {.name = name,
            .cause = cause,
            .configure = [value](Config& config) { config.mask_value = value; },
            .harmless = value < -1e3F};
}

// Adds a mask of zeros and ones to the scores instead of filling it in.
Mutation added(std::string_view name, Phrase cause, float kept, float hidden) {
    return {.name = name,
            .cause = cause,
            .change =
                [kept, hidden](Plan& plan, const Config&) {
                    for (const std::string& attention : plan.attentions())
                        if (const Ref masked = plan.step_of(attention, AttentionStep::masked_scores);
                            masked != nullptr && masked->operands.size() == 2)
                            plan.replace(masked->id, AddMask{kept, hidden}, masked->operands);
                },
            .harmless = hidden < -1e3F};
}

}  // namespace

void fills(std::vector<Mutation>& list) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    list.push_back(
        {.name = "mask-after-softmax",
         .cause = message("The mask is applied after the softmax: the remaining weights no longer sum to 1."),
         .change = [](Plan& plan, const Config&) {
             for (const std::string& attention : plan.attentions()) {
                 const Ref masked = plan.step_of(attention, AttentionStep::masked_scores);
                 const Ref pattern = plan.step_of(attention, AttentionStep::pattern);
                 if (masked == nullptr || pattern == nullptr || masked->operands.size() != 2) continue;
                 const std::vector<StepId> read = {masked->operands[0], masked->operands[1]};
                 plan.replace(masked->id, ops::Identity{}, {read[0]});
                 plan.replace(pattern->id, SoftmaxThenMask{}, read);
             }
         }});
    list.push_back(added("mask-added-as-float",
                         message("The mask of zeros and ones is added to the scores instead of filled in: the future "
                                 "leaks."),
                         1.0F, 0.0F));
    list.push_back(added("inverted-mask-added-as-float",
                         message("A mask with 1 for what is hidden is added to the scores: hidden keys weigh more."),
                         0.0F, 1.0F));
    list.push_back(added(
        "mask-subtracted-as-float",
        message("1 is subtracted from hidden scores, although −∞ or a large negative number is meant."), 0.0F, -1.0F));
    list.push_back(added("additive-mask-of-ones",
                         message("The additive mask has ones in place of zeros: the softmax doesn't see it."), 1.0F,
                         -kInfinity));
    list.push_back(filled("fill-zero",
                          message("Masked scores are set to 0, or to a number close to it such as 1e-9 instead of "
                                  "−1e9: a score like any other."),
                          0.0F));
    list.push_back(filled("fill-minus-one", message("Masked scores are set to −1."), -1.0F));
    list.push_back(filled("fill-plus", message("Masked scores are set to a large number with the wrong sign."), 1e9F));
    list.push_back(filled("fill-minus-infinity", message("Masked scores are set to −∞."), -kInfinity));
    list.push_back({.name = "fill-overflows",
                    .cause = message("The fill is too large for half precision and becomes −∞: a row with nothing left "
                                     "is NaN."),
                    .configure = [](Config& config) {
                        constexpr float kLargestHalf = 65504.0F;
                        if (config.mask_value < -kLargestHalf) config.mask_value = -kInfinity;
                    }});
    list.push_back(filled("fill-1e4", message("Masked scores are set to −1e4."), -1e4F));
    list.push_back(
        filled("fill-65504", message("Masked scores are set to −65504, half precision's lowest."), -65504.0F));
    list.push_back(filled("fill-1e9", message("Masked scores are set to −1e9."), -1e9F));
    list.push_back(filled("fill-1e20", message("Masked scores are set to −1e20."), -1e20F));
    list.push_back(filled("fill-lowest", message("Masked scores are set to the lowest float."),
                          std::numeric_limits<float>::lowest()));
}

namespace {

std::function<void(Plan&, const Config&)> pattern_by(const Operation& operation) {
    return [operation](Plan& plan, const Config&) {
        for (const std::string& attention : plan.attentions())
            if (const Ref pattern = plan.step_of(attention, AttentionStep::pattern))
                plan.replace(pattern->id, operation, pattern->operands);
    };
}

}  // namespace

void softmax(std::vector<Mutation>& list) {
    list.push_back({.name = "softmax-over-queries",
                    .cause = message("The softmax sums over queries instead of keys: a wrong dim."),
                    .change = pattern_by(SoftmaxAlong{2})});
    list.push_back({.name = "softmax-over-heads",
                    .cause = message("The softmax sums over heads instead of keys: a wrong dim."),
                    .change = pattern_by(SoftmaxAlong{1})});
    list.push_back({.name = "softmax-over-batch",
                    .cause = message("The softmax sums over the batch instead of keys: a wrong dim."),
                    .change = pattern_by(SoftmaxAlong{0})});
    list.push_back({.name = "no-softmax",
                    .cause = message("There is no softmax: the scores themselves are the weights."),
                    .change = pattern_by(ops::Identity{})});
    list.push_back({.name = "softmax-twice",
                    .cause = message("The softmax is taken twice."),
                    .change = pattern_by(Then{ops::Softmax{}, ops::Softmax{}})});
}

}  // namespace decoderscope::mutations::lists

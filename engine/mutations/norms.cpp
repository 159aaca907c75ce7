#include "engine/base/translate.h"
#include "engine/graph/operation.h"
#include "engine/mutations/mutations.h"
#include "engine/mutations/sites.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/norm.h"
#include "engine/tensor/row_math.h"

#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope::mutations {

namespace {

// Mean and variance of one column of one batch row, over its positions.
std::pair<double, double> moments(const Tensor& x, Index batch, Index column) {
    double sum = 0.0, squares = 0.0;
    const Index positions = x.dim(1);
    for (Index p = 0; p < positions; ++p) sum += static_cast<double>(x.at(Cell{batch, p, column}));
    const double mean = sum / static_cast<double>(positions);
    for (Index p = 0; p < positions; ++p)
        squares += std::pow(static_cast<double>(x.at(Cell{batch, p, column})) - mean, 2);
    return {mean, squares / static_cast<double>(positions)};
}

// A norm's scale with the wrong spread: over n − 1, or with eps outside the root.
// {x [batch, pos, d_model]} -> [batch, pos, 1]
struct WrongScale {
    ScaleFacts facts;

    [[nodiscard]] OpDescription about() const {
        return {
            tr("a norm's scale, computed differently"), "scale[b, p] = std_d x[b, p, d]",
            tr("The spread of the row by a different formula: over n − 1 instead of n, or with eps added outside the "
               "root. It shows for short rows, and hardly at all for long ones.")};
    }
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return {in[0][0], in[0][1], {axis::one, 1}}; }
    [[nodiscard]] static OperandRole role_of(std::size_t) { return OperandRole::input; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const {
        Tensor out(axes);
        const std::span<float> scale = out.writable();
        for (Index row = 0; row < out.size(); ++row)
            scale[static_cast<std::size_t>(row)] = static_cast<float>(scale_of(in[0], row));
        return out;
    }
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor&, const Cell& cell) const {
        const double scale = scale_of(in[0], cell[0] * in[0].dim(1) + cell[1]);
        return {{line(tr("scale"), {term({constant_factor(scale, tr("spread of the row"))})})}};
    }
    [[nodiscard]] Traits traits() const { return {.values = Values::non_negative, .scale = facts}; }
    bool operator==(const WrongScale&) const = default;

private:
    [[nodiscard]] double scale_of(const Tensor& x, Index row) const {
        const std::span<const float> values = ops::row_of(x, row);
        const double squares = row::squares(values, ops::centre_of(values, facts.centred));
        return facts.scale_of(squares, static_cast<double>(values.size()));
    }
};

// LayerNorm over the positions of each column instead of the columns of each position.
// {x [batch, pos, d_model], gain [d_model], shift [d_model]?} -> the same axes
struct NormOverPositions {
    double eps = 1e-5;

    [[nodiscard]] OpDescription about() const {
        return {tr("LayerNorm over positions"),
                "y[b, p, d] = (x[b, p, d] − mean_p) / √(variance_p + eps) · gain[d] + shift[d]",
                tr("Mean and variance are taken along the text, not along the row: each position sees all others, the "
                   "later ones included.")};
    }
    [[nodiscard]] ops::ByFormula formula() const {
        return {
            "normalized[b, p, d] = (x[b, p, d] − mean[b, d]) / scale[b, d] · gain[d] + shift[d]? "  // not a message: a
                                                                                                    // formula
            "where scale[b, d] = √(mean_p (x[b, p, d] − mean[b, d])² + eps); mean[b, d] = mean_p x[b, p, d]",
            {"x", "gain", "shift"},
            {{"eps", eps}}};
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const {
        const Tensor& x = in[0];
        Tensor out(axes);
        const std::span<float> y = out.writable();
        for (Index b = 0; b < x.dim(0); ++b) {
            for (Index d = 0; d < x.dim(2); ++d) {
                const auto [mean, variance] = moments(x, b, d);
                const double scale = std::sqrt(variance + eps);
                for (Index p = 0; p < x.dim(1); ++p) {
                    const auto at = static_cast<std::size_t>(x.offset(Cell{b, p, d}));
                    const double normalized = (static_cast<double>(x.data()[at]) - mean) / scale;
                    const double shift = in.size() > 2 ? static_cast<double>(in[2].data()[d]) : 0.0;
                    y[at] = static_cast<float>(normalized * static_cast<double>(in[1].data()[d]) + shift);
                }
            }
        }
        return out;
    }
    bool operator==(const NormOverPositions&) const = default;
};

// A norm whose gain, shift or mean is left out: (x − mean?) / scale · gain? + shift?
// {x [batch, pos, d_model], scale [batch, pos, 1], then gain [d_model] and shift [d_model] as far as used}
// -> [batch, pos, d_model]
struct PartialNorm {
    bool centred = true, gain = true, shift = true;

    [[nodiscard]] OpDescription about() const {
        return {tr("a norm with a part left out"),
                "y[b, p, d] = (x[b, p, d] − mean?) / scale[b, p] · gain[d]? + shift[d]?",
                tr("The mean, the gain or the shift is not applied, as if it were 0, 1 or 0. With freshly initialised "
                   "weights this could not be seen; with trained ones it can.")};
    }
    [[nodiscard]] ops::ByFormula formula() const {
        const std::string centre = centred ? "(x[b, p, d] − mean[b, p])" : "x[b, p, d]";
        return {"normalized[b, p, d] = " + centre + " / scale[b, p] · gain[d]? + shift[d]? " +
                    (centred ? "where mean[b, p] = mean_d x[b, p, d]" : ""),  // not a message: a formula
                {"x", "scale", gain ? "gain" : "shift", "shift"}};
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const {
        Tensor out(axes);
        const std::span<float> y = out.writable();
        const std::size_t width = static_cast<std::size_t>(axes.back().size);
        for (Index row = 0; row < in[1].size(); ++row) {
            const std::span<const float> x = ops::row_of(in[0], row);
            const double centre = ops::centre_of(x, centred);
            const auto scale = static_cast<double>(in[1].data()[row]);
            for (std::size_t d = 0; d < width; ++d) {
                double value = (static_cast<double>(x[d]) - centre) / scale;
                if (gain) value *= static_cast<double>(in[2].data()[d]);
                if (shift) value += static_cast<double>(in[gain ? 3 : 2].data()[d]);
                y[static_cast<std::size_t>(row) * width + d] = static_cast<float>(value);
            }
        }
        return out;
    }
    bool operator==(const PartialNorm&) const = default;
};

}  // namespace

}  // namespace decoderscope::mutations

namespace decoderscope::mutations::lists {

namespace {

std::function<void(Plan&, const Config&)> scale_by(const std::function<void(ScaleFacts&)>& change) {
    return [change](Plan& plan, const Config&) {
        for (const StepId id : sites::scales(plan)) {
            ScaleFacts facts = *plan[id].operation.traits().scale;
            change(facts);
            plan.replace(id, WrongScale{facts}, plan[id].operands);
        }
    };
}

Mutation eps(std::string_view name, Phrase cause, double value) {
    return {.name = name, .cause = cause, .configure = [value](Config& config) { config.layer_norm_eps = value; }};
}

// Norms with a part left out.
std::function<void(Plan&, const Config&)> partial(bool centred, bool gain, bool shift) {
    return [=](Plan& plan, const Config&) {
        for (const StepId id : sites::norms(plan)) {
            const std::vector<StepId> read = plan[id].operands;
            const NormFacts facts = *plan[id].operation.traits().norm;
            const auto gain_read = plan[id].operand(OperandRole::gain),
                       shift_read = plan[id].operand(OperandRole::shift);
            if (facts.gain_offset != 0.0F) continue;
            std::vector<StepId> kept = {read[0], read[1]};
            if (gain && gain_read) kept.push_back(*gain_read);
            if (shift && shift_read) kept.push_back(*shift_read);
            plan.replace(id, PartialNorm{facts.centred && centred, gain && gain_read, shift && shift_read}, kept);
        }
    };
}

// The same parameter of the block's first norm: "layers.0.norm1.weight" for "layers.0.norm2.weight".
Ref of_first_norm(const Plan& plan, std::string name, std::string_view later) {
    const std::size_t at = name.find(later);
    if (at == std::string::npos) return nullptr;
    name[at + 5] = '1';
    return plan.find(name);
}

// Norms of these numbers use the parameters of the block's first.
void use_first(Plan& plan, std::string_view later) {
    for (const StepId id : sites::norms(plan)) {
        std::vector<StepId> read = plan[id].operands;
        for (StepId& operand : read)
            if (const Ref first = of_first_norm(plan, plan[operand].name, later); first != nullptr && first->id < id)
                operand = first->id;
        if (read != plan[id].operands) plan.replace(id, plan[id].operation, read);
    }
}

}  // namespace

void norms(std::vector<Mutation>& list) {
    list.push_back({.name = "norm-elsewhere",
                    .cause = message("The norm placement is wrong: Post-Norm instead of Pre-Norm, or vice versa."),
                    .configure = [](Config& config) {
                        config.norm_first = config.placement() != NormPlacement::pre;
                        config.norm_placement.reset();
                    }});
    list.push_back({.name = "norm-behind-sublayer",
                    .cause = message("The norm comes after the sublayer, before the sum: x + norm(f(x))."),
                    .configure = [](Config& config) { config.norm_placement = NormPlacement::reordered; }});
    list.push_back({.name = "no-final-norm",
                    .cause = message("The norm after the last block is missing."),
                    .change = [](Plan& plan, const Config&) {
                        if (const Ref norm = plan.find("ln_final.normalized"))
                            plan.replace(norm->id, ops::Identity{}, {norm->operands[0]});
                    }});
    list.push_back({.name = "norm-over-positions",
                    .cause = message("The norms take mean and variance over the positions instead of the columns."),
                    .change = [](Plan& plan, const Config& config) {
                        for (const StepId id : sites::norms(plan)) {
                            std::vector<StepId> read = plan[id].operands;
                            if (!plan[id].operand(OperandRole::gain)) continue;
                            read.erase(read.begin() + 1);
                            plan.replace(id, NormOverPositions{config.layer_norm_eps}, read);
                        }
                    }});
    list.push_back({.name = "unbiased-std",
                    .cause = message("The norm divides by torch.std, over n − 1, with eps outside the root."),
                    .change = scale_by([](ScaleFacts& facts) { facts.unbiased = facts.eps_outside = true; })});
    list.push_back({.name = "unbiased-variance",
                    .cause = message("The norm's variance is taken over n − 1 instead of n."),
                    .change = scale_by([](ScaleFacts& facts) {
                        facts.unbiased = true;
                        facts.eps_outside = false;
                    })});
    list.push_back({.name = "biased-variance",
                    .cause = message("The norm's variance is taken over n, with eps under the root."),
                    .change = scale_by([](ScaleFacts& facts) { facts.unbiased = facts.eps_outside = false; })});
    list.push_back({.name = "eps-outside-root",
                    .cause = message("The norm adds eps outside the root instead of under it."),
                    .change = scale_by([](ScaleFacts& facts) {
                        facts.unbiased = false;
                        facts.eps_outside = true;
                    })});
    list.push_back({.name = "no-mean",
                    .cause = message("The norm does not subtract the mean: an RMSNorm instead of a LayerNorm."),
                    .change = [](Plan& plan, const Config& config) {
                        scale_by([](ScaleFacts& facts) { facts.centred = false; })(plan, config);
                        partial(false, true, true)(plan, config);
                    }});
    list.push_back({.name = "rmsnorm-for-layernorm",
                    .cause = message("The norms are RMSNorms, without mean and shift, instead of LayerNorms."),
                    .configure = [](Config& config) {
                        if (is_centred(config.norm)) config.norm = NormKind::rmsnorm;
                    }});
    list.push_back({.name = "layernorm-for-rmsnorm",
                    .cause = message("The norm subtracts the mean: a LayerNorm instead of an RMSNorm."),
                    .change = [](Plan& plan, const Config&) {
                        for (const StepId id : sites::scales(plan)) {
                            ScaleFacts facts = *plan[id].operation.traits().scale;
                            facts.centred = true;
                            plan.replace(id, WrongScale{facts}, plan[id].operands);
                        }
                        for (const StepId id : sites::norms(plan)) {
                            const bool gain = plan[id].operand(OperandRole::gain).has_value();
                            const bool shift = plan[id].operand(OperandRole::shift).has_value();
                            plan.replace(id, PartialNorm{true, gain, shift}, plan[id].operands);
                        }
                    }});
    list.push_back({.name = "gain-not-applied",
                    .cause = message("The norms' gain is not applied."),
                    .change = partial(true, false, true)});
    list.push_back({.name = "shift-not-applied",
                    .cause = message("The norms' shift is not applied."),
                    .change = partial(true, true, false)});
    list.push_back({.name = "gain-plus-one",
                    .cause = message("The norm's gain is 1 + weight, as in Gemma."),
                    .configure = [](Config& config) {
                        if (config.norm == NormKind::rmsnorm) config.norm = NormKind::rmsnorm_plus_one;
                    }});
    list.push_back({.name = "gain-without-one",
                    .cause = message("The norm's gain is the weight alone, although 1 + weight is meant, as in Gemma."),
                    .configure = [](Config& config) {
                        if (config.norm == NormKind::rmsnorm_plus_one) config.norm = NormKind::rmsnorm;
                    }});
    list.push_back({.name = "one-norm-for-both",
                    .cause = message("The MLP's norm has the parameters of self-attention's: one module is used for "
                                     "both."),
                    .change = [](Plan& plan, const Config& config) {
                        use_first(plan, config.cross_attention ? ".norm3." : ".norm2.");
                    }});
    list.push_back({.name = "one-norm-for-all",
                    .cause = message("All norms of a block have the parameters of its first: one module is used for "
                                     "all."),
                    .change = [](Plan& plan, const Config&) {
                        use_first(plan, ".norm2.");
                        use_first(plan, ".norm3.");
                    }});
    list.push_back(eps("eps-1e-6", message("The norm's eps is 1e-6."), 1e-6));
    list.push_back(eps("eps-1e-5", message("The norm's eps is 1e-5."), 1e-5));
    list.push_back(eps("eps-1e-8", message("The norm's eps is 1e-8."), 1e-8));
    list.push_back(eps("eps-1e-12", message("The norm's eps is 1e-12."), 1e-12));
    list.push_back(eps("eps-1e-3", message("The norm's eps is 1e-3."), 1e-3));
    list.push_back(eps("eps-1e-2", message("The norm's eps is 1e-2."), 1e-2));
    list.push_back(eps("eps-1e-1", message("The norm's eps is 0.1."), 0.1));
}

}  // namespace decoderscope::mutations::lists

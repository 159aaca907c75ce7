#include "engine/ops/experts.h"
#include "engine/base/translate.h"
#include "engine/graph/operation.h"
#include "engine/mutations/mutations.h"
#include "engine/mutations/sites.h"

#include <limits>
#include <vector>

namespace decoderscope::mutations {

namespace {

// Steps of mixtures of experts that only a mistake needs.
// The scores with the correction that should only choose.
// {scores [batch, pos, expert], correction [expert]} -> [batch, pos, expert]
struct CorrectScores {
    [[nodiscard]] OpDescription about() const {
        return {tr("scores with the correction"), "y[b, p, e] = scores[b, p, e] + correction[e]",
                tr("The correction balances the experts' load: it should decide which experts are chosen, not how much "
                   "their outputs count.")};
    }
    [[nodiscard]] static ops::ByFormula formula() {
        return {"score[…, e] = scores[…, e] + bias[e]", {"scores", "bias"}};
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const {
        Tensor out(axes);
        const std::span<float> y = out.writable();
        const std::span<const float> correction = in[1].values();
        for (std::size_t i = 0; i < y.size(); ++i) y[i] = in[0].data()[i] + correction[i % correction.size()];
        return out;
    }
    bool operator==(const CorrectScores&) const = default;
};

}  // namespace

}  // namespace decoderscope::mutations

namespace decoderscope::mutations::lists {

namespace {

// The step that weighs the experts that another one chose.
Ref weighing(const Plan& plan, const Step& choice) {
    for (const Step& step : plan.steps())
        if (step.operands.size() == 2 && step.operands[0] == choice.operands[0] && step.operands[1] == choice.id)
            return &step;
    return nullptr;
}

// Changes each choice of experts that a correction takes part in.
template <class Change>
std::function<void(Plan&, const Config&)> each_corrected(Change change) {
    return [change](Plan& plan, const Config&) {
        for (const StepId id : sites::readers(plan, ".router.correction")) change(plan, plan[id]);
    };
}

Mutation of_experts(std::string_view name, Phrase cause, void (*configure)(Config&)) {
    return {.name = name, .cause = cause, .configure = [configure](Config& config) {
                if (config.experts > 0) configure(config);
            }};
}

Mutation of_clamped(std::string_view name, Phrase cause, void (*configure)(Config&)) {
    return {.name = name, .cause = cause, .configure = [configure](Config& config) {
                if (config.activation == ActivationKind::swiglu_clamped) configure(config);
            }};
}

void clamped_swiglu(std::vector<Mutation>& list) {
    list.push_back(of_clamped("swiglu-not-clamped", message("Gate and up are not clamped to swiglu_limit."),
                              [](Config& config) { config.swiglu_limit = std::numeric_limits<float>::max(); }));
    list.push_back(of_clamped("swiglu-alpha-1",
                              message("The sigmoid of the gate is taken without swiglu_alpha: plain SiLU."),
                              [](Config& config) { config.swiglu_alpha = 1.0; }));
    list.push_back(of_clamped("swiglu-plain",
                              message("The MLP is silu(gate) · up: nothing is clamped, and no 1 is added to up."),
                              [](Config& config) { config.activation = ActivationKind::silu; }));
}

}  // namespace

void experts(std::vector<Mutation>& list) {
    list.push_back(of_experts("expert-weights-not-normalized",
                              message("The weights of the chosen experts are not divided by their sum."),
                              [](Config& config) { config.router_normalize = false; }));
    list.push_back(
        of_experts("expert-weights-normalized",
                   message("The weights of the chosen experts are divided by their sum, which they shouldn't "
                           "be."),
                   [](Config& config) { config.router_normalize = true; }));
    list.push_back(of_experts("router-scale-forgotten",
                              message("The experts' weights are not multiplied by router_scale."),
                              [](Config& config) { config.router_scale = 1.0; }));
    list.push_back(of_experts(
        "router-other-scores", message("The router's scores are a softmax instead of a sigmoid, or vice versa."),
        [](Config& config) {
            config.router = config.router == RouterKind::softmax ? RouterKind::sigmoid : RouterKind::softmax;
        }));
    list.push_back(of_experts("router-groups-ignored", message("The experts are chosen from all groups."),
                              [](Config& config) { config.router_groups = config.router_top_groups = 1; }));
    list.push_back({.name = "correction-as-weight",
                    .cause = message("The experts are weighed by the corrected scores; the correction should only "
                                     "choose."),
                    .change = each_corrected([](Plan& plan, const Step& choice) {
                        const Ref weight = weighing(plan, choice);
                        if (weight == nullptr) return;
                        plan.replace(weight->id, Then{CorrectScores{}, weight->operation, 2},
                                     {choice.operands[0], choice.operands[1], choice.id});
                    })});
    list.push_back({.name = "correction-ignored",
                    .cause = message("The experts are chosen by their scores, without the correction."),
                    .change = each_corrected([](Plan& plan, const Step& choice) {
                        plan.replace(choice.id, choice.operation, {choice.operands[0]});
                    })});
    list.push_back({.name = "no-shared-expert",
                    .cause = message("The MLP that all positions share is not added to the experts'."),
                    .change = [](Plan& plan, const Config& config) {
                        if (config.shared_dim_feedforward == 0) return;
                        std::vector<StepId> mixes;
                        for (const Step& step : plan.steps())
                            if (step.operands.size() == 3 && step.operation == Operation(ops::MixExperts{}))
                                mixes.push_back(step.id);
                        for (const StepId id : mixes)
                            plan.replace(id, ops::MixExperts{}, {plan[id].operands[0], plan[id].operands[1]});
                    }});
    list.push_back(of_experts("no-shared-gate", message("The shared MLP is added whole, without its gate."),
                              [](Config& config) { config.shared_gate = false; }));
    clamped_swiglu(list);
}

}  // namespace decoderscope::mutations::lists

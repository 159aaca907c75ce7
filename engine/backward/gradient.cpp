#include "engine/backward/gradient.h"

#include "engine/backward/pull_back.h"
#include "engine/base/error.h"
#include "engine/tensor/tensor.h"

#include <algorithm>
#include <vector>

namespace decoderscope::backward {

namespace {

// ---- the target

struct Target {
    Ref step = nullptr;
    Cell cell;
};

Target find_target(Plan& plan, const std::string& text, const Inputs& inputs) {
    if (text == "loss") return {add_loss(plan, inputs), {0}};
    const CellName name = parse_cell_name(text);
    const Ref step = plan.find(name.tensor);
    if (step == nullptr)
        throw Error("{name}: no such tensor; expected loss or a cell such as logits[0, 1, 2]", {{"name", name.tensor}});
    check_cell(name, step->axes);
    return {step, name.cell};
}

// ---- the backward pass

class Backwards {
public:
    Backwards(Plan& plan, Target target, GradientsBy by)
        : plan_(plan), target_(std::move(target)), by_(by), forward_(plan.steps().size()) {
        find_wanted();
        find_dependencies();
    }

    void add() {
        plan_.begin_backward();
        for (StepId id = forward_; id-- > 0;)
            if (depends_[id]) add_gradient(plan_[id]);
    }

    // Zeros for what the target doesn't depend on.
    void add_zeros(const Weights* weights) {
        for (StepId id = 0; id < forward_; ++id)
            if (!depends_[id] && is_reported(plan_[id])) zero(plan_[id]);
        const std::vector<Declared> declared = plan_.declared();
        for (const Declared& parameter : declared)
            if (plan_.find(parameter.name) == nullptr && weights != nullptr && weights->contains(parameter.name))
                plan_.step(gradient_name(parameter.name), NoGradient{parameter.axes}, {});
    }

private:
    // One way from a step to the target: through a reader's operand.
    struct Way {
        StepId reader = 0;
        std::size_t operand = 0;
    };

    // The steps whose gradients are wanted or lead to one that is.
    void find_wanted() {
        wanted_.assign(forward_, by_ == GradientsBy::everything);
        for (StepId id = 0; id < forward_; ++id) {
            const Step& step = plan_[id];
            if (step.role == Role::parameter) wanted_[id] = true;
            for (std::size_t i = 0; i < step.operands.size(); ++i)
                if (wanted_[step.operands[i]] && step.operation.passes_gradient(i)) wanted_[id] = true;
        }
    }

    void find_dependencies() {
        depends_.assign(forward_, false);
        ways_.resize(forward_);
        gradients_.assign(forward_, nullptr);
        depends_[target_.step->id] = wanted_[target_.step->id];
        for (StepId id = target_.step->id + 1; id-- > 0;) {
            if (!depends_[id]) continue;
            const Step& step = plan_[id];
            for (std::size_t i = 0; i < step.operands.size(); ++i) {
                if (!wanted_[step.operands[i]] || !step.operation.passes_gradient(i)) continue;
                depends_[step.operands[i]] = true;
                ways_[step.operands[i]].push_back({id, i});
            }
        }
    }

    // Recorded tensors but masks, and parameters.
    static bool is_reported(const Step& step) {
        return step.role != Role::input && step.role != Role::internal &&
               step.operation.traits().values != Values::mask;
    }

    void add_gradient(const Step& step) {
        if (step.role == Role::input) return;
        belong_to(step);
        const Ref gradient = gradients_[step.id] = gradient_of(step);
        plan_.name_gradient(gradient->id, step.id, true);
        if (step.patches.empty() || step.is_source()) return;
        const Ref before = plan_.step(gradient->name + ".before_edits", PullBackEdits{step.patches}, {gradient},
                                      step.meaning, Role::internal);
        plan_.name_gradient(before->id, step.id, false);
        gradients_[step.id] = before;
    }

    Ref gradient_of(const Step& step) {
        const std::string name = gradient_name(step.name);
        const Role role = step.role == Role::internal ? Role::internal : Role::recorded;
        if (step.id == target_.step->id)
            return plan_.step(name, TargetCell{step.axes, target_.cell}, {}, step.meaning, role);
        const std::vector<Way>& ways = ways_[step.id];
        if (ways.size() == 1) return pull_back(name, ways.front(), step.meaning, role);
        std::vector<OperandRef> parts;
        for (auto way = ways.rbegin(); way != ways.rend(); ++way) {
            parts.push_back(pull_back(name + ".through." + plan_[way->reader].name + operand_suffix(ways, *way), *way,
                                      step.meaning, Role::internal));
            plan_.name_gradient(parts.back().step()->id, step.id, false);
        }
        return plan_.step(name, SumGradients{.when_read = step.role == Role::parameter}, parts, step.meaning, role);
    }

    // Distinguishes the operands of one reader that are the same tensor.
    static std::string operand_suffix(const std::vector<Way>& ways, const Way& way) {
        const auto same = [&](const Way& other) { return other.reader == way.reader; };
        return std::ranges::count_if(ways, same) > 1 ? "." + std::to_string(way.operand) : "";
    }

    Ref pull_back(const std::string& name, const Way& way, Meaning meaning, Role role) {
        const Step& reader = plan_[way.reader];
        std::vector<OperandRef> operands;
        for (const StepId id : reader.operands) operands.push_back(&plan_[id]);
        operands.push_back(reader.patches.empty() ? &reader : computed(reader));
        operands.push_back(gradients_[way.reader]);
        return plan_.step(name, PullBack{reader.operation, way.operand, reader.operands.size()}, operands, meaning,
                          role);
    }

    // What an edited step computed: the gradient through its operation belongs to that, not to what the edits made of
    // it.
    Ref computed(const Step& step) {
        const std::string name = step.name + ".before_edits";
        if (const Ref known = plan_.find(name)) return known;
        std::vector<OperandRef> operands;
        for (const StepId id : step.operands) operands.push_back(&plan_[id]);
        return plan_.step(name, step.operation, operands, step.meaning, Role::internal);
    }

    void belong_to(const Step& step) {
        plan_.begin_stack(step.stack);
        plan_.begin_block(step.block.empty() ? "" : gradient_name(step.block), step.layer);
        plan_.begin_part(step.part, step.meaning, step.title);
    }

    // On demand if the tensor itself is.
    void zero(const Step& step) {
        belong_to(step);
        const Ref gradient = plan_.step(gradient_name(step.name), NoGradient{step.axes}, {}, step.meaning,
                                        step.role == Role::on_demand ? Role::on_demand : Role::recorded);
        plan_.name_gradient(gradient->id, step.id, true);
    }

    Plan& plan_;
    Target target_;
    GradientsBy by_;
    StepId forward_ = 0;  // how many steps the forward pass has
    std::vector<bool> wanted_;
    std::vector<bool> depends_;
    std::vector<std::vector<Way>> ways_;
    std::vector<Ref> gradients_;
};

}  // namespace

Ref add_loss(Plan& plan, const Inputs& inputs) {
    if (const Ref known = plan.find("loss"); known != nullptr && known->part == Part::loss) return known;
    const Ref logits = plan.find("logits");
    if (logits == nullptr) throw Error("loss: this model has no logits, expected a language-model head (lm_head)");
    plan.begin_stack(StackKind::decoder);
    plan.end_block();
    plan.begin_part(Part::loss, Meaning::output);
    const Ref right = plan.input("targets", targets_of(inputs));
    const Ref each = plan.step("loss_per_token", TokenLoss{}, {logits, right});
    return plan.step("loss", MeanLoss{}, {each, right});
}

Tensor targets_of(const Inputs& inputs) {
    if (inputs.targets.empty() && inputs.tokens.empty())
        throw Error("targets: missing; expected because the loss needs them and this model reads no tokens");
    Tensor targets = inputs.targets.empty() ? tokens_ahead(inputs) : inputs.targets;
    if (std::ranges::all_of(targets.values(), [](float target) { return target == kIgnoredTarget; }))
        throw Error("targets: all are ignored, expected at least one that isn't");
    return targets;
}

void add_gradients(Plan& plan, const std::string& target, const Inputs& inputs, const Weights* weights,
                   GradientsBy by) {
    Backwards backwards(plan, find_target(plan, target, inputs), by);
    backwards.add();
    if (by == GradientsBy::everything) backwards.add_zeros(weights);
    plan.end_block();
}

std::string gradient_name(std::string_view tensor) { return "grad." + std::string(tensor); }

std::optional<StepId> backward_begins(const Plan& plan) {
    // Steps are in the order of computation: the gradients, if any, are the last ones.
    const auto& steps = plan.steps();
    if (steps.empty() || !steps.back().backward) return std::nullopt;
    return std::ranges::find_if(steps, &Step::backward)->id;
}

}  // namespace decoderscope::backward

#include "engine/mutations/sites.h"

#include "engine/ops/written_formula.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace decoderscope::mutations::sites {

namespace {

template <class T>
using Names = std::pair<std::string_view, T>;

constexpr std::array kAttentionSteps = {
    Names<AttentionStep>{"query", AttentionStep::query},
    Names<AttentionStep>{"key", AttentionStep::key},
    Names<AttentionStep>{"value", AttentionStep::value},
    Names<AttentionStep>{"mask", AttentionStep::mask},
    Names<AttentionStep>{"scores", AttentionStep::scores},
    Names<AttentionStep>{"pattern", AttentionStep::pattern},
    Names<AttentionStep>{"out", AttentionStep::out},
    Names<AttentionStep>{"masked_scores", AttentionStep::masked_scores},
    Names<AttentionStep>{"kv_latent", AttentionStep::kv_latent},
    Names<AttentionStep>{"k_shared", AttentionStep::k_shared},
};
constexpr std::array kRoles = {
    Names<OperandRole>{"input", OperandRole::input},   Names<OperandRole>{"stream", OperandRole::stream},
    Names<OperandRole>{"update", OperandRole::update}, Names<OperandRole>{"scores", OperandRole::scores},
    Names<OperandRole>{"bias", OperandRole::bias},     Names<OperandRole>{"gain", OperandRole::gain},
    Names<OperandRole>{"shift", OperandRole::shift},   Names<OperandRole>{"gate", OperandRole::gate},
};
constexpr std::array kParts = {
    Names<Part>{"self_attention", Part::self_attention},
    Names<Part>{"cross_attention", Part::cross_attention},
    Names<Part>{"mlp", Part::mlp},
};

template <class T, std::size_t N>
std::optional<T> named(const std::array<Names<T>, N>& names, std::string_view name) {
    const auto* const found = std::ranges::find(names, name, &Names<T>::first);
    return found == names.end() ? std::nullopt : std::optional(found->second);
}

template <class Test>
std::vector<StepId> those(const Plan& plan, const Test& test) {
    std::vector<StepId> found;
    for (const Step& step : plan.steps())
        if (!step.is_source() && test(step)) found.push_back(step.id);
    return found;
}

std::vector<StepId> of_attentions(const Plan& plan, std::string_view which, std::string_view name) {
    const std::optional<Part> part = named(kParts, which);
    std::vector<StepId> found;
    for (const std::string& attention : plan.attentions()) {
        const Ref step = attention_step(plan, attention, name);
        if (step == nullptr || step->is_source()) continue;
        if (part ? step->part == *part && !step->in_encoder() : which != "encoder" || step->in_encoder())
            found.push_back(step->id);
    }
    return found;
}

// The part that made a tensor; for a norm's output after a sublayer, the sublayer's part.
Part made_by(const Plan& plan, StepId id) {
    const Step& step = plan[id];
    return step.operation.traits().norm ? plan[step.operands[0]].part : step.part;
}

bool reads(const Plan& plan, const Step& step, std::string_view parameter) {
    return step.role != Role::on_demand && std::ranges::any_of(step.operands, [&](StepId operand) {
               return plan[operand].role == Role::parameter && plan[operand].name.ends_with(parameter);
           });
}

std::vector<StepId> positions(const Plan& plan, bool sum) {
    std::vector<StepId> found;
    for (const char* name : {"pos_embed", "encoder.pos_embed"}) {
        const Ref code = plan.find(name);
        if (code == nullptr) continue;
        const auto adding = std::ranges::find_if(plan.steps(), [&](const Step& step) {
            return step.operands.size() == 2 && std::ranges::find(step.operands, code->id) != step.operands.end();
        });
        if (adding != plan.steps().end()) found.push_back(sum ? adding->id : code->id);
    }
    return found;
}

}  // namespace

Ref attention_step(const Plan& plan, std::string_view attention, std::string_view name) {
    const std::optional<AttentionStep> which = named(kAttentionSteps, name);
    return which ? plan.step_of(attention, *which) : nullptr;
}

std::optional<OperandRole> role_named(std::string_view name) { return named(kRoles, name); }

std::optional<StepId> norm_before(const Plan& plan, const Step& sum) {
    const StepId stream = sum.operands[0];
    for (StepId id = sum.id; id-- > stream;)
        if (plan[id].operation.traits().norm && plan[id].operands[0] == stream) return id;
    return std::nullopt;
}

std::vector<StepId> at(const Plan& plan, std::string_view place) {
    const std::string_view kind = place.substr(0, place.find(' ')), what = place.substr(kind.size() + 1);
    if (kind == "attention" || kind == "self_attention" || kind == "cross_attention" || kind == "encoder")
        return of_attentions(plan, kind, what);
    if (kind == "norm")
        return those(plan, [&](const Step& step) {
            const Traits traits = step.operation.traits();
            return what == "scale" ? traits.scale.has_value() : traits.norm.has_value();
        });
    if (kind == "sum")
        return those(plan, [&](const Step& step) {
            return step.part == Part::add && step.operands.size() == 2 &&
                   made_by(plan, step.operands[1]) == named(kParts, what);
        });
    if (kind == "positions") return positions(plan, what == "sum");
    if (kind == "reads") return those(plan, [&](const Step& step) { return reads(plan, step, what); });
    if (kind == "before") {
        std::vector<StepId> found = those(plan, [&](const Step& step) { return reads(plan, step, what); });
        for (StepId& id : found) id = plan[id].operands[0];
        std::erase_if(found, [&](StepId id) { return plan[id].part != Part::mlp; });
        return found;
    }
    if (kind == "formula")
        return those(plan, [&](const Step& step) {
            const auto by = ops::formula_of(step.operation);
            return by && by->formula == what;
        });
    if (kind == "step") return those(plan, [&](const Step& step) { return step.name == what; });
    if (kind == "every") return those(plan, [](const Step& step) { return step.role != Role::on_demand; });
    throw std::logic_error("no place of a plan: " + std::string(place));
}

}  // namespace decoderscope::mutations::sites

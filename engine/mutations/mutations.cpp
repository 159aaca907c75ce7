#include "engine/mutations/mutations.h"

#include <algorithm>
#include <vector>

namespace decoderscope::mutations {

void disguise(Plan& wrong, const Plan& right) {
    for (StepId id = 0; id < wrong.steps().size(); ++id) {
        const Step& step = wrong[id];
        const Ref meant = step.is_source() ? nullptr : right.find(step.name);
        if (meant == nullptr || meant->is_source() || meant->operation == step.operation) continue;
        const std::vector<StepId> operands = step.operands;
        wrong.replace(id, DescribedAs{step.operation, meant->operation}, operands);
    }
}

namespace {

std::vector<Mutation> all() {
    std::vector<Mutation> list;
    for (const auto add :
         {lists::scale, lists::masks, lists::fills, lists::softmax, lists::residual, lists::norms, lists::projections,
          lists::heads, lists::positions, lists::rope, lists::rope_by_layer, lists::mlp, lists::experts, lists::latent,
          lists::sinks, lists::embedding, lists::encoder, lists::output, lists::training})
        add(list);
    return list;
}

bool same_values(const Tensor& a, const Tensor& b) {
    return a.shares_values_with(b) || (a.axes() == b.axes() && std::ranges::equal(a.values(), b.values()));
}

// Whether two steps of different plans read steps of the same names, none of them an input with other values.
bool same_operands(const Plan& a, const Step& one, const Plan& b, const Step& other) {
    return std::ranges::equal(one.operands, other.operands, [&](StepId left, StepId right) {
        const Step &l = a[left], &r = b[right];
        return l.name == r.name && (!l.is_source() || same_values(l.source, r.source));
    });
}

}  // namespace

std::span<const Mutation> mutations() {
    static const std::vector<Mutation> list = all();
    return list;
}

const Mutation* find_mutation(std::string_view name) {
    const auto list = mutations();
    const auto found = std::ranges::find(list, name, &Mutation::name);
    return found == list.end() ? nullptr : &*found;
}

Ref first_changed(const Plan& right, const Plan& wrong) {
    for (const Step& step : right.steps()) {
        if (step.is_source() || step.role == Role::on_demand) continue;
        const Ref other = wrong.find(step.name);
        const bool same = other != nullptr && other->axes == step.axes && other->operation == step.operation &&
                          same_operands(right, step, wrong, *other);
        if (!same) return &step;
    }
    return nullptr;
}

}  // namespace decoderscope::mutations

#include "app/core/labs/causes/patching.h"

#include "engine/graph/substitution.h"
#include "engine/tensor/rows.h"

namespace decoderscope::core::causes {

std::vector<StepId> patchable_steps(const PatchingInputs& question) {
    const Plan& plan = question.a->plan();
    const Ref asked = plan.find(question.number.tensor);
    if (asked == nullptr) return {};
    const Substitution substitution(*question.a, asked->id);
    std::vector<StepId> steps;
    for (StepId id = 0; id < asked->id; ++id) {
        const Step& step = plan[id];
        if (step.role != Role::recorded || !substitution.depends_on(id) || !row_axis(step.axes)) continue;
        const Tensor& other = question.b->value(step.name);
        if (!question.a->value(id).empty() && !other.empty() && other.axes() == step.axes) steps.push_back(id);
    }
    return steps;
}

std::size_t patched_rows(const PatchingInputs& question, const std::vector<StepId>& steps) {
    Index rows = 0;
    for (const StepId id : steps) rows += row_count(question.a->plan()[id].axes);
    return static_cast<std::size_t>(rows);
}

Resumable<Patching> patch_rows(PatchingInputs question, std::vector<StepId> steps, std::stop_token stop,
                               std::atomic<std::size_t>* done) {
    const Run &a = *question.a, &b = *question.b;
    check_number(a, question.number);
    check_number(b, question.number);
    const StepId asked = a.plan().find(question.number.tensor)->id;
    Patching patching{.in_a = question.number.in(a.value(asked)),
                      .in_b = question.number.in(b.value(question.number.tensor)),
                      .steps = {}};
    if (!patching.differs()) steps.clear();
    const Substitution substitution(a, asked);
    for (const StepId id : steps) {
        const Step& step = a.plan()[id];
        PatchedStep patched{id, step.name, {}};
        const Tensor &here = a.value(id), &there = b.value(step.name);
        for (Index row = 0; row < row_count(step.axes); ++row) {
            if (stop.stop_requested()) co_return patching;
            const Tensor asked_for = substitution.with(id, with_row_of(here, there, question.batch, row));
            patched.back.push_back((question.number.in(asked_for)-patching.in_a) / (patching.in_b - patching.in_a));
            if (done != nullptr) done->fetch_add(1, std::memory_order_relaxed);
            co_yield kPause;
        }
        patching.steps.push_back(std::move(patched));
    }
    patching.complete = true;
    co_return patching;
}

}  // namespace decoderscope::core::causes

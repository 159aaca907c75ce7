#include "app/core/session/cursor.h"

#include <algorithm>

namespace decoderscope {

Cursor opening_cursor(const Model& model, const Plan& plan) {
    const LookAt& look_at = model.look_at;
    if (plan.find(look_at.step) != nullptr) return {look_at.step, {.head = look_at.head}, {}};
    for (const char* name : {"blocks.0.attn.pattern", "blocks.0.attn.z"})
        if (plan.find(name) != nullptr) return {name, {}, {}};
    // Of a recording, whose names are its own: the first weights of an attention.
    const auto weights = std::ranges::find_if(plan.steps(), [](const Step& step) {
        const Traits traits = step.operation.traits();
        return traits.recorded_elsewhere && traits.values == Values::weights;
    });
    if (weights != plan.steps().end()) return {weights->name, {}, {}};
    const auto computed =
        std::find_if(plan.steps().begin(), plan.steps().end(), [](const Step& step) { return !step.is_source(); });
    return {computed->name, {}, {}};
}

}  // namespace decoderscope

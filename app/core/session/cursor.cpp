#include "app/core/session/cursor.h"

#include <algorithm>

namespace decoderscope {

Cursor opening_cursor(const Model& model, const Plan& plan) {
    const LookAt& look_at = model.look_at;
    if (plan.find(look_at.step) != nullptr) return {look_at.step, {.head = look_at.head}, {}};
    for (const char* name : {"blocks.0.attn.pattern", "blocks.0.attn.z"})
        if (plan.find(name) != nullptr) return {name, {}, {}};
    const auto computed =
        std::find_if(plan.steps().begin(), plan.steps().end(), [](const Step& step) { return !step.is_source(); });
    return {computed->name, {}, {}};
}

}  // namespace decoderscope

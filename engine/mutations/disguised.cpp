#include "engine/mutations/disguised.h"

#include <vector>

namespace decoderscope {

void disguise(Plan& wrong, const Plan& right) {
    for (StepId id = 0; id < wrong.steps().size(); ++id) {
        const Step& step = wrong[id];
        const Ref meant = step.is_source() ? nullptr : right.find(step.name);
        if (meant == nullptr || meant->is_source() || meant->operation == step.operation) continue;
        const std::vector<StepId> operands = step.operands;
        wrong.replace(id, Disguised{step.operation, meant->operation}, operands);
    }
}

}  // namespace decoderscope

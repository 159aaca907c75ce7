#include "app/core/norms/inspected_norm.h"

#include <string>
#include <tuple>

namespace decoderscope {

namespace {

InspectedNorm inspect(const Run& run, const Step& step, const Cell& cell) {
    const Traits traits = step.operation.traits();
    if (!traits.norm && !traits.scale) return {};
    const std::string prefix = step.in_encoder() ? "encoder." : "";
    for (const std::string& norm : norms_of_block(run.plan(), step.block, prefix))
        if (is_of_norm(step, norm)) return {norm_row(run, norm, cell[0], cell[1])};
    return {};
}

}  // namespace

Value<InspectedNorm> inspected_norm(Derived& derived, const Snapshot& shown, const Step& step, const Cell& cell) {
    return derived.get<InspectedNorm>(Origins(shown.run), std::tie(step.id, cell),
                                      [&] { return inspect(*shown.run, step, cell); });
}

}  // namespace decoderscope

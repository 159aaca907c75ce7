#include "app/views/norms/norms_parts.h"

#include <algorithm>
#include <utility>

namespace decoderscope {

Value<BothNorms<DepthCurves>> shown_curves(const Session& session, const NormsScene& scene) {
    return norm_curves(session.derived(), scene.runs, scene.prefix);
}

Value<std::optional<StepPair>> shown_pair(const Session& session, const NormsScene& scene) {
    return norm_step_pair(session.derived(), scene.runs, scene.here.name, session.cursor().place);
}

Value<BothNorms<std::optional<NormRow>>> shown_rows(const Session& session, const ViewState& state,
                                                    const NormsScene& scene) {
    return norm_rows(session.derived(), scene.runs, explained_norm(scene), session.cursor().place.batch,
                     state.lab<NormsTabState>().row);
}

std::vector<std::string> norms_here(const NormsScene& scene) {
    std::vector<std::string> norms = norms_of_block(scene.runs.left.run->plan(), scene.block, scene.prefix);
    for (std::string& norm : norms_of_block(scene.runs.right.run->plan(), scene.block, scene.prefix))
        if (std::ranges::find(norms, norm) == norms.end()) norms.push_back(std::move(norm));
    return norms;
}

void go_to_step(const Session& session, NormsTabState& norms, const NormsScene& scene, const std::string& step,
                Commands& commands) {
    norms.chosen.reset();
    if (session.shown().run->plan().find(step) != nullptr) return commands.push_back(command::GoTo{step});
    for (const std::string& norm : norms_here(scene))
        if (step.starts_with(norm + ".")) norms.chosen = {norm, scene.here.name};
}

std::string explained_norm(const NormsScene& scene) {
    const std::vector<std::string> norms = norms_here(scene);
    if (std::ranges::find(norms, scene.chosen) != norms.end()) return scene.chosen;
    for (const std::string& norm : norms)
        if (is_of_norm(scene.here, norm)) return norm;
    return norms.empty() ? std::string() : norms.front();
}

}  // namespace decoderscope

#include "app/views/norms/norms_parts.h"

namespace decoderscope {

namespace {

// The value of a cache, made anew where the key is another.
template <class T, class Make>
const T& renewed(Measured<T>& cache, const std::string& key, Make make) {
    if (cache.key != key) {
        cache.value = make();
        cache.key = key;
    }
    return cache.value;
}

}  // namespace

const BothNorms<DepthCurves>& measured_curves(ViewState& state, const NormsScene& scene) {
    return renewed(state.norms.curves, scene.key, [&] {
        return BothNorms<DepthCurves>{depth_curves(*scene.pre.run, scene.prefix),
                                      depth_curves(*scene.post.run, scene.prefix)};
    });
}

const std::optional<StepPair>& measured_pair(const Session& session, ViewState& state, const NormsScene& scene) {
    const Place place = session.cursor().place;
    const std::string key =
        scene.key + " " + scene.here.name + " " + std::to_string(place.batch) + " " + std::to_string(place.head);
    return renewed(state.norms.pair, key, [&] {
        auto pair =
            step_pair(scene.pre.scenario, *scene.pre.run, scene.post.scenario, *scene.post.run, scene.here.name, place);
        if (pair) {
            pair->a.title = "Pre-Norm";
            pair->b.title = "Post-Norm";
            pair->difference.title = "Pre-Norm − Post-Norm";
        }
        return pair;
    });
}

const BothNorms<std::optional<NormRow>>& measured_rows(const Session& session, ViewState& state,
                                                       const NormsScene& scene) {
    const Index batch = session.cursor().place.batch, pos = state.norms.row;
    const std::string norm = explained_norm(scene);
    const std::string key = scene.key + " " + norm + " " + std::to_string(batch) + " " + std::to_string(pos);
    return renewed(state.norms.rows, key, [&] {
        return BothNorms<std::optional<NormRow>>{norm_row(*scene.pre.run, norm, batch, pos),
                                                 norm_row(*scene.post.run, norm, batch, pos)};
    });
}

std::string explained_norm(const NormsScene& scene) {
    const std::vector<std::string> norms = norms_of_block(scene.pre.run->plan(), scene.block, scene.prefix);
    for (const std::string& norm : norms)
        if (is_of_norm(scene.here, norm)) return norm;
    return norms.empty() ? std::string() : norms.front();
}

}  // namespace decoderscope

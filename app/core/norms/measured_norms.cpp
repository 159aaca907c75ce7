#include "app/core/norms/measured_norms.h"

namespace decoderscope {

namespace {

struct OwnNormEps {
    double eps = 0.0;
};

std::vector<OutlinePart> parts_of(const Companion& companion, const std::string& block) {
    for (OutlineBlock& outlined : outline_of(companion.run->plan()))
        if (outlined.name == block) return std::move(outlined.parts);
    return {};
}

std::optional<StepPair> compared(const BothNorms<Companion>& runs, const std::string& step, Place place) {
    auto pair = step_pair(runs.pre.scenario, *runs.pre.run, runs.post.scenario, *runs.post.run, step, place);
    if (!pair) return pair;
    pair->a.title = "Pre-Norm";
    pair->b.title = "Post-Norm";
    pair->difference.title = "Pre-Norm − Post-Norm";
    return pair;
}

}  // namespace

double own_norm_eps(Derived& derived, const Scenario& scenario) {
    const auto& model = scenario.model();
    return derived.get<OwnNormEps>({model}, std::tuple<>(), [&] { return OwnNormEps{model->config().layer_norm_eps}; })
        ->eps;
}

Value<BothNorms<DepthCurves>> norm_curves(Derived& derived, const BothNorms<Companion>& runs,
                                          const std::string& prefix) {
    using Curves = BothNorms<DepthCurves>;
    return derived.get<Curves>({runs.pre.run, runs.post.run}, std::tie(prefix), [&] {
        return Curves{depth_curves(*runs.pre.run, prefix), depth_curves(*runs.post.run, prefix)};
    });
}

Value<BothNorms<std::vector<OutlinePart>>> norm_diagrams(Derived& derived, const BothNorms<Companion>& runs,
                                                         const std::string& block) {
    using Diagrams = BothNorms<std::vector<OutlinePart>>;
    return derived.get<Diagrams>({runs.pre.run, runs.post.run}, std::tie(block), [&] {
        return Diagrams{parts_of(runs.pre, block), parts_of(runs.post, block)};
    });
}

Value<std::optional<StepPair>> norm_step_pair(Derived& derived, const BothNorms<Companion>& runs,
                                              const std::string& step, Place place) {
    return derived.get<std::optional<StepPair>>({runs.pre.run, runs.post.run}, std::tie(step, place),
                                                [&] { return compared(runs, step, place); });
}

Value<BothNorms<std::optional<NormRow>>> norm_rows(Derived& derived, const BothNorms<Companion>& runs,
                                                   const std::string& norm, Index batch, Index pos) {
    using Rows = BothNorms<std::optional<NormRow>>;
    return derived.get<Rows>({runs.pre.run, runs.post.run}, std::tie(norm, batch, pos), [&] {
        return Rows{norm_row(*runs.pre.run, norm, batch, pos), norm_row(*runs.post.run, norm, batch, pos)};
    });
}

}  // namespace decoderscope

#include "app/core/norms/measured_norms.h"

#include "engine/translate.h"

#include <string>

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
    auto pair = step_pair(runs.left.scenario, *runs.left.run, runs.right.scenario, *runs.right.run, step, place);
    if (!pair) return pair;
    const auto title = [](const Companion& run) {
        return std::string(tr(place_of_norms(run.scenario.config().placement()).title));
    };
    pair->a.title = title(runs.left);
    pair->b.title = title(runs.right);
    pair->difference.title = pair->a.title + " − " + pair->b.title;
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
    return derived.get<Curves>({runs.left.run, runs.right.run}, std::tie(prefix), [&] {
        return Curves{depth_curves(*runs.left.run, prefix), depth_curves(*runs.right.run, prefix)};
    });
}

Value<BothNorms<std::vector<OutlinePart>>> norm_diagrams(Derived& derived, const BothNorms<Companion>& runs,
                                                         const std::string& block) {
    using Diagrams = BothNorms<std::vector<OutlinePart>>;
    return derived.get<Diagrams>({runs.left.run, runs.right.run}, std::tie(block), [&] {
        return Diagrams{parts_of(runs.left, block), parts_of(runs.right, block)};
    });
}

Value<std::optional<StepPair>> norm_step_pair(Derived& derived, const BothNorms<Companion>& runs,
                                              const std::string& step, Place place) {
    return derived.get<std::optional<StepPair>>({runs.left.run, runs.right.run}, std::tie(step, place),
                                                [&] { return compared(runs, step, place); });
}

Value<BothNorms<std::optional<NormRow>>> norm_rows(Derived& derived, const BothNorms<Companion>& runs,
                                                   const std::string& norm, Index batch, Index pos) {
    using Rows = BothNorms<std::optional<NormRow>>;
    return derived.get<Rows>({runs.left.run, runs.right.run}, std::tie(norm, batch, pos), [&] {
        return Rows{norm_row(*runs.left.run, norm, batch, pos), norm_row(*runs.right.run, norm, batch, pos)};
    });
}

}  // namespace decoderscope

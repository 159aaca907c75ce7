#pragma once

#include "app/core/derived/derived.h"
#include "app/core/export/exhibit.h"
#include "app/core/norms/depth_curves.h"
#include "app/core/norms/gradient_growth.h"
#include "app/core/work/saved_view.h"
#include "engine/model/model.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

// The page of gradients of the Norms tab: what is measured, its curves and sentences.
namespace decoderscope {

// How many passes of a measurement are done, of how many; shared with its job.
struct GrowthProgress {
    std::atomic<std::size_t> done = 0;
    std::size_t all = 0;

    [[nodiscard]] double share() const {
        return all == 0 ? 0.0 : static_cast<double>(done.load()) / static_cast<double>(all);
    }
};

// What a person's choice measures. Throws Error if no stack has these sizes.
[[nodiscard]] GrowthSetting growth_setting(const GrowthChoice& choice);
// The depths that are measured for the curve by depth, up to the chosen one: 1, 2, 4, 6, 8, 12, 18, ….
[[nodiscard]] std::vector<Index> growth_depths(Index deepest);

// Every scheme at the chosen depth.
struct MeasuredGrowth {
    static constexpr std::size_t kKept = 8;
    std::vector<GradientGrowth> schemes;
};
// Every scheme at each of growth_depths().
struct GrowthByDepth {
    static constexpr std::size_t kKept = 4;
    std::vector<GradientGrowth> schemes;  // all depths of the first scheme, then the next
};
// Empty until they are measured; dropped when a frame no longer asks. They depend on nothing but the choice; `of` only
// says how long they are kept.
[[nodiscard]] Value<MeasuredGrowth> measured_growth(Derived& derived, const std::shared_ptr<const Model>& of,
                                                    const GrowthChoice& choice,
                                                    const std::shared_ptr<GrowthProgress>& progress);
[[nodiscard]] Value<GrowthByDepth> measured_growth_by_depth(Derived& derived, const std::shared_ptr<const Model>& of,
                                                            const GrowthChoice& choice,
                                                            const std::shared_ptr<GrowthProgress>& progress);

// One scheme's gradients in a chart: the mean over the seeds, and the least and the most of them.
struct GrowthCurves {
    StackScheme scheme = StackScheme::pre;
    DepthCurve mean, least, most;
};
// ‖∂loss/∂W2‖ from the first layer to the last.
[[nodiscard]] std::vector<GrowthCurves> curves_by_layer(std::span<const GradientGrowth> schemes, bool of_encoder);
// That of the last layer, by the number of layers.
[[nodiscard]] std::vector<GrowthCurves> curves_by_depth(std::span<const GradientGrowth> schemes);

// What the numbers show, in a sentence; and what has to be known to read them.
[[nodiscard]] Sentence growth_sentence(std::span<const GradientGrowth> schemes, const GrowthChoice& choice);
[[nodiscard]] Sentence growth_caveat(const GrowthChoice& choice);
// What is said against reading too much into them: Admin and B2T.
[[nodiscard]] std::vector<Sentence> growth_objections();

[[nodiscard]] Exhibit growth_exhibit(std::span<const GradientGrowth> schemes, const GrowthChoice& choice);

}  // namespace decoderscope

#pragma once

#include "app/core/derived/derived.h"
#include "app/core/heads/head_effect.h"
#include "app/core/heads/head_scores.h"
#include "app/core/picture/heatmap.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// Values derived from heads.
namespace decoderscope {

// The heads of one kind in one batch row: their measures, and the range of weights that their pictures share.
struct MeasuredHeads {
    static constexpr std::size_t kKept = 1;  // it keeps its run

    std::shared_ptr<const Run> run;  // the next run, after an edit, takes over what it need not measure again
    std::vector<HeadScore> scores;
    Range weights;
};
// Empty while many heads are being measured. An attention that `run` shares with the run measured last isn't measured
// again.
[[nodiscard]] Value<MeasuredHeads> measured_heads(Derived& derived, const Scenario& scenario,
                                                  const std::shared_ptr<const Run>& run, AttentionKind kind,
                                                  Index batch);

// A version number of a layer's pictures: it changes only when the pattern or the mask is another tensor, so that an
// edit repaints only the layers that it reaches.
[[nodiscard]] std::uint64_t version_of_pictures(Derived& derived, const Run& run, const Step& pattern);

// How far apart the outputs of two runs are, by position of a batch row.
struct OutputEffects {
    std::vector<PositionEffect> positions;
};
// `output` is a step of both, of the same shape.
[[nodiscard]] Value<OutputEffects> output_effects(Derived& derived, const std::shared_ptr<const Run>& before,
                                                  const std::shared_ptr<const Run>& after, const Step& output,
                                                  Index batch);

}  // namespace decoderscope

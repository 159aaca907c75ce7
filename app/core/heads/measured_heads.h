#pragma once

#include "app/core/derived/derived.h"
#include "app/core/heads/head_effect.h"
#include "app/core/heads/head_scores.h"
#include "app/core/picture/heatmap.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// What is derived of heads.
namespace decoderscope {

// The heads of one kind in one batch row: what they measure, and the range of weights that their pictures share.
struct MeasuredHeads {
    static constexpr std::size_t kKept = 1;  // it keeps its run

    std::shared_ptr<const Run> run;  // what the next run, after an edit, need not measure again is taken over from it
    std::vector<HeadScore> scores;
    Range weights;
};
// Empty while many heads are being measured. An attention that `run` shares with the run measured last isn't measured
// again.
[[nodiscard]] Value<MeasuredHeads> measured_heads(Derived& derived, const Scenario& scenario,
                                                  const std::shared_ptr<const Run>& run, AttentionKind kind,
                                                  Index batch);

// A number for what a layer's pictures show: another one only where its pattern or its mask is another tensor, so that
// an edit repaints only the layers that it reaches.
[[nodiscard]] std::uint64_t version_of_pictures(Derived& derived, const Run& run, const Step& pattern);

// How far the output lies apart in two runs, by position of a batch row.
struct OutputEffects {
    std::vector<PositionEffect> positions;
};
// `output` is a step of both, of the same shape.
[[nodiscard]] Value<OutputEffects> output_effects(Derived& derived, const std::shared_ptr<const Run>& before,
                                                  const std::shared_ptr<const Run>& after, const Step& output,
                                                  Index batch);

}  // namespace decoderscope

#pragma once

#include "app/core/derived/derived.h"
#include "app/core/diff/step_pair.h"
#include "app/core/norms/depth_curves.h"
#include "app/core/norms/norm_row.h"
#include "app/core/norms/placements.h"
#include "app/core/session/session.h"
#include "app/core/step/outline.h"

#include <optional>
#include <string>
#include <vector>

// Values derived from the two runs of the Norms tab: the same model with the norms in two of the four places.
namespace decoderscope {

// The model's own layer_norm_eps, without the scenario's overrides.
[[nodiscard]] double own_norm_eps(Derived& derived, const Scenario& scenario);

// The curves by depth of the stack called prefix + "blocks.0", ….
[[nodiscard]] Value<BothNorms<DepthCurves>> norm_curves(Derived& derived, const BothNorms<Companion>& runs,
                                                        const std::string& prefix);

// The parts of a block's diagram; empty if a run has no such block.
[[nodiscard]] Value<BothNorms<std::vector<OutlinePart>>> norm_diagrams(Derived& derived,
                                                                       const BothNorms<Companion>& runs,
                                                                       const std::string& block);

// The same step in both; nothing if it can't be compared.
[[nodiscard]] Value<std::optional<StepPair>> norm_step_pair(Derived& derived, const BothNorms<Companion>& runs,
                                                            const std::string& step, Place place);

// One row of one norm ("blocks.0.ln1") in both; nothing if a run has no such row.
[[nodiscard]] Value<BothNorms<std::optional<NormRow>>> norm_rows(Derived& derived, const BothNorms<Companion>& runs,
                                                                 const std::string& norm, Index batch, Index pos);

}  // namespace decoderscope

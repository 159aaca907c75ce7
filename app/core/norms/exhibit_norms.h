#pragma once

#include "app/core/norms/depth_curves.h"
#include "app/core/step/exhibit_step.h"

#include <optional>
#include <string>

namespace decoderscope {

// Of two places of the norms; `own` is the run that both are variations of.
// The curves by depth of the stack whose blocks are called prefix + "blocks.0", ….
[[nodiscard]] Exhibit depth_exhibit(const Scenario& own, const DepthCurves& left, const DepthCurves& right,
                                    const Places& places = kPreAndPost);
// A step in both, and the difference. Nothing if it is not computed in both.
[[nodiscard]] std::optional<Exhibit> norms_step_exhibit(const ShownRun& left, const ShownRun& right,
                                                        const std::string& step, Place place);
// What a norm does to one row of numbers in both.
[[nodiscard]] std::optional<Exhibit> norm_row_exhibit(const ShownRun& left, const ShownRun& right,
                                                      const std::string& norm, Index batch, Index pos);

}  // namespace decoderscope

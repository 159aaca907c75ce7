#pragma once

#include "app/core/diff/reference_run.h"
#include "app/core/step/exhibit_step.h"

#include <optional>

namespace decoderscope {

// A step in this run and in another, and the difference. Nothing if the other has no such tensor of that shape.
[[nodiscard]] std::optional<Exhibit> difference_exhibit(const ShownRun& shown, const ReferenceRun& other,
                                                        const Step& step, Place place, double tolerance);

}  // namespace decoderscope

#pragma once

#include "app/core/generate/sampling.h"
#include "app/core/step/exhibit_step.h"

#include <memory>
#include <optional>

namespace decoderscope {

// The most probable next tokens of a batch row with their probabilities before and after temperature and cuts.
[[nodiscard]] std::optional<Exhibit> next_token_exhibit(const ShownRun& shown, Index row, const Sampling& sampling);
// One layer of the KV cache: k and v.
[[nodiscard]] Exhibit cache_exhibit(const ShownRun& shown, Index layer, Place place);
// What each layer would predict next, by position. `lens` is the run with the logit lens.
[[nodiscard]] Exhibit lens_exhibit(const ShownRun& shown, const std::shared_ptr<const Run>& lens, Index row);

}  // namespace decoderscope

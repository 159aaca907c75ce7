#pragma once

#include "app/core/jobs/resumable.h"
#include "app/core/run/comparison.h"
#include "app/core/run/scenario.h"
#include "engine/decoder/kv_cache.h"
#include "engine/model/inputs.h"

#include <memory>
#include <vector>

namespace decoderscope::core::generate {

// Passes over a part of a scenario's input: some positions, one row of a batch. The positions before them are in the KV
// cache.

// The last token of a batch row, using the KV cache: a pass over the tokens before it computes their k and v, and the
// returned plan computes that one token alone. Throws Error if there is no token before it, or k and v can't be kept.
[[nodiscard]] Resumable<std::shared_ptr<const Plan>> plan_by_cache(Scenario scenario, Index row);

// The cells of the full pass that a cached pass over this part also computed, under the same names; k and v in full, so
// that the kept rows are compared as well.
[[nodiscard]] NamedTensors same_cells(const InputsPart& part, const Run& full, const Run& cached);
// The cached pass's tensors, for comparison with them.
[[nodiscard]] NamedTensors tensors_of_cached(const Run& cached);

}  // namespace decoderscope::core::generate

#pragma once

#include "app/core/diff/comparison.h"
#include "app/core/jobs/resumable.h"
#include "app/core/session/scenario.h"
#include "engine/decoder/past.h"
#include "engine/model/inputs_part.h"

#include <memory>
#include <vector>

namespace decoderscope {

// Passes over a part of what a scenario reads: some positions, one row of a batch. What lies before them is in the KV
// cache.

// The scenario's edits as the plan of a pass over this part has them; those of cells that it has not are left out.
// `scenario.inputs` may be the whole or, where nothing lies before it, the part itself. `past` is needed where the part
// begins later than at the first position.
[[nodiscard]] std::vector<Edit> edits_of_part(const Scenario& scenario, const InputsPart& part,
                                              const Past* past = nullptr);

// The plan of a pass over a part, with the edits that concern it.
[[nodiscard]] std::shared_ptr<const Plan> plan_of_part(const Scenario& scenario, const InputsPart& part,
                                                       const Past* past = nullptr);

// The last token of a batch row by the KV cache: a pass over the tokens before it makes their k and v, and the plan
// that comes back computes that one token alone. Throws Error where there is no token before it, or k and v can't be
// kept.
[[nodiscard]] Resumable<std::shared_ptr<const Plan>> plan_by_cache(Scenario scenario, Index row);

// The cells of the full pass that such a cached pass has computed too, by the same names; k and v whole, so that the
// kept rows are compared as well.
[[nodiscard]] NamedTensors same_cells(const Scenario& scenario, const Run& full, const Run& cached, Index row);
// The cached pass's tensors to compare with them.
[[nodiscard]] NamedTensors tensors_of_cached(const Run& cached);

}  // namespace decoderscope

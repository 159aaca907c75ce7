#pragma once

#include "app/core/derived/derived.h"
#include "app/core/session/snapshot.h"
#include "engine/run.h"

#include <optional>
#include <string>

namespace decoderscope {

// The largest weight that a query of an attention puts on one of several keys.
struct StrongestWeight {
    std::string pattern;  // "blocks.0.attn.pattern"
    Cell cell;            // [batch, head, query, key]
    float weight = 0.0F;
};

// Of one batch row and all heads. Queries that see a single key have no choice, and are left out; so are padding and
// rows with NaN. Nothing if no query has a choice. `attention` is one of the run's; its pattern and mask have values.
[[nodiscard]] std::optional<StrongestWeight> strongest_weight(const Inputs& inputs, const Run& run,
                                                              const std::string& attention, Index batch);

struct ShownStrongestWeight {
    std::optional<StrongestWeight> found;
};
[[nodiscard]] Value<ShownStrongestWeight> shown_strongest_weight(Derived& derived, const Snapshot& shown,
                                                                 const std::string& attention, Index batch);

}  // namespace decoderscope

#pragma once

#include "app/core/derived/derived.h"
#include "app/core/norms/norm_row.h"
#include "app/core/session/snapshot.h"

#include <optional>

namespace decoderscope {

// What a norm does to the row that a cell of one of its steps is in; nothing for cells of other steps.
struct InspectedNorm {
    std::optional<NormRow> row;
};
[[nodiscard]] Value<InspectedNorm> inspected_norm(Derived& derived, const Snapshot& shown, const Step& step,
                                                  const Cell& cell);

}  // namespace decoderscope

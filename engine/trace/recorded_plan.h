#pragma once

#include "engine/graph/plan.h"
#include "engine/trace/trace.h"

namespace decoderscope::trace {

// How many there are of what axes stand for in a trace, as far as its shapes tell.
struct RecordedSizes {
    Index batch = 1, positions = 1, heads = 1;
    Index width = 0;  // of the residual stream; 0: unknown
};
[[nodiscard]] RecordedSizes sizes_of(const Trace& trace);

// A trace as a list of steps: every tensor is one, in the order of recording. A call's output reads what the call was
// given; blocks, parts and meanings follow from the modules' names and kinds. Reads no number. Throws Error if the
// trace holds no tensor.
[[nodiscard]] Plan plan_of_trace(const Trace& trace);

}  // namespace decoderscope::trace

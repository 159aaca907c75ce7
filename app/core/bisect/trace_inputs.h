#pragma once

#include "engine/model/inputs.h"
#include "engine/trace/trace.h"

namespace decoderscope {

// What the recorded model was given, as far as its names tell: tokens or vectors, the source's, padding masks. Inputs
// that the trace doesn't hold are empty.
[[nodiscard]] Inputs inputs_of_trace(const Trace& trace, const Config& config);

}  // namespace decoderscope

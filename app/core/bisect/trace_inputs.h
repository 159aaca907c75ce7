#pragma once

#include "app/core/session/scenario.h"
#include "engine/model/inputs.h"
#include "engine/trace/trace.h"

namespace decoderscope {

// What the recorded model was given, as far as its names tell: tokens or vectors, the source's, padding masks. Inputs
// that the trace doesn't hold are empty.
[[nodiscard]] Inputs inputs_of_trace(const Trace& trace, const Config& config);

// The scenario on what the recorded model was given; as it is where the trace doesn't hold that. Throws Error naming
// the trace if that doesn't fit the configuration.
[[nodiscard]] Scenario on_recorded_input(Scenario scenario, const Trace& trace);

}  // namespace decoderscope

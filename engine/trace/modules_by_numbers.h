#pragma once

#include "engine/graph/run.h"
#include "engine/load/names/mapping.h"
#include "engine/trace/trace.h"

namespace decoderscope::trace {

// Which parameters of ours the modules of a recording apply, where their names don't tell: a step of ours, computed
// from what a module was given, is what the module gave. It doesn't matter whether what it was given is right. A module
// for which no step is found applies what its twin in another layer does. By the name that its weight would have:
// "stack.0.ask.weight".
[[nodiscard]] load::names::Mapping modules_by_numbers(const Run& run, const Trace& trace,
                                                      const load::names::Mapping& known);

}  // namespace decoderscope::trace

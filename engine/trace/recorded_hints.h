#pragma once

#include "engine/model/config.h"
#include "engine/trace/trace.h"

#include <string>

namespace decoderscope {

// What a recording says of its model that names and shapes of parameters don't: nhead, norm_first, layer_norm_eps,
// activation, each only where everything that was recorded agrees.
[[nodiscard]] Overrides hints_of_trace(const Trace& trace);

// The same of a file with parameters; nothing if the recorder didn't write it.
[[nodiscard]] Overrides hints_of_file(const std::string& path);

}  // namespace decoderscope

#pragma once

#include "engine/load/model.h"
#include "engine/model/config.h"
#include "engine/trace/trace.h"

#include <memory>
#include <string>

namespace decoderscope::load {

// Whether a path is a trace by what is in the file, without being asked for as one: the recorder's file or manifest, an
// .npz, a dump in JSON. Other safetensors files may be models, and are opened as traces on request only.
[[nodiscard]] bool is_recording(const std::string& path);

// A trace as what can be opened in a model's place: Model::recorded holds its steps, and there are no weights. Reads no
// number. Throws Error as open_trace() does.
[[nodiscard]] std::shared_ptr<const Model> model_of_trace(const std::string& path);

// What a recording says of its model that names and shapes of parameters don't: nhead, norm_first, layer_norm_eps,
// activation, each only where everything that was recorded agrees.
[[nodiscard]] Overrides hints_of_trace(const trace::Trace& trace);

// The same of a file with parameters; nothing if the recorder didn't write it.
[[nodiscard]] Overrides hints_of_file(const std::string& path);

}  // namespace decoderscope::load

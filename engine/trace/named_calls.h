#pragma once

#include "engine/trace/trace.h"

#include <optional>
#include <string>
#include <string_view>

namespace decoderscope::trace {

// A trace without a list of calls whose tensors are named as a program names them (assets/tables/dumps.json: ONNX,
// Flax, Keras, …) gets the calls that the names tell: which module or operation gave each tensor, in the order of the
// file. The program is the one that most names are of; nothing happens if fewer than a quarter of them are.
void add_calls_by_names(Trace& trace);

// The call that a program's name stands for, without tensors: "Module.h.0.attn.Attention.forward.0" of msProbe. Nothing
// for other names.
[[nodiscard]] std::optional<TraceCall> named_call(std::string_view program, std::string_view name);

// The name of the module that gave a tensor, if it is called after that: "h.0.attn" of "h.0.attn.output".
[[nodiscard]] std::string module_called(std::string_view tensor);

}  // namespace decoderscope::trace

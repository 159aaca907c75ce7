#pragma once

#include "app/core/session/open_as.h"
#include "engine/model/load_progress.h"
#include "engine/model/model.h"

#include <memory>
#include <string>

namespace decoderscope {

// Whether a path is opened as a trace.
[[nodiscard]] bool opens_as_trace(const std::string& path, OpenAs as);

// What can be worked on: a model, or a trace in its place. The example of a model whose parameters lie in a recording
// is what was recorded, if that fits. Throws as load_model() and model_of_trace() do.
[[nodiscard]] std::shared_ptr<const Model> open_model(const std::string& name, OpenAs as, const Overrides& answers = {},
                                                      LoadProgress* progress = nullptr, const Mapping& mapping = {});

}  // namespace decoderscope

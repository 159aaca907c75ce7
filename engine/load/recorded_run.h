#pragma once

#include "engine/load/model.h"
#include "engine/model/config.h"
#include "engine/trace/recorded_plan.h"
#include "engine/trace/trace.h"

#include <memory>
#include <string>
#include <variant>

namespace decoderscope::load {

// Whether a path is a trace by what is in the file, without being asked for as one: the recorder's file or manifest, an
// .npz, a dump in JSON. Other safetensors files may be models, and are opened as traces on request only.
[[nodiscard]] bool is_recording(const std::string& path);

// A run that another program recorded, opened without the model that made it: its tensors as steps. There are no
// weights, so nothing else can be computed.
struct RecordedRun : ModelInfo {
    std::shared_ptr<const Plan> plan;
    trace::Trace trace;  // that it is of
    trace::RecordedSizes sizes;
    bool has_parameters = false;  // so that it may be opened as a model, too
};

// A trace as a run. Reads no number. Throws Error as open_trace() does.
[[nodiscard]] std::shared_ptr<const RecordedRun> run_of_trace(const std::string& path);

// What can be worked on.
using Opened = std::variant<std::shared_ptr<const Model>, std::shared_ptr<const RecordedRun>>;

// Never nullptr for what was opened.
[[nodiscard]] std::shared_ptr<const ModelInfo> about(const Opened& opened);
// nullptr for a model.
[[nodiscard]] const RecordedRun* recorded(const Opened& opened);

}  // namespace decoderscope::load

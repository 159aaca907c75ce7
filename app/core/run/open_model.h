#pragma once

#include "app/core/run/scenario.h"
#include "engine/files/mapped_file.h"
#include "engine/load/recorded_run.h"
#include "engine/model/inputs.h"
#include "engine/trace/trace.h"

#include <string>
#include <vector>

namespace decoderscope::core {

// What a path is opened as.
enum class OpenAs {
    whatever_it_is,  // a recorder's file is a trace, another file of tensors a model
    model,           // also a recorder's file that holds parameters
    trace,           // also a file of tensors without calls
};

// Whether a path is opened as a trace.
[[nodiscard]] bool opens_as_trace(const std::string& path, OpenAs as);

// What can be worked on: a model, or a recording. The example of a model whose parameters lie in a recording
// is what was recorded, if that fits; that of a model that has none is a sentence, if it can read it. Throws as
// load_model() and run_of_trace() do.
[[nodiscard]] load::Opened open_model(const std::string& name, OpenAs as, const Overrides& answers = {},
                                      LoadProgress* progress = nullptr, const load::names::Mapping& mapping = {});

// What the recorded model was given, as far as its names tell: tokens or vectors, the source's, masks, positions,
// documents. Inputs that the trace doesn't hold are empty. A padding mask may begin with `kept` positions that a cache
// holds.
[[nodiscard]] Inputs inputs_of_trace(const trace::Trace& trace, const Config& config, Index kept = 0);
// How many tokens of its row stand before each, padding left out: of a padding mask [batch, pos], 1 = keep.
[[nodiscard]] Tensor counts_of_tokens(const Tensor& keep);
// What a run on recorded inputs takes over, and what is odd about it, a sentence each: a wrong mask that is given to
// both sides shows nowhere.
[[nodiscard]] std::vector<Sentence> taken_from_recording(const trace::Trace& trace, const Inputs& inputs);
// What the recorded model was given and a run on these inputs, behind so many kept positions, doesn't follow, a
// sentence each.
[[nodiscard]] std::vector<Sentence> not_compared(const trace::Trace& trace, const Inputs& inputs, const Config& config,
                                                 Index kept = 0);

// The scenario on what the recorded model was given; as it is if the trace doesn't hold that. Throws Error naming the
// trace if that doesn't fit the configuration.
[[nodiscard]] Scenario on_recorded_input(Scenario scenario, const trace::Trace& trace);

}  // namespace decoderscope::core

#pragma once

#include "app/core/run/scenario.h"
#include "engine/model/inputs.h"
#include "engine/trace/trace.h"

#include <optional>
#include <vector>

// A recording of a generation: the recorded model was called again and again, each time with what is new of a text, and
// kept keys and values in between.
namespace decoderscope::core::bisect {

// Whether one of a trace's calls is of the recorded model itself, as the first is.
[[nodiscard]] bool calls_model(const trace::TraceCall& call, const trace::Trace& trace);

// Each call of the recorded model as a recording of its own, in which every module is called as in the first; one if it
// was called once, or if the trace lists no calls.
[[nodiscard]] std::vector<trace::Trace> recorded_passes(const trace::Trace& trace);

// What a pass computes: a part of the text so far, with what was kept of the positions before it.
struct TextPart {
    Inputs text;
    InputsPart part;
};
// What a call computes after an earlier one: if its attention has more keys than queries, new tokens alone, which go on
// with the text; otherwise a text of its own, unless its tokens alone tell that it `goes_on`. `first` is the first
// call's recording, of so many positions. Nothing if its attention wasn't recorded, so that it isn't clear which of the
// two it is, or if it doesn't fit the text.
[[nodiscard]] std::optional<TextPart> continued(const TextPart& before, const trace::Trace& pass,
                                                const trace::Trace& first, Index prefilled, const Config& config,
                                                bool goes_on = false);

}  // namespace decoderscope::core::bisect

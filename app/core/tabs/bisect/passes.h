#pragma once

#include "app/core/run/scenario.h"
#include "engine/decoder/kv_cache.h"
#include "engine/model/inputs.h"
#include "engine/trace/trace.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

// A recording of a generation: the recorded model was called again and again, each time with what is new of a text, and
// kept keys and values in between.
namespace decoderscope::core::bisect {

// Each call of the recorded model as a recording of its own, in which every module is called as in the first; one if it
// was called once, or if the trace lists no calls.
[[nodiscard]] std::vector<trace::Trace> recorded_passes(const trace::Trace& trace);

// What a pass computes: a part of the text so far, with what was kept of the positions before it.
struct TextPart {
    Inputs text;
    InputsPart part;
};
// What a call computes after an earlier one: if its attention has more keys than queries, new tokens alone, which go on
// with the text; otherwise a text of its own. `first` is the first call's recording, of so many positions. Nothing if
// its attention wasn't recorded, so that it isn't clear which of the two it is, or if it doesn't fit the text.
[[nodiscard]] std::optional<TextPart> continued(const TextPart& before, const trace::Trace& pass,
                                                const trace::Trace& first, Index prefilled, const Config& config);

// A pass behind a cache, to be computed with a mistake in it.
struct CachedPass {
    Scenario scenario;  // its inputs are the part's
    decoder::Past past;
    Index prefilled = 0;                  // how many positions the first pass computed
    std::vector<std::string> attentions;  // the decoder's self-attentions, in the order of its layers
};

// A mistake of cached paths. `make` changes the pass, and returns false if it doesn't concern it.
struct PassMistake {
    const char* name;
    Phrase cause;
    std::function<bool(CachedPass&)> make;
};
// The likeliest first.
[[nodiscard]] std::span<const PassMistake> pass_mistakes();

}  // namespace decoderscope::core::bisect

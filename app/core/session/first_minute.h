#pragma once

#include "app/core/run/slice.h"
#include "app/core/run/snapshot.h"
#include "engine/base/message.h"
#include "engine/tensor/tensor.h"

#include <string>
#include <vector>

// The first minute: seven places of a pass, each with a sentence or two.
namespace decoderscope::core {

// A place that is shown, and what is said of it, at most 35 words.
struct MinuteStop {
    Phrase sentence;
    std::string step;  // the window goes there
    // What the learner is to click: a step on the strip, or a cell of this stop's step; empty: nothing.
    std::string then_step = {};
    Cell then_cell = {};
};

// The stops of any model's pass: first the pattern, where a model opens, then the way from the text to the answer, in
// the attention of this step or in the first one, in the batch row and head of
// `place`. What a model lacks is left out; none for a recording, and without an attention.
[[nodiscard]] std::vector<MinuteStop> first_minute(const Snapshot& shown, const Step& here, Place place);

// The cell [batch, head, query, key] with the largest weight of the last query that isn't padding; empty if there is
// none.
[[nodiscard]] Cell strongest_weight(const Snapshot& shown, const Step& pattern, Place place);

}  // namespace decoderscope::core

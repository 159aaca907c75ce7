#pragma once

#include "app/core/jobs/resumable.h"
#include "app/core/run/comparison.h"
#include "app/core/run/scenario.h"
#include "engine/decoder/kv_cache.h"
#include "engine/model/inputs.h"

#include <memory>
#include <string>
#include <vector>

namespace decoderscope::core::generate {

// A generation as the run of runs that it is: the text in one pass or in chunks, then each token that is added.

// One pass: the positions that it computed, what the cache held before, and its run.
struct Pass {
    InputsPart part;
    decoder::Past before;
    std::shared_ptr<const Run> run;
};

struct Passes {
    std::vector<Pass> all;
    Tensor tokens;  // [batch, pos]: the text and what was added
};

struct PassesRequest {
    Index count = 1;            // how many tokens are added to each row
    std::vector<Index> chunks;  // how many positions of the text each of the first passes computes; then the rest
    std::vector<std::string> asked = {};  // tensors that are made on demand; "*": all
};

// Adds the most probable tokens to all rows, whatever they are: an end token ends nothing. A row's next token follows
// its last position that isn't padding; padding on the right stays between the two. The last token is in no pass.
// Throws Error if the model can't continue a text, the chunks don't fit into it, or a logit is NaN.
[[nodiscard]] Resumable<Passes> passes_of(Scenario scenario, PassesRequest request);

// All recorded tensors under the names of the contract: pass.0/NAME, pass.1/cache/NAME, tokens.
[[nodiscard]] NamedTensors tensors_of(const Passes& passes);

}  // namespace decoderscope::core::generate

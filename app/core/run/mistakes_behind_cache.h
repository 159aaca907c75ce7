#pragma once

#include "app/core/run/scenario.h"
#include "engine/decoder/kv_cache.h"

#include <string>
#include <string_view>
#include <vector>

// The mistakes that only a pass behind a KV cache can make: it reads other rows than it should, or counts what is new
// in another way. assets/tables/mutations.json lists them.
namespace decoderscope::core {

// A pass behind a cache, to be computed with a mistake in it.
struct CachedPass {
    Scenario scenario;  // its inputs are the part's
    decoder::Past past;
    Index prefilled = 0;                  // how many positions the first pass computed
    std::vector<std::string> attentions;  // the decoder's self-attentions, in the order of its layers
    decoder::Past before_rows = {};       // `past` before rows of the batch were chosen from it, as beam search does
};

[[nodiscard]] std::vector<std::string> self_attentions(const Plan& plan);

// Changes the pass by the mistake of that name (mutations::mutations_behind_cache()). Returns false if it doesn't
// concern it. Throws Error if the mistake can't be made with its model.
[[nodiscard]] bool make_mistake(std::string_view name, CachedPass& pass);

}  // namespace decoderscope::core

#pragma once

#include "engine/base/message.h"
#include "engine/graph/plan.h"

namespace decoderscope::core::generate {

// What the KV cache keeps for one position, in numbers, over all layers of the decoder.
struct CacheSize {
    Index kept = 0;          // of a row: k and v of each head that has its own, or what latent attention keeps for them
    Index with_k_and_v = 0;  // what k and v of all heads take
    // Of one layer with latent attention: 0 without.
    Index latent = 0, shared = 0;

    [[nodiscard]] bool is_latent() const { return latent > 0; }
};
[[nodiscard]] CacheSize cache_size(const Plan& plan);

// "Kept 20 rows × (16 latent + 4 shared numbers) × 2 layers = 800 numbers, 3200 bytes; k and v, made of them
// only where they are looked at, would take 2560 numbers, 10,240 bytes", of a latent cache. A number has 4 bytes.
[[nodiscard]] Sentence latent_cache_sentence(const CacheSize& size, Index rows, Index layers);

}  // namespace decoderscope::core::generate

#include "app/core/generate/cache_size.h"

#include "app/core/generate/shown_generation.h"
#include "app/core/text/numbers.h"

#include <string>

namespace decoderscope::core::generate {

namespace {

constexpr Index kBytes = 4;  // of a float32

// The numbers per position of k or v [batch, kv_head, pos, d_head].
Index numbers_of(Ref rows) { return rows == nullptr ? 0 : rows->axes[1].size * rows->axes[3].size; }

}  // namespace

CacheSize cache_size(const Plan& plan) {
    CacheSize size;
    const auto layers = static_cast<Index>(plan.blocks(StackKind::decoder).size());
    for (Index layer = 0; layer < layers; ++layer) {
        const std::string attention = cached_attention(plan, layer);
        const Index whole = numbers_of(plan.step_of(attention, AttentionStep::key)) +
                            numbers_of(plan.step_of(attention, AttentionStep::value));
        size.with_k_and_v += whole;
        const Ref latent = plan.step_of(attention, AttentionStep::kv_latent);
        if (latent == nullptr) {
            size.kept += whole;
            continue;
        }
        const Ref shared = plan.step_of(attention, AttentionStep::k_shared);
        size.latent = latent->axes.back().size;
        size.shared = shared == nullptr ? 0 : shared->axes.back().size;
        size.kept += size.latent + size.shared;
    }
    return size;
}

Sentence latent_cache_sentence(const CacheSize& size, Index rows, Index layers) {
    return message_n(
        "Kept {count} row × ({latent} latent + {shared} shared numbers) × {layers} layers = {numbers} numbers, {bytes} "
        "bytes; k and v, which are made from them only to be looked at, would take {others} numbers, {other_bytes} "
        "bytes",
        "Kept {count} rows × ({latent} latent + {shared} shared numbers) × {layers} layers = {numbers} numbers, "
        "{bytes} bytes; k and v, which are made from them only to be looked at, would take {others} numbers, "
        "{other_bytes} bytes",
        rows,
        {{"latent", size.latent},
         {"shared", size.shared},
         {"layers", layers},
         {"numbers", grouped(rows * size.kept)},
         {"bytes", grouped(rows * size.kept * kBytes)},
         {"others", grouped(rows * size.with_k_and_v)},
         {"other_bytes", grouped(rows * size.with_k_and_v * kBytes)}});
}

}  // namespace decoderscope::core::generate

#include "app/core/generate/shown_generation.h"
#include "engine/base/translate.h"
#include "engine/decoder/kv_cache.h"
#include "tests/catch.h"
#include "tests/core/fixture_scenario.h"

#include <string>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::core::generate;
using decoderscope::testing::fixture_scenario;

TEST_CASE("what a row of the cache holds is what a pass over it leaves") {
    for (const char* name : {"llama-like", "gemma-3-like", "deepseek-v2-like", "deepseek-v3-like", "gpt2-like"}) {
        INFO(name);
        const Scenario scenario = fixture_scenario(name);
        const std::shared_ptr<const Run> run = execute(plan_of(scenario));
        const CacheSize size = cache_size(run->plan());
        const Index rows = scenario.inputs.batch() * scenario.inputs.pos();
        CHECK(size.kept * rows == decoder::past_of(*run).numbers());
        CHECK(size.is_latent() == (scenario.config().kv_lora_rank > 0));
        CHECK((size.kept < size.with_k_and_v) == size.is_latent());
    }
}

TEST_CASE("a latent cache says its bytes, and what k and v would take") {
    const CacheSize size = {.kept = 40, .with_k_and_v = 256, .latent = 16, .shared = 4};
    CHECK(
        tr(latent_cache_sentence(size, 3, 2)) ==
        std::string("Kept 3 rows × (16 latent + 4 shared numbers) × 2 layers = 120 numbers, 480 bytes; k and v, which "
                    "are made from them only to be looked at, would take 768 numbers, 3,072 bytes"));
}

#include "app/core/compare/transformer_lens.h"
#include "app/core/run/scenario.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"

using namespace decoderscope;
using namespace decoderscope::core::diff;
using namespace decoderscope::core;
using namespace decoderscope::load;

TEST_CASE("tensors go by TransformerLens' names where it has them") {
    const auto plan = plan_of(scenario_of(make_bundled_model("causal-lm")));
    const auto name = [&](const char* step) { return transformer_lens_name(*plan, *plan->find(step)); };
    CHECK(name("embed") == "hook_embed");
    CHECK(name("blocks.0.attn.pattern") == "blocks.0.attn.hook_pattern");
    CHECK(name("blocks.3.ln1.scale") == "blocks.3.ln1.hook_scale");
    CHECK(name("blocks.3.resid_post") == "blocks.3.hook_resid_post");
    CHECK(name("blocks.1.attn.masked_scores") == "blocks.1.attn.hook_attn_scores");
    CHECK(name("blocks.1.attn.attn_scores").empty());
    CHECK(name("blocks.1.attn.mask").empty());
    CHECK(name("logits").empty());
    CHECK(name("embed.weight").empty());
}

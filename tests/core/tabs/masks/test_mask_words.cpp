// The mask in the words of other programs; that the code hides what it should, PyTorch says
// (tests/notebook/test_masks.py).
#include "app/core/tabs/masks/mask_words.h"

#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/core/tabs/step/shown_run.h"
#include "tests/engine/contains.h"

#include <algorithm>
#include <set>

using namespace decoderscope;
using namespace decoderscope::testing;
using core::masks::in_other_words;
using core::masks::MaskInWords;

namespace {

MaskInWords words_of(const std::string& model, const std::string& attention, std::string_view api,
                     const std::vector<Edit>& edits = {}) {
    Scenario scenario = scenario_of(make_bundled_model(model));
    scenario.edits = edits;
    for (MaskInWords& one : in_other_words(scenario, *plan_of(scenario), attention))
        if (one.api == api) return one;
    FAIL("no such API");
    return {};
}

}  // namespace

TEST_CASE("nn.MultiheadAttention hides where SDPA keeps, and padding has an argument of its own") {
    const MaskInWords module = words_of("reverse", "blocks.0.attn", "torch.nn.MultiheadAttention");
    CHECK(module.kept == "False");
    CHECK(module.hidden == "True");
    CHECK(module.code ==
          std::vector<std::string>{"keep = torch.ones(L, S, dtype=torch.bool)", "keep = keep.tril()",
                                   "attention(x, x, x, key_padding_mask=padding == 0, attn_mask=~keep)"});
    const MaskInWords crossing = words_of("reverse", "blocks.0.cross_attn", "torch.nn.MultiheadAttention");
    CHECK(crossing.code == std::vector<std::string>{"attention(x, memory, memory, key_padding_mask=padding == 0)"});
    const MaskInWords function = words_of("verses", "blocks.0.attn", "F.scaled_dot_product_attention");
    CHECK(function.kept == "True");
    CHECK(function.code == std::vector<std::string>{"F.scaled_dot_product_attention(q, k, v, is_causal=True)"});
}

TEST_CASE("what was painted is the mask as it is on screen, in every API that takes one") {
    const std::vector<Edit> painted = {MaskEdit{"blocks.0.attn", 0, std::nullopt, 2, 1, false}};
    for (const char* api : {"torch.nn.MultiheadAttention", "F.scaled_dot_product_attention", "masked_fill",
                            "flex_attention", "jax.nn.dot_product_attention", "keras.layers.MultiHeadAttention"}) {
        INFO(api);
        const MaskInWords words = words_of("verses", "blocks.0.attn", api, painted);
        CHECK(contains(words.code.front(), "painted"));
        CHECK_FALSE(contains(words.code.back(), "causal"));
        CHECK(words.unsaid.empty());
    }
    CHECK(words_of("verses", "blocks.0.attn", "flash_attn", painted).unsaid.english() == "what was painted");
}

TEST_CASE("the command line says a mask in all words, in one API's, or what there is instead") {
    const Outcome all = run({"mask", "reverse"});
    CHECK(all.status == 0);
    for (const char* api : {"torch.nn.MultiheadAttention", "flash_attn", "keras.layers.MultiHeadAttention"})
        CHECK(contains(all.out, api));
    const Outcome one = run({"mask", "verses", "--attention", "blocks.1.attn", "--api", "flash_attn"});
    CHECK(one.status == 0);
    CHECK(contains(one.out, "flash_attn_func(q, k, v, causal=True)"));
    CHECK_FALSE(contains(one.out, "keras"));
    const Outcome unknown = run({"mask", "reverse", "--api", "tensorflow"});
    CHECK(unknown.status != 0);
    CHECK(is_one_line(unknown.err));
    CHECK(contains(unknown.err, "--api tensorflow: expected one of torch.nn.MultiheadAttention, "));
    const Outcome nowhere = run({"mask", "reverse", "--attention", "blocks.9.attn"});
    CHECK(contains(nowhere.err, "--attention blocks.9.attn: this model has no such attention"));
}

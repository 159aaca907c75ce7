// The numbers of weights in fewer bits, as explanations show them.

#include "app/core/run/scenario.h"
#include "app/core/tabs/step/explanation_text.h"
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/engine/contains.h"

#include <string>

using namespace decoderscope;
using namespace decoderscope::core;
using decoderscope::testing::contains;

TEST_CASE("a stored number is written with its scale and what both make") {
    CHECK(step::stored_text({6.0F, 0.0625F}) == "(0.0625 · 6 = 0.375)");
    CHECK(step::stored_text({-6.0F, 0.0625F}) == "(0.0625 · (−6) = −0.375)");
    CHECK(step::stored_text({3.0F, 0.5F, 0.25F}) == "(0.5 · 3 − 0.25 = 1.25)");
}

TEST_CASE("an explanation of what a GGUF file's matrix makes shows its stored numbers, and so does that of a weight") {
    const std::string path = DECODERSCOPE_TESTS_DIR "/reference/stored/models/llama/model.gguf";
    const Scenario scenario = scenario_of(load::load_model(path));
    const auto run = execute(plan_of(scenario));
    const auto texts = [&](const char* name, const Cell& cell) {
        const step::ReadExplanation read = step::read_explanation(scenario, *run, *run->plan().find(name), cell);
        std::string all;
        for (const Line& line : read.explanation.lines) {
            all += line.name;
            for (const Term& term : line.terms)
                for (const Factor& factor : term.factors) all += "|" + step::factor_text(factor, true);
        }
        return all;
    };
    CHECK(contains(texts("embed", {0, 1, 2}), " · "));                     // Q8_0
    CHECK(contains(texts("blocks.0.mlp.pre", {0, 1, 2}), " = "));          // MXFP4
    CHECK(contains(texts("blocks.0.mlp_out", {0, 1, 2}), " − "));          // Q4_K, with minima
    CHECK_FALSE(contains(texts("blocks.0.attn.v", {0, 0, 1, 2}), " = "));  // F16
    CHECK(contains(texts("layers.0.up_proj.weight", {0, 1}), "scale · stored number"));
    const auto written = testing::run({"explain", path, "--cell", "blocks.0.mlp.pre[0, 1, 2]"});
    CHECK(written.status == 0);
    CHECK(contains(written.out, " · ("));
}

// The logit lens: the final norm and the head after each block.
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "tests/catch.h"
#include "tests/engine/fixtures.h"
#include "tests/engine/same_bits.h"
#include "tests/engine/small_models.h"

using namespace decoderscope;
using namespace decoderscope::decoder;
using namespace decoderscope::testing;

namespace {

std::shared_ptr<const Run> with_lens(PassRequest request, const Run* previous = nullptr) {
    request.logit_lens = true;
    return execute(plan_decoder(request), {.previous = previous});
}

}  // namespace

TEST_CASE("the logit lens of every block is what PyTorch computes from the stream that leaves it") {
    const auto reference =
        nlohmann::json::parse(read_text(DECODERSCOPE_TESTS_DIR "/reference/tabs_generate.json"))["lens"];
    REQUIRE(reference.size() == 4);
    for (const auto& [model, lenses] : reference.items()) {
        const Fixture fixture = load_fixture(model);
        const auto run = with_lens(fixture.request());
        CHECK(lenses.size() == static_cast<std::size_t>(fixture.config.num_layers) + 1);
        for (const auto& [at, rows] : lenses.items()) {
            INFO(model << ": " << at);
            const Tensor& logits = run->value("logit_lens." + at + ".logits");  // [batch, pos, vocab]
            REQUIRE(logits.rank() == 3);
            REQUIRE(rows.size() == static_cast<std::size_t>(logits.dim(1)));
            for (Index pos = 0; pos < logits.dim(1); ++pos)
                for (Index token = 0; token < logits.dim(2); ++token)
                    CHECK(logits.at(Cell{0, pos, token}) ==
                          Approx(rows[static_cast<std::size_t>(pos)][static_cast<std::size_t>(token)].get<float>())
                              .margin(2e-6));
        }
    }
}

TEST_CASE("after the last block the logit lens is the output, bit for bit, and the pass itself is as it was") {
    for (const char* model : {"gpt2-like", "llama-like", "encdec-tokens", "causal-lm", "post-ln-encdec"}) {
        INFO(model);
        const Fixture fixture = load_fixture(model);
        const auto plain = fixture.run();
        const auto run = with_lens(fixture.request(), plain.get());
        const std::string last = "logit_lens.blocks." + std::to_string(fixture.config.num_layers - 1);
        CHECK(same_bits(run->value(last + ".logits"), run->value("logits")));
        CHECK(same_bits(run->value(last + ".probs"), run->value("probs")));
        std::size_t lens = 0;
        for (const Step& step : run->plan().steps()) {
            if (step.name.starts_with("logit_lens.")) {
                ++lens;
                CHECK(plain->plan().find(step.name) == nullptr);
            } else {
                CHECK(run->value(step.id).shares_values_with(plain->value(step.name)));
            }
        }
        CHECK(run->computed_steps() == lens);  // nothing else was recomputed
    }
}

TEST_CASE("without a head there is no logit lens") {
    const SmallModel model = small_model();
    const auto run = with_lens({model.config, &model.weights, model.inputs, model.edits, model.dropout_seed});
    for (const Step& step : run->plan().steps()) CHECK_FALSE(step.name.starts_with("logit_lens."));
}

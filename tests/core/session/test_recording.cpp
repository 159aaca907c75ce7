// Fewer recorded steps: the memory they need, what remains readable, and the error if a run would not fit.
#include "app/core/run/scenario.h"
#include "app/core/session/session.h"
#include "engine/base/error.h"
#include "engine/decoder/initial_weights.h"
#include "tests/catch.h"
#include "tests/engine/same_bits.h"

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::decoder;
using namespace decoderscope::load;
using decoderscope::testing::same_bits;

namespace {

// 2 blocks of 4 heads on 40 tokens.
Scenario scenario() {
    Model model{{.name = "two blocks"}, R"({"model_type": "decoderscope", "d_model": 32, "nhead": 4, "num_layers": 2,
        "vocab_size": 50, "lm_head": true, "norm_first": true})"};
    model.weights = initial_weights(model.config(), 1);
    std::vector<float> tokens(40);
    for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<float>(i * 7 % 50);
    model.example.tokens = Tensor({{axis::batch, 1}, {axis::pos, 40}}, tokens);
    return scenario_of(std::make_shared<const Model>(std::move(model)));
}

}  // namespace

TEST_CASE("the bytes that a run needs are those of the tensors that it makes") {
    const auto plan = plan_of(scenario());
    const auto run = execute(plan);
    std::size_t made = 0;
    for (const Step& step : plan->steps()) {
        const Tensor& tensor = run->value(step.id);
        if (!step.is_source() && !tensor.empty() && tensor.is_ready()) made += tensor.values().size_bytes();
    }
    CHECK(bytes_needed(*plan, Recording::all) == made);
    CHECK(bytes_needed(*plan, Recording::all, true) == run->recorded_bytes());
    CHECK(bytes_needed(*plan, Recording::patterns) < made);
}

TEST_CASE("a run that does not fit is refused beforehand, with the numbers and what would do") {
    const auto plan = plan_of(scenario());
    const std::size_t all = bytes_needed(*plan, Recording::all), less = bytes_needed(*plan, Recording::patterns);
    CHECK_NOTHROW(check_memory(*plan, Recording::all, all));
    CHECK_NOTHROW(check_memory(*plan, Recording::all, std::nullopt));
    CHECK_NOTHROW(check_memory(*plan, Recording::patterns, less));
    try {
        check_memory(*plan, Recording::all, all - 1);
        FAIL("was not refused");
    } catch (const Error& error) {
        const std::string text = error.what();
        CHECK(text.find("needs " + bytes_text(all)) != std::string::npos);
        CHECK(text.find(bytes_text(all - 1) + " of memory is free") != std::string::npos);
        CHECK(text.find("--record patterns") != std::string::npos);
        CHECK(text.find(bytes_text(less)) != std::string::npos);
    }
    CHECK(bytes_text(13'200'000'000) == "13.2 GB");
    CHECK(bytes_free().value_or(1) > 0);
}

TEST_CASE("what isn't recorded is recomputed on demand, and everything is the same") {
    Session session(scenario());
    session.finish();
    const std::shared_ptr<const Run> all = session.shown().run;
    session.apply(command::SetRecording{Recording::patterns});
    session.finish();
    const Run& run = *session.shown().run;
    CHECK_FALSE(run.value("blocks.1.attn.attn_scores").is_ready());
    CHECK_FALSE(run.value("blocks.0.mlp.post").is_ready());
    CHECK(run.value("blocks.1.attn.pattern").is_ready());
    const Ref post = run.plan().find("blocks.1.mlp.post");
    const Explanation explanation = run.explain(post->id, {0, 3, 1});
    CHECK(explanation.lines.back().value == Approx(all->value("blocks.1.mlp.post").at(Cell{0, 3, 1})).margin(1e-6));
    for (const Step& step : run.plan().steps()) {
        INFO(step.name);
        if (!run.value(step.id).empty()) CHECK(same_bits(run.value(step.id), all->value(step.name)));
    }
    CHECK(session.shown().scenario.recording == Recording::patterns);
    session.apply(command::Undo{});
    session.finish();
    CHECK(session.shown().scenario.recording == Recording::all);
}

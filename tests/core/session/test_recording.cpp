// Fewer recorded steps: the memory they need, what remains readable, and the error if a run would not fit.
#include "app/core/run/scenario.h"
#include "app/core/run/slice.h"
#include "app/core/session/session.h"
#include "engine/base/error.h"
#include "engine/decoder/initial_weights.h"
#include "tests/catch.h"
#include "tests/core/session/apply.h"
#include "tests/engine/same_bits.h"

#include <algorithm>

using namespace decoderscope::testing;

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

// 2 blocks of 4 heads on 700 tokens: scores and patterns of 7.8 MB, everything else below 1 MB.
Scenario long_scenario() {
    Scenario long_one = scenario();
    std::vector<float> tokens(700);
    for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<float>(i * 7 % 50);
    long_one.inputs.tokens = Tensor({{axis::batch, 1}, {axis::pos, 700}}, tokens);
    return long_one;
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
    CHECK(bytes_of_all(*plan) == made);
    CHECK(bytes_of_all(*plan, true) == run->recorded_bytes());
    CHECK(kept_of(*plan, Recording::all, std::nullopt).bytes == made);
    CHECK(kept_of(*plan, Recording::patterns, std::nullopt).bytes < made);
}

TEST_CASE("a run that does not fit is refused beforehand, with the numbers and what would do") {
    const auto plan = plan_of(long_scenario());
    const std::size_t all = bytes_of_all(*plan), less = kept_of(*plan, Recording::fit, 0).bytes;
    CHECK_NOTHROW(check_room(*plan, Recording::all, all));
    CHECK_NOTHROW(check_room(*plan, Recording::all, std::nullopt));
    CHECK_NOTHROW(check_room(*plan, Recording::fit, less));
    CHECK_THROWS_AS(check_room(*plan, Recording::fit, less - 1), Error);
    try {
        check_room(*plan, Recording::all, all - 1);
        FAIL("was not refused");
    } catch (const Error& error) {
        const std::string text = error.what();
        CHECK(text.find("needs " + bytes_text(all)) != std::string::npos);
        CHECK(text.find(bytes_text(all - 1) + " of memory is free") != std::string::npos);
        CHECK(text.find("--record fit") != std::string::npos);
        CHECK(text.find(bytes_text(less)) != std::string::npos);
    }
    CHECK(bytes_text(13'200'000'000) == "13.2 GB");
    CHECK(room_for_tensors(*plan, 0) == std::nullopt);  // so small a run always fits
}

TEST_CASE("what there is room for is kept: first the streams, keys and values, then what is slow to compute again") {
    const auto plan = plan_of(long_scenario());
    const std::size_t all = kept_of(*plan, Recording::all, std::nullopt).bytes;
    const std::size_t least = kept_of(*plan, Recording::fit, 0).bytes;
    REQUIRE(least < all / 3 * 2);
    std::size_t before = 0;
    for (std::size_t room = least; room <= all; room += (all - least) / 8) {
        const KeptTensors kept = kept_of(*plan, Recording::fit, room);
        CHECK(kept.bytes <= room);
        const bool is_all = kept.steps.empty();
        const auto many =
            is_all ? plan->steps().size() : static_cast<std::size_t>(std::ranges::count(kept.steps, true));
        CHECK(many >= before);  // more room, no less kept
        before = many;
        for (const char* name : {"blocks.0.resid_pre", "blocks.1.attn.k", "blocks.1.attn.v", "blocks.0.ln1.scale"})
            CHECK(kept(*plan->find(name)));
        // A score takes 2 · d_head operations, a weight of the pattern a handful.
        for (const char* block : {"blocks.0", "blocks.1"})
            if (!kept(*plan->find(std::string(block) + ".attn.attn_scores")))
                CHECK_FALSE(kept(*plan->find(std::string(block) + ".attn.pattern")));
    }
    CHECK(kept_of(*plan, Recording::fit, all).steps.empty());
    CHECK(kept_of(*plan, Recording::fit, std::nullopt).steps.empty());
}

TEST_CASE("a run that fits has the bits of one that keeps all, says what it left out, and explains its cells") {
    const Scenario scenario = long_scenario();
    const auto plan = plan_of(scenario);
    const KeptTensors kept = kept_of(*plan, Recording::fit, 0);
    const auto all = execute(plan), fits = execute(plan, {.kept = kept.in_a_run()});
    CHECK(what_was_left_out(*all).empty());
    CHECK(what_was_left_out(*fits).english().find("are not kept") != std::string::npos);
    const Ref pattern = plan->find("blocks.1.attn.pattern");
    const Cell cell = {0, 2, 650, 640};
    CHECK(fits->explain(pattern->id, cell).lines.back().value == all->explain(pattern->id, cell).lines.back().value);
    CHECK_FALSE(fits->value(pattern->id).is_ready());  // a row was enough
    CHECK(decoderscope::testing::first_difference(*fits, *all) == "");
}

TEST_CASE("a picture of what isn't kept is that of a run that keeps all, and takes no more than its own room") {
    Scenario scenario = long_scenario();
    scenario.edits = {MaskEdit{"blocks.1.attn", 0, 1, 600, 20, false}, ScaleHead{"blocks.0.attn", 3, 0.5F}};
    const auto plan = plan_of(scenario);
    const auto all = execute(plan), fits = execute(plan, {.kept = kept_of(*plan, Recording::fit, 0).in_a_run()});
    std::size_t by_rows = 0;
    for (const Step& step : plan->steps())
        for (const Index head : {Index{1}, Place::kAllHeads}) {
            if (all->value(step.id).empty() || (head < 0 && !step.is_scores)) continue;
            INFO(step.name << ", head " << head);
            const bool was_by_rows = fits->value(step.id).by_rows() != nullptr;
            const Heatmap shown = heatmap_of(scenario, *fits, step, {0, head}),
                          whole = heatmap_of(scenario, *all, step, {0, head});
            CHECK(shown.values == whole.values);
            CHECK(shown.hidden == whole.hidden);
            CHECK(shown.range == whole.range);
            if (was_by_rows) CHECK_FALSE(fits->value(step.id).is_ready());
            by_rows += was_by_rows;
        }
    CHECK(by_rows > 4);
}

TEST_CASE("what isn't recorded is recomputed on demand, and everything is the same") {
    Session session(scenario());
    session.finish();
    const std::shared_ptr<const Run> all = session.shown().run;
    apply(session, command::SetRecording{Recording::patterns});
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
    apply(session, command::Undo{});
    CHECK(session.shown().scenario.recording == Recording::fit);
}

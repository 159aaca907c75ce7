// The backward pass as the window shows it: where it is on the timeline and the map, what is said beside it.
#include "app/core/compare/transformer_lens.h"
#include "app/core/run/slice.h"
#include "app/core/tabs/step/explanation_text.h"
#include "app/core/tabs/step/shown_step.h"
#include "engine/backward/gradient.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"

#include <algorithm>
#include <set>

using namespace decoderscope::testing;
using namespace decoderscope::backward;
using namespace decoderscope::core::diff;
using namespace decoderscope::core::step;

namespace {

Scenario asking(const char* model, const char* of) {
    Scenario scenario = scenario_of(make_bundled_model(model));
    scenario.gradient_target = of;
    return scenario;
}

}  // namespace

TEST_CASE("each step of the backward pass names what it is the gradient by, and parts of it do, too") {
    const auto plan = plan_of(asking("reverse", "logits[0, 1, 2]"));
    const StepId back = *backward_begins(*plan);
    std::size_t parts = 0;
    for (const Step& step : plan->steps()) {
        INFO(step.name);
        const Ref by = step.gradient_wrt ? &(*plan)[*step.gradient_wrt] : nullptr;
        CHECK((by != nullptr) == (step.id >= back));
        if (by == nullptr) continue;
        CHECK(by->id < back);
        CHECK(by->axes == step.axes);
        if (step.role == Role::recorded) CHECK(plan->gradient_wrt(*by) == &step);
        parts += step.role == Role::internal ? 1U : 0U;
    }
    CHECK(parts > 10);
}

TEST_CASE("the map has the backward pass in blocks of its own") {
    const auto plan = plan_of(asking("reverse", "logits[0, 1, 2]"));
    const std::vector<OutlineBlock> outline = outline_of(*plan);
    const auto first = std::ranges::find_if(outline, &OutlineBlock::is_back);
    REQUIRE(first != outline.end());
    CHECK(std::all_of(first, outline.end(), [](const OutlineBlock& block) { return block.is_back; }));
    CHECK(first->parts.front().steps.front() == *backward_begins(*plan));
}

TEST_CASE("masked cells are hatched in the gradient by the pattern, and are 0 in that by the scores") {
    const Scenario scenario = asking("induction", "logits[0, 5, 3]");
    const auto run = execute(plan_of(scenario));
    const Plan& plan = run->plan();
    const Step& by_pattern = *plan.find("grad.blocks.0.attn.pattern");
    const Step& by_scores = *plan.find("grad.blocks.0.attn.attn_scores");
    CHECK(scale_of(*run, by_pattern) == Scale::diverging);
    const Heatmap pattern = heatmap_of(scenario, *run, by_pattern, {0, 0});
    const Heatmap scores = heatmap_of(scenario, *run, by_scores, {0, 0});
    REQUIRE(pattern.hidden.size() == pattern.values.size());
    std::size_t hidden = 0;
    for (std::size_t i = 0; i < pattern.hidden.size(); ++i) {
        if (pattern.hidden[i] == hidden_by::nothing) continue;
        ++hidden;
        CHECK(scores.values[i] == 0.0F);
    }
    CHECK(hidden > 10);
    CHECK(scores_of_pattern(plan, *plan.find("blocks.0.attn.pattern"))->name == "blocks.0.attn.attn_scores");
}

TEST_CASE("beside a gradient stands what it is, and by the pattern what it isn't") {
    const auto plan = plan_of(asking("induction", "loss"));
    const auto words = [&](const char* name) {
        std::string all;
        for (const Sentence& sentence : words_on_gradient(*plan, *plan->find(name), "loss"))
            all += sentence.english() + "\n";
        return all;
    };
    CHECK(words("grad.blocks.0.attn_out").find("slope at one point") != std::string::npos);
    CHECK(words("grad.blocks.0.attn.pattern").find("mean nothing") != std::string::npos);
    CHECK(words("grad.blocks.0.attn.attn_scores").find("lower the loss") != std::string::npos);
    CHECK(words("blocks.0.attn_out").empty());
    CHECK(transformer_lens_name(*plan, *plan->find("grad.blocks.0.attn.z")) == "blocks.0.attn.hook_z_grad");
}

TEST_CASE("what can be a target: computed steps and weights, not masks, inputs or gradients") {
    const auto run = execute(plan_of(asking("induction", "loss")));
    const Plan& plan = run->plan();
    CHECK(can_be_target(*plan.find("blocks.0.attn.pattern")));
    CHECK(can_be_target(*plan.find("embed.weight")));
    CHECK_FALSE(can_be_target(*plan.find("blocks.0.attn.mask")));
    CHECK_FALSE(can_be_target(*plan.find("tokens")));
    CHECK_FALSE(can_be_target(*plan.find("grad.logits")));
    CHECK(has_loss(*run));
    const Cell cell = {0, 0, 0};
    REQUIRE(slope_at(*run, *plan.find("logits"), cell));
    CHECK(slope_at(*run, *plan.find("logits"), cell)->value == run->value("grad.logits").at(cell));
    CHECK_FALSE(slope_at(*run, *plan.find("grad.logits"), cell));
}

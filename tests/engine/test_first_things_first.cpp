// The shown step is computed first, and the last row of the logits: with the same numbers as at the end.
#include "tests/catch.h"
#include "tests/engine/same_bits.h"
#include "tests/engine/small_models.h"

using namespace decoderscope::testing;

namespace {

const std::vector<std::string> kLogits = {"logits"};

// A vocabulary for which the rows of the logits can be computed separately, if the CPU allows it at all.
SmallModel with_logits() {
    return small_model({{"num_layers", "3"}, {"vocab_size", "400"}, {"lm_head", "true"}}, {.batch = 2, .pos = 5});
}

std::shared_ptr<const Run> last_row_first(const SmallModel& model, const Run* previous = nullptr) {
    return execute(model.plan(), {.previous = previous, .last_row_first = kLogits});
}

}  // namespace

TEST_CASE("the last row of the logits equals the full computation, and the others are computed on demand") {
    const SmallModel model = with_logits();
    const auto all = model.run();
    for (const Index first : {4, 2, 0}) {
        const auto run = last_row_first(model);
        CHECK(same_bits(rows_from(run->value("logits"), first), rows_from(all->value("logits"), first)));
        CHECK(first_difference(*run, *all) == "");
        CHECK(run->value("logits").is_ready());
    }
}

TEST_CASE("so it is after an edit, whichever rows it changes") {
    const SmallModel model = with_logits();
    const auto before = model.run();
    for (const Index position : {0, 3, 4}) {
        SmallModel edited = model;
        edited.edits = {SetCell{"blocks.1.resid_mid", {1, position, 2}, 5.0F}};
        const auto all = edited.run();
        auto run = last_row_first(edited, before.get());
        CHECK(same_bits(rows_from(run->value("logits"), 4), rows_from(all->value("logits"), 4)));
        CHECK(first_difference(*run, *all) == "");
        // An edit on top of rows that haven't been read yet.
        run = last_row_first(edited, before.get());
        SmallModel further = edited;
        further.edits.emplace_back(SetCell{"blocks.2.resid_mid", {0, 2, 1}, -3.0F});
        CHECK(first_difference(*last_row_first(further, run.get()), *further.run()) == "");
    }
}

TEST_CASE("edited logits are available at once") {
    SmallModel model = with_logits();
    model.edits = {SetCell{"logits", {0, 1, 2}, 9.0F}};
    const auto run = last_row_first(model);
    CHECK(run->value("logits").is_ready());
    CHECK(first_difference(*run, *model.run()) == "");
}

TEST_CASE("the shown steps and their operands are computed first, and nothing else with them") {
    const SmallModel model = with_logits();
    const auto all = model.run();
    for (const std::string looked_at : {"blocks.0.attn.pattern", "blocks.2.mlp.post", "probs"}) {
        INFO(looked_at);
        const std::vector<std::string> names = {looked_at};
        std::shared_ptr<const Run> early;
        const auto run = execute(model.plan(), {.looked_at = names, .early = [&](auto so_far) { early = so_far; }});
        CHECK(first_difference(*run, *all) == "");
        REQUIRE(early != nullptr);
        // Every computed value is final, and everything it depends on is also computed.
        const Plan& plan = early->plan();
        CHECK_FALSE(early->value(looked_at).empty());
        for (const Step& step : plan.steps()) {
            if (early->value(step.id).empty()) continue;
            CHECK(early->value(step.id).shares_values_with(run->value(step.id)));
            for (const StepId operand : step.operands) CHECK_FALSE(early->value(operand).empty());
        }
        const bool later = looked_at != "probs";
        CHECK(early->value("logits").empty() == later);
    }
    CHECK(all->value("blocks.1.attn.pattern").size() == 2 * 2 * 5 * 5);
}

TEST_CASE("a run stopped while it computes the shown steps gives nothing") {
    const SmallModel model = with_logits();
    std::stop_source stop;
    stop.request_stop();
    const std::vector<std::string> names = {"probs"};
    bool called = false;
    CHECK(execute(model.plan(),
                  {.stop = stop.get_token(), .looked_at = names, .early = [&](auto) { called = true; }}) == nullptr);
    CHECK_FALSE(called);
}

TEST_CASE("values that aren't kept are freed, and recomputed on demand, with edits") {
    for (const char* name : {"logits", "blocks.1.attn.pattern", "blocks.0.mlp.pre"}) {
        SmallModel model = with_logits();
        model.edits = {SetCell{"blocks.1.mlp.post", {0, 1, 2}, 4.0F}, MaskEdit{"blocks.0.attn", 0, 1, 3, 0, false}};
        const auto all = model.run();
        const auto run = execute(model.plan(), {.kept = [&](const Step& step) { return step.name == name; }});
        for (const Step& step : run->plan().steps()) {
            INFO(step.name);
            const Tensor& value = run->value(step.id);
            if (!step.is_source() && !value.empty()) CHECK(value.is_ready() == (step.name == name));
        }
        CHECK(first_difference(*run, *all) == "");
    }
}

TEST_CASE("an edit of a run that kept little equals a fresh run") {
    SmallModel model = with_logits();
    const auto patterns = [](const Step& step) { return step.name.ends_with(".pattern"); };
    const auto before = execute(model.plan(), {.kept = patterns});
    model.edits = {MaskEdit{"blocks.1.attn", 0, 1, 3, 0, false}};
    CHECK(first_difference(*execute(model.plan(), {.previous = before.get(), .kept = patterns}), *model.run()) == "");
}

TEST_CASE("an edited weight is not available before the edit") {
    SmallModel model = with_logits();
    const std::string weight = "layers.2.up_proj.weight";
    REQUIRE(model.plan()->find(weight) != nullptr);
    model.edits = {SetCell{weight, {0, 0}, 9.0F}};
    for (const std::string looked_at : {"blocks.0.attn.pattern", "blocks.2.mlp.pre"}) {
        const std::vector<std::string> names = {looked_at};
        std::shared_ptr<const Run> early;
        const auto run = execute(model.plan(), {.looked_at = names, .early = [&](auto so_far) { early = so_far; }});
        REQUIRE(early != nullptr);
        CHECK(early->value(weight).empty() == (looked_at == "blocks.0.attn.pattern"));
        CHECK(run->value(weight).at(Cell{0, 0}) == 9.0F);
        CHECK(early->value("layers.0.up_proj.weight")
                  .shares_values_with(model.plan()->find("layers.0.up_proj.weight")->source));
    }
}

// What the first minute says and offers: nothing is invented, and no offer leads nowhere.
#include "app/core/run/output_moves.h"
#include "app/core/session/introduction.h"
#include "app/core/session/session.h"
#include "app/core/tabs/heads/shown_heads.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/session/apply.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <filesystem>

using namespace decoderscope::testing;
using namespace decoderscope::core::heads;

namespace fs = std::filesystem;

TEST_CASE("every bundled model says what it does, and the trained ones suggest three things") {
    for (const BundledModel& bundled : bundled_models()) {
        INFO(bundled.name);
        const auto model = make_bundled_model(bundled.name);
        CHECK(introduction_of(scenario_of(model)).english().size() > 40);
        const bool trained =
            fs::exists(fs::path(DECODERSCOPE_TESTS_DIR).parent_path() / "assets/models" / bundled.name);
        CHECK(fitting_trials(scenario_of(model)).size() == (trained ? 3U : 0U));
    }
}

TEST_CASE("a model without a description is described by its configuration") {
    Model model = *make_bundled_model("verses");
    model.description = {};
    CHECK(introduction_of(scenario_of(std::make_shared<const Model>(model))).english() ==
          "This is a decoder of 4 blocks, 4 heads each, d_model 128, Pre-Norm with LayerNorm, learned positions. It "
          "predicts which of 65 tokens comes next.");
    model = *make_bundled_model("pre-ln-encdec");
    model.description = {};
    CHECK(introduction_of(scenario_of(std::make_shared<const Model>(model))).english() ==
          "This is a decoder of 4 blocks, 8 heads each, d_model 512, Pre-Norm with LayerNorm, no positional encoding. "
          "It reads and writes rows of numbers: it has no vocabulary.");
}

TEST_CASE("a suggested cell is the largest of its row, as its text says") {
    std::size_t cells = 0;
    for (const BundledModel& bundled : bundled_models()) {
        Session session(make_bundled_model(bundled.name));
        for (const Trial& trial : session.scenario().model()->trials) {
            if (!trial.cell) continue;
            ++cells;
            INFO(bundled.name << ": " << trial.title);
            const Tensor& pattern = session.shown().run->value(trial.step);  // [batch, head, query, key]
            Cell other = *trial.cell;
            const float weight = pattern.at(other);
            CHECK(weight > 0.75F);
            for (Index key = 0; key < pattern.dim(3); ++key) {
                other[3] = key;
                CHECK(pattern.at(other) <= weight);
            }
        }
    }
    CHECK(cells == 7);
}

TEST_CASE("a suggestion does what it says, and then counts as done") {
    for (const BundledModel& bundled : bundled_models()) {
        const auto model = make_bundled_model(bundled.name);
        for (const Trial& trial : model->trials) {
            INFO(bundled.name << ": " << trial.title);
            Session session(model);
            for (const Command& command : commands_of(trial)) apply(session, command);
            REQUIRE(session.message());
            CHECK_FALSE(session.message()->failed);
            CHECK(session.message()->text.english() == trial.look);
            if (!trial.step.empty()) CHECK(session.cursor().step == trial.step);
            CHECK(session.cursor().cell == trial.cell);
            CHECK(session.scenario().edits == trial.edits);
            const bool changes = !trial.set.empty() || !trial.edits.empty();
            CHECK(session.can_undo() == changes);
            const auto after = fitting_trials(session.scenario());
            const auto same = std::ranges::find_if(after, [&](const auto& f) { return f.trial.title == trial.title; });
            REQUIRE(same != after.end());
            CHECK(same->done == changes);
        }
    }
}

TEST_CASE("a suggestion that switches something off changes what the model predicts") {
    int tried = 0;
    for (const BundledModel& bundled : bundled_models()) {
        const auto model = make_bundled_model(bundled.name);
        for (const Trial& trial : model->trials) {
            if (trial.edits.empty()) continue;
            INFO(bundled.name << ": " << trial.title);
            Session session(model);
            for (const Command& command : commands_of(trial)) apply(session, command);
            const Tensor& mask = session.shown().scenario.inputs.attention_mask;
            const OutputMoves moves =
                moves_of(session.shown().unedited->value("logits"), session.shown().run->value("logits"), mask, true);
            CHECK(moves.changed.size() > 1);
            ++tried;
        }
    }
    CHECK(tried >= 5);
}

TEST_CASE("a suggestion that does not fit the run is left out") {
    Scenario scenario = scenario_of(make_bundled_model("reverse"));
    CHECK(fitting_trials(scenario).size() == 3);
    scenario = with_override(std::move(scenario), "num_layers", "1");  // blocks.1 is gone
    const auto fitting = fitting_trials(scenario);
    REQUIRE(fitting.size() == 1);
    CHECK(fitting.front().trial.set.size() == 1);
}

TEST_CASE("the strongest weight is the largest of all queries that have a choice") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    const Run& run = *session.shown().run;
    const Tensor& pattern = run.value("blocks.0.attn.pattern");
    float expected = 0.0F;
    for (Index head = 0; head < pattern.dim(1); ++head)
        for (Index query = 1; query < 4; ++query)  // the first sees itself alone
            for (Index key = 0; key < 4; ++key) expected = std::max(expected, pattern.at(Cell{0, head, query, key}));
    const auto found = strongest_weight(session.scenario().inputs, run, "blocks.0.attn", 0);
    REQUIRE(found);
    CHECK(found->weight == expected);
    CHECK(pattern.at(found->cell) == expected);
    CHECK(found->cell[2] > 0);
    // The second row of the batch ends after two positions; what its padding does is meaningless.
    const auto padded = strongest_weight(session.scenario().inputs, run, "blocks.0.attn", 1);
    REQUIRE(padded);
    CHECK(padded->cell[2] < 2);
    CHECK_FALSE(strongest_weight(session.scenario().inputs, run, "blocks.9.attn", 0));
}

TEST_CASE("an opened model whose text nobody wrote says so, until another one is there") {
    Model model = *make_bundled_model("verses");
    model.description = {};
    model.tokenizer = {};
    model.example = example_inputs(model.config(), 0);
    Scenario scenario = scenario_of(std::make_shared<const Model>(model));
    const auto says = [&](std::string_view part) {
        return introduction_of(scenario).english().find(part) != std::string::npos;
    };
    CHECK(says("65 tokens comes next. No tokenizer lies beside it, so the numbers in its text are ids of tokens"));
    scenario.inputs = make_bundled_model("verses")->example;
    CHECK_FALSE(says("No tokenizer"));
}

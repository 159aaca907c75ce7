// Which number and which other run a choice means, and what the tab says about them.
#include "app/core/ask/answer.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::ask;

namespace {

Snapshot snapshot_of(Scenario scenario) {
    Snapshot shown;
    shown.run = shown.unedited = execute(plan_of(scenario));
    shown.scenario = std::move(scenario);
    return shown;
}

Snapshot induction() { return snapshot_of(scenario_of(make_bundled_model("induction"))); }

}  // namespace

TEST_CASE("what is left open of a number is the most probable token where the answer is most in doubt") {
    const Snapshot shown = induction();
    const Tensor& logits = shown.run->value("logits");
    const auto apart = [&](Index position) {
        std::vector<float> row;
        for (Index token = 0; token < logits.dim(2); ++token) row.push_back(logits.at(Cell{0, position, token}));
        std::ranges::sort(row, std::greater<>());
        return row[0] - row[1];
    };
    const ResolvedNumber number = resolved(shown.scenario, *shown.run, 0, {});
    const Index last = number.position;
    for (Index position = 0; position < logits.dim(1); ++position) CHECK(apart(last) <= apart(position));
    for (Index token = 0; token < logits.dim(2); ++token)
        CHECK(logits.at(Cell{0, last, token}) <= logits.at(number.number.cell));

    const ResolvedNumber difference = resolved(shown.scenario, *shown.run, 0, {.kind = NumberKind::difference});
    CHECK(difference.token == number.token);
    CHECK(difference.minus != number.token);
    CHECK(difference.number.in(logits) == Approx(static_cast<double>(logits.at(Cell{0, last, number.token}) -
                                                                     logits.at(Cell{0, last, difference.minus})))
                                              .margin(1e-4));
    const ResolvedNumber probability = resolved(shown.scenario, *shown.run, 0, {.kind = NumberKind::probability});
    CHECK(probability.number.tensor == "probs");
    CHECK(probability.number.in(shown.run->value("probs")) > 0.0);
    CHECK(probability.number.in(shown.run->value("probs")) <= 1.0);
    // Out of range, as after a shorter input.
    CHECK(resolved(shown.scenario, *shown.run, 0, {.position = 10'000}).position == logits.dim(1) - 1);
}

TEST_CASE("a number that the run doesn't have says so") {
    const Snapshot shown = induction();
    const NumberChoice gone = {.kind = NumberKind::cell, .tensor = "blocks.9.mlp_out", .cell = {0, 0, 0}};
    CHECK(number_obstacle(shown.scenario, *shown.run, gone).english().find("blocks.9.mlp_out") != std::string::npos);
    CHECK(number_obstacle(shown.scenario, *shown.run, {}).empty());
    const Snapshot bare = snapshot_of(scenario_of(make_bundled_model("simple-decoder")));
    CHECK(number_obstacle(bare.scenario, *bare.run, {}).english().find("no logits") != std::string::npos);
    const OtherChoice token;
    CHECK(other_run(bare, 0, token).obstacle.english().find("no tokens") != std::string::npos);
}

TEST_CASE("run B differs in one token of the source if there is a source, else of the input") {
    const Snapshot shown = snapshot_of(scenario_of(make_bundled_model("reverse")));
    const OtherRun other = other_run(shown, 0, {.position = 2, .token = 7});
    REQUIRE(other.scenario);
    const Tensor &before = shown.scenario.inputs.encoder_tokens, &after = other.scenario->inputs.encoder_tokens;
    for (Index i = 0; i < before.size(); ++i) CHECK((i == 2 ? 7.0F : before.data()[i]) == after.data()[i]);
    CHECK(other_run(shown, 0, {.kind = OtherKind::unedited}).obstacle.english() == "This run has no edits.");
    CHECK(other_run(shown, 0, {.kind = OtherKind::pinned}).obstacle.english() == "No run is pinned.");
    const OtherRun flipped = other_run(shown, 0, {.kind = OtherKind::configuration, .option = {"norm_first", "false"}});
    REQUIRE(flipped.scenario);
    CHECK_FALSE(flipped.scenario->config().norm_first);
}

TEST_CASE("a wrong sign is one of a number that moves") {
    CHECK(has_wrong_sign(-1.0, 2.0));
    CHECK_FALSE(has_wrong_sign(1.0, 2.0));
    CHECK_FALSE(has_wrong_sign(0.0, 2.0));
    CHECK_FALSE(has_wrong_sign(-1.0, 1e-9));
    Moves moves;
    moves.heads = {{.switched_off = 1.0, .gradient_times_z = -1.0, .along_the_way = 0.9},
                   {.switched_off = -1.0, .gradient_times_z = 1.0, .along_the_way = -0.9},
                   {.switched_off = 0.5, .gradient_times_z = 0.1, .along_the_way = 0.5}};
    const WrongSigns wrong = wrong_signs(moves);
    CHECK(wrong.heads == 3);
    CHECK(wrong.by_gradient == 2);
    CHECK(wrong.by_integrated_gradients == 0);
    CHECK(moves_sentence(moves).english().find("2 of 3 heads") != std::string::npos);
    moves.heads.push_back({.switched_off = NAN, .gradient_times_z = 1.0, .along_the_way = 1.0});
    CHECK(wrong_signs(moves).heads == 3);
    CHECK(wrong_signs(moves).without_number == 1);
    CHECK(moves_sentence(moves).english().find("of 1 head is NaN") != std::string::npos);
}

TEST_CASE("nothing comes back of a difference with NaN, on either side") {
    for (const auto& [a, b] : {std::pair<double, double>{NAN, 1.0}, {1.0, NAN}, {NAN, NAN}, {INFINITY, 1.0}}) {
        const Patching patching{.in_a = a, .in_b = b, .steps = {}, .complete = true};
        CHECK_FALSE(patching.differs());
        const std::string said = patching_sentence(patching, {}).english();
        INFO(said);
        CHECK(said.find("no share") != std::string::npos);
        CHECK(said.find("in A and in B") == std::string::npos);
    }
}

TEST_CASE("a picture of patching has a row a step of its stack, and 1 is the same colour in both") {
    const Snapshot shown = snapshot_of(scenario_of(make_bundled_model("reverse")));
    Patching patching{.in_a = 1.0, .in_b = 2.0, .steps = {}, .complete = true};
    const auto add = [&](const char* name, std::vector<double> back) {
        patching.steps.push_back({name, std::move(back)});
    };
    add("encoder_out", {0.25, 0.5});
    add("blocks.0.resid_mid", {1.0, 0.0, -0.5});
    const Answer answer = answer_of(
        {.question = {.page = AskPage::patching}, .shown = shown, .number = ResolvedNumber{}}, {.patching = patching});
    REQUIRE(answer.parts.size() == 1);
    REQUIRE(answer.parts[0].pictures.size() == 2);
    const Heatmap &encoder = answer.parts[0].pictures[0], &decoder = answer.parts[0].pictures[1];
    CHECK(encoder.rows == 1);
    CHECK(encoder.columns == 2);
    CHECK(decoder.columns == 3);
    CHECK(decoder.at(0, 2) == -0.5F);
    CHECK(encoder.range == decoder.range);
    CHECK(encoder.range.high == 1.0F);
    CHECK(answer.parts[0].steps[1] == std::vector<std::string>{"blocks.0.resid_mid"});
    const Exhibit exhibit = exhibit_of(answer);
    REQUIRE(exhibit.panels.size() == 2);
    CHECK(exhibit.panels[1].heatmap().values == decoder.values);
}

// What causes what, against PyTorch (tests/reference/labs_causes.py) and against the same things done as edits.
#include "app/core/labs/causes/attribution.h"
#include "app/core/labs/causes/moves.h"
#include "app/core/labs/causes/patching.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/files/safetensors.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/engine/messages.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace decoderscope;
using namespace decoderscope::testing;

namespace {

const std::string kReference = DECODERSCOPE_TESTS_DIR "/reference/";

nlohmann::json expected() { return nlohmann::json::parse(read_text(kReference + "labs_causes.json")); }

// A fixture's run, or the same with the next token in each place.
std::shared_ptr<const Run> run_of(const std::string& fixture, bool shifted) {
    const std::string folder = kReference + "fixtures/" + fixture;
    const Config config = parse_config(read_text(folder + "/config.json"));
    const SafetensorsFile file(folder + "/model.safetensors");
    Weights weights;
    for (const auto& [name, entry] : file.entries()) weights.emplace(name, file.floats(name));
    Inputs inputs = load_inputs(folder + "/inputs.safetensors", config);
    const auto shift = [](Tensor& tokens, Index vocabulary) {
        for (float& token : tokens.writable()) token = static_cast<float>((static_cast<Index>(token) + 1) % vocabulary);
    };
    if (shifted) shift(inputs.tokens, config.vocab_size);
    if (shifted && !inputs.encoder_tokens.empty()) shift(inputs.encoder_tokens, config.encoder_vocab_size);
    return execute(plan_decoder({config, &weights, inputs, {}, std::nullopt}));
}

PatchingQuestion question_of(const std::string& fixture) {
    PatchingQuestion question{run_of(fixture, false), run_of(fixture, true), {"logits", {}, Cell{}}, 0};
    const Index last = question.a->value("logits").dim(1) - 1;
    question.number.cell = {0, last, 2};
    question.number.minus = {0, last, 0};
    return question;
}

Scenario reverse_asking() {
    Scenario scenario = scenario_of(make_bundled_model("reverse"));
    scenario.gradients_of = "logits[0,2,9]";
    return scenario;
}

}  // namespace

TEST_CASE("how much of a number comes back with each row is what PyTorch measures") {
    const nlohmann::json all = expected();
    for (const auto& [fixture, wanted] : all.items()) {
        INFO(fixture);
        const PatchingQuestion question = question_of(fixture);
        const std::vector<StepId> steps = patchable_steps(question);
        std::atomic<std::size_t> done = 0;
        const Patching patching = finished(patch_rows(question, steps, {}, &done));
        CHECK(patching.complete);
        CHECK(done == patched_rows(question, steps));
        CHECK(patching.in_a == Approx(wanted["patching"]["in_a"].get<double>()).epsilon(1e-5));
        CHECK(patching.in_b == Approx(wanted["patching"]["in_b"].get<double>()).epsilon(1e-5));
        std::set<std::string> measured;
        const nlohmann::json& back = wanted["patching"]["back"];
        for (const PatchedStep& step : patching.steps) {
            INFO(step.name);
            measured.insert(step.name);
            REQUIRE(back.contains(step.name));
            const auto theirs = back[step.name].get<std::vector<double>>();
            REQUIRE(step.back.size() == theirs.size());
            for (std::size_t row = 0; row < theirs.size(); ++row) {
                INFO("row " << row);
                CHECK(std::abs(step.back[row] - theirs[row]) <= 1e-4 * std::max(1.0, std::abs(theirs[row])));
            }
        }
        // What is not measured is nothing that the number depends on.
        for (const auto& [name, theirs] : back.items())
            if (!measured.contains(name)) CHECK(std::ranges::all_of(theirs, [](double share) { return share == 0.0; }));
        CHECK(measured.contains("blocks.0.resid_mid"));
    }
}

TEST_CASE("patching a run with itself measures nothing, and a stopped one keeps what it has") {
    PatchingQuestion question = question_of("gpt2-like");
    const std::vector<StepId> steps = patchable_steps(question);
    std::stop_source stop;
    Resumable<Patching> work = patch_rows(question, steps, stop.get_token());
    for (int rows = 0; rows < 12; ++rows) work.advance();
    stop.request_stop();
    while (!work.advance()) {
    }
    const Patching part = work.result();
    CHECK_FALSE(part.complete);
    CHECK(part.steps.size() == 2);  // of 5 rows each; the third has only two
    question.b = question.a;
    const Patching same = finished(patch_rows(question, steps, {}));
    CHECK_FALSE(same.differs());
    CHECK(same.steps.empty());
    question.number.tensor = "nothing";
    check_message(error_of([&] { static_cast<void>(finished(patch_rows(question, steps, {}))); }), {"nothing"});
}

TEST_CASE("what heads and MLPs write towards a logit is what PyTorch measures, and it sums to the logit") {
    const nlohmann::json all = expected();
    for (const auto& [fixture, wanted] : all.items()) {
        if (!wanted.contains("attribution")) continue;
        INFO(fixture);
        const nlohmann::json& theirs = wanted["attribution"];
        const std::shared_ptr<const Run> run = run_of(fixture, false);
        const Attribution attribution = direct_attribution(*run, 1, 1, 3);
        CHECK(attribution.logit == Approx(theirs["logit"].get<double>()).epsilon(1e-5));
        CHECK(attribution.sum == Approx(attribution.logit).epsilon(1e-5));
        std::size_t heads = 0, mlps = 0;
        for (const Contribution& term : attribution.terms) {
            INFO(term.tensor);
            const std::string layer = std::to_string(term.layer);
            const bool is_head = term.kind == Contributor::head, is_mlp = term.kind == Contributor::mlp;
            if (!is_head && !is_mlp) continue;
            (is_head ? heads : mlps) += 1;
            const double value = is_head ? theirs["heads"][layer + "." + std::to_string(*term.head)].get<double>()
                                         : theirs["mlps"][layer].get<double>();
            CHECK(std::abs(term.logit - value) <= 2e-5);
        }
        CHECK(heads == theirs["heads"].size());
        CHECK(mlps == theirs["mlps"].size());
    }
}

TEST_CASE("the terms of a logit sum to it wherever the norms stand") {
    for (const char* fixture : {"gpt2-like", "llama-like", "gemma-2-like", "olmo-2-like", "encdec-tokens", "deepnorm",
                                "gpt-j-like", "gpt-neox-like", "bloom-like", "scaled-embedding", "no-bias"}) {
        if (parse_config(read_text(kReference + "fixtures/" + fixture + "/config.json")).vocab_size == 0) continue;
        INFO(fixture);
        const std::shared_ptr<const Run> run = run_of(fixture, false);
        if (!attribution_obstacle(*run).empty()) continue;
        for (const std::optional<Index> minus : {std::optional<Index>(), std::optional<Index>(1)}) {
            const Attribution attribution = direct_attribution(*run, 0, 2, 3, minus);
            CHECK(std::abs(attribution.sum - attribution.logit) <= 2e-5 * std::max(1.0, std::abs(attribution.logit)));
        }
    }
    CHECK_FALSE(attribution_obstacle(*run_of("no-bias", false)).english().size() > 0);
}

TEST_CASE("a head's move is what switching it off by an edit measures, and the slopes along the way promise it") {
    Scenario scenario = reverse_asking();
    const std::shared_ptr<const Run> run = execute(plan_of(scenario));
    const ChosenNumber number = {"logits", {0, 2, 9}, Cell{0, 2, 4}};
    std::atomic<std::size_t> done = 0;
    const Moves moves = finished(measure_moves(scenario, run, number, 0, 3, {}, &done));
    REQUIRE(moves.complete);
    CHECK(moves.heads.size() == 24);
    CHECK(done <= runs_of_moves(*run, 3));
    scenario.gradients_of.clear();
    double furthest = 0.0;
    for (const HeadMove& move : moves.heads) {
        INFO(move.attention << " head " << move.head);
        Scenario without = scenario;
        without.edits.push_back(ScaleHead{move.attention, move.head, 0.0F});
        const double off = number.in(execute(plan_of(without))->value("logits"));
        CHECK(std::abs(move.switched_off - (moves.number - off)) <= 1e-4);
        CHECK(std::abs(move.along_the_way - move.switched_off) <= 0.03 * std::max(1.0, std::abs(move.switched_off)));
        furthest = std::max(furthest, std::abs(move.slope_by_value - move.switched_off));
    }
    CHECK(furthest > 0.1);  // the slope at one point promises something else
    CHECK(std::ranges::any_of(moves.tokens, [](const InputMove& move) { return move.encoder; }));
    for (const InputMove& move : moves.tokens) {
        Scenario swapped = scenario;
        Tensor& tokens = move.encoder ? swapped.inputs.encoder_tokens : swapped.inputs.tokens;
        tokens.writable()[static_cast<std::size_t>(tokens.offset(Cell{0, move.position}))] =
            static_cast<float>(move.by);
        if (move.most == 0.0) continue;
        const double then = number.in(execute(plan_of(swapped))->value("logits"));
        CHECK(std::abs(then - moves.number - move.most) <= 1e-4);
        CHECK(move.swapped <= std::abs(move.most) + 1e-9);
    }
}

TEST_CASE("slopes are read off the gradients that are recorded") {
    const Scenario scenario = reverse_asking();
    const std::shared_ptr<const Run> run = execute(plan_of(scenario));
    const Slopes slopes = slopes_of(*run, nullptr, 0, 5);
    REQUIRE(slopes.scores.size() == 5);
    for (std::size_t i = 0; i < slopes.scores.size(); ++i) {
        const ScoreSlope& score = slopes.scores[i];
        CHECK(score.slope == static_cast<double>(run->value("grad." + score.tensor).at(score.cell)));
        CHECK(score.cell[0] == 0);
        if (i > 0) CHECK(std::abs(score.slope) <= std::abs(slopes.scores[i - 1].slope));
    }
    CHECK(slopes.input.size() == 2);  // the word and the answer
    REQUIRE_FALSE(slopes.stream.empty());
    for (const StreamSlopes& stream : slopes.stream) {
        INFO(stream.tensor);
        const Tensor& gradient = run->value("grad." + stream.tensor);
        const Tensor& values = run->value(stream.tensor);
        REQUIRE(stream.length.size() == static_cast<std::size_t>(values.dim(1)));
        double squares = 0.0, product = 0.0;
        for (Index d = 0; d < values.dim(2); ++d) {
            const auto slope = static_cast<double>(gradient.at(Cell{0, 1, d}));
            squares += slope * slope;
            product += slope * static_cast<double>(values.at(Cell{0, 1, d}));
        }
        CHECK(stream.length[1] == Approx(std::sqrt(squares)).margin(1e-9));
        CHECK(stream.by_value[1] == Approx(product).margin(1e-6));
    }
}

TEST_CASE("the slopes of a difference are those of its first cell less those of its second") {
    Scenario scenario = reverse_asking();
    const std::shared_ptr<const Run> first = execute(plan_of(scenario));
    scenario.gradients_of = "logits[0, 2, 1]";
    const std::shared_ptr<const Run> second = execute(plan_of(scenario));
    const Slopes slopes = slopes_of(*first, second.get(), 0, 3);
    const auto gradient = [&](const std::string& tensor, const Cell& cell) {
        return first->value("grad." + tensor).at(cell) - second->value("grad." + tensor).at(cell);
    };
    REQUIRE(slopes.scores.size() == 3);
    for (const ScoreSlope& score : slopes.scores)
        CHECK(score.slope == static_cast<double>(gradient(score.tensor, score.cell)));
    for (const StreamSlopes& stream : slopes.stream) {
        INFO(stream.tensor);
        double squares = 0.0;
        for (Index d = 0; d < first->value(stream.tensor).dim(2); ++d) {
            const auto slope = static_cast<double>(gradient(stream.tensor, {0, 1, d}));
            squares += slope * slope;
        }
        CHECK(stream.length[1] == Approx(std::sqrt(squares)).margin(1e-9));
    }
}

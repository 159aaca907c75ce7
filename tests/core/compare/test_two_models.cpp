// Two files of one model: the original Llama of tests/reference/stored/twin, and the same as GGUF keeps it. What moved
// how far is numpy's.
#include "app/core/compare/comparison_text.h"

#include "app/core/jobs/resumable.h"
#include "app/core/run/output_moves.h"
#include "app/core/run/scenario.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/load/model.h"
#include "engine/model/inputs.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/engine/contains.h"

#include <algorithm>
#include <string>

using namespace decoderscope::testing;
using namespace decoderscope::core::diff;

namespace {

const std::string kStored = DECODERSCOPE_TESTS_DIR "/reference/stored/";
const std::string kOriginal = kStored + "twin", kQuantised = kStored + "models/llama/model.gguf",
                  kInputs = kStored + "models/llama/inputs.safetensors";

std::shared_ptr<const Run> run_of_model(const std::string& path) {
    Scenario scenario = scenario_of(load::load_model(path));
    scenario.inputs = load_inputs(kInputs, scenario.config());
    return execute(plan_of(scenario));
}

const TensorDifference& named(const Comparison& comparison, const std::string& name) {
    const auto found = std::ranges::find(comparison.tensors, name, &TensorDifference::name);
    REQUIRE(found != comparison.tensors.end());
    return *found;
}

void check_moves(const Comparison& comparison, const nlohmann::json& expected, double epsilon) {
    for (const auto& [name, move] : expected.items()) {
        INFO(name);
        const TensorDifference& d = named(comparison, name);
        CHECK(d.presence == Presence::in_both);
        const double scale = move["scale"].get<double>(), margin = 2e-6 * scale;
        CHECK(d.largest == Approx(move["largest"].get<double>()).epsilon(epsilon).margin(margin));
        CHECK(d.mean == Approx(move["mean"].get<double>()).epsilon(epsilon).margin(margin));
        if (d.largest > 0.0) CHECK(d.scale == Approx(scale).epsilon(1e-5));
    }
}

}  // namespace

TEST_CASE("how far each weight and step is from its quantised twin, as numpy measures it") {
    const auto moves = parse_json(read_text(kOriginal + "/moves.json"), message("moves"));
    const auto before = run_of_model(kOriginal), after = run_of_model(kQuantised);
    const Comparison weights = compare(weights_of(*before), weights_of(*after), 0.0);
    CHECK(weights.tensors.size() == moves["weights"].size());
    check_moves(weights, moves["weights"], 1e-6);
    check_moves(compare(recorded_tensors(*before), recorded_tensors(*after), 0.0), moves["steps"], 1e-3);

    // Furthest first, relative to their scales.
    const std::vector<std::size_t> order = furthest_first(weights);
    REQUIRE(order.size() == weights.tensors.size());
    for (std::size_t i = 1; i < order.size(); ++i)
        CHECK(weights.tensors[order[i - 1]].relative() >= weights.tensors[order[i]].relative());
    double worst = 0.0;
    std::string furthest;
    for (const auto& [name, move] : moves["weights"].items())
        if (const double relative = move["largest"].get<double>() / move["scale"].get<double>(); relative > worst) {
            worst = relative;
            furthest = name;
        }
    CHECK(weights.tensors[order.front()].name == furthest);

    const Inputs inputs = load_inputs(kInputs, load::load_model(kOriginal)->config());
    const OutputMoves output = finished(output_moves(before, after, inputs.attention_mask));
    CHECK(output.positions == moves["positions"].get<Index>());
    CHECK(output.largest == Approx(moves["logits"].get<double>()).epsilon(1e-3));
    CHECK(output.changed.size() == moves["changed"].get<std::size_t>());
    CHECK(has_other_weights(*before, *after));
    CHECK_FALSE(has_other_weights(*before, *before));
}

TEST_CASE("diff of two files of one model lists weights, then steps, then predictions") {
    const auto both = testing::run({"diff", kOriginal, kQuantised, "--inputs", kInputs});
    CHECK(both.status == 1);
    CHECK(testing::is_one_line(both.err));
    CHECK(contains(both.err, "model.gguf: "));
    const std::size_t weights = both.out.find("Weights, furthest first"), steps = both.out.find("Steps, "),
                      moved = both.out.find("From A to B: logits moved by at most 0.767");
    REQUIRE(moved != std::string::npos);
    CHECK(weights < steps);
    CHECK(steps < moved);
    CHECK(both.out.find("layers.0.self_attn.q_proj.weight") < steps);
    CHECK(both.out.find("blocks.0.attn.q ") > steps);
    const auto same = testing::run({"diff", kQuantised, kQuantised, "--inputs", kInputs});
    CHECK(same.status == 0);
    CHECK(contains(same.out, "From A to B: logits stayed the same"));
    CHECK(testing::run({"diff", kOriginal, "--inputs", kInputs}).status == 2);
    CHECK(testing::run({"diff", kOriginal, kQuantised, "--against", kInputs}).status == 2);
    CHECK(contains(testing::run({"diff", kOriginal, "causal-lm-as-meant", "--inputs", kInputs}).err, "expected"));
}

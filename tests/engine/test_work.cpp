// What operations cost: counted from their formulas, compared with the textbook's counts.
#include "engine/decoder/decoder.h"
#include "engine/graph/plan.h"
#include "engine/load/bundled_models.h"
#include "engine/ops/head_outputs.h"
#include "engine/ops/linear.h"
#include "engine/ops/scaled_dot_product.h"
#include "engine/ops/softmax.h"
#include "tests/catch.h"
#include "tests/engine/dice.h"
#include "tests/engine/random_models.h"
#include "tests/engine/small_models.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>

using namespace decoderscope::testing;

namespace {

// Numbers that nobody may read: a count needs shapes only.
class NeverRead : public LazyValues {
public:
    void make(std::span<float>) const override { throw std::logic_error("a count read a tensor's numbers"); }
};

Tensor shape_of(Axes axes) { return {std::move(axes), std::make_shared<const NeverRead>()}; }

Weights shapes_of(const Config& config) {
    Weights weights;
    for (const Declared& parameter : decoder::declared_parameters(config))
        if (parameter.required) weights[parameter.name] = shape_of(parameter.axes);
    return weights;
}

Work work_of(const Plan& plan, const Step& step) {
    OperandAxes in;
    for (const StepId operand : step.operands) in.push_back(plan[operand].axes);
    return step.operation.work(in, step.axes);
}

std::uint64_t operations_of(const Plan& plan, std::string_view name) {
    const Ref step = plan.find(name);
    REQUIRE(step != nullptr);
    return work_of(plan, *step).operations;
}

}  // namespace

TEST_CASE("a Linear takes 2 · tokens · in · out operations, and one more per output for its bias") {
    constexpr Index kBatch = 2, kPos = 3, kIn = 12, kOut = 10;
    const Axes x = {{axis::batch, kBatch}, {axis::pos, kPos}, {axis::d_model, kIn}};
    const Axes weight = {{axis::out, kOut}, {axis::in, kIn}}, bias = {{axis::out, kOut}};
    const Axes y = {{axis::batch, kBatch}, {axis::pos, kPos}, {axis::out, kOut}};
    const Work plain = Operation(ops::Linear{}).work({x, weight}, y);
    CHECK(plain.operations == 2 * kBatch * kPos * kIn * kOut);
    CHECK(plain.reads == std::vector<std::uint64_t>{kBatch * kPos * kIn, kOut * kIn});
    CHECK(Operation(ops::Linear{}).work({x, weight, bias}, y).operations ==
          2 * kBatch * kPos * kIn * kOut + kBatch * kPos * kOut);
    // The gradients with respect to x and to the weight take as much each.
    CHECK(Operation(ops::Linear{}).pull_back_work(0, {x, weight}, y).operations == plain.operations);
    CHECK(Operation(ops::Linear{}).pull_back_work(1, {x, weight}, y).operations == plain.operations);
}

TEST_CASE("attention takes 2 · heads · queries · keys · d_head for its scores, and as much for its sums") {
    constexpr Index kBatch = 2, kHeads = 4, kQueries = 3, kKeys = 5, kHead = 6;
    const Axes q = {{axis::batch, kBatch}, {axis::head, kHeads}, {axis::pos, kQueries}, {axis::d_head, kHead}};
    const Axes k = {{axis::batch, kBatch}, {axis::head, kHeads / 2}, {axis::src, kKeys}, {axis::d_head, kHead}};
    const Axes pattern = {{axis::batch, kBatch}, {axis::head, kHeads}, {axis::query, kQueries}, {axis::key, kKeys}};
    constexpr Index kScores = kBatch * kHeads * kQueries * kKeys;
    const Work scores = Operation(ops::ScaledDotProduct{}).work({q, k}, pattern);
    CHECK(scores.operations == 2 * kScores * kHead + kScores);  // and the division by √d_head
    CHECK(scores.reads ==
          std::vector<std::uint64_t>{kBatch * kHeads * kQueries * kHead, kBatch * kHeads / 2 * kKeys * kHead});
    const Axes z = {{axis::batch, kBatch}, {axis::head, kHeads}, {axis::query, kQueries}, {axis::d_head, kHead}};
    CHECK(Operation(ops::WeightedSum{}).work({pattern, k}, z).operations == 2 * kScores * kHead);
    // A row's maximum, the differences from it, exp, their sum, the quotients.
    CHECK(Operation(ops::Softmax{}).work({pattern}, pattern).operations == 5 * kScores);
    const Axes weight = {{axis::d_model, 24}, {axis::in, kHeads * kHead}};
    const Axes out = {{axis::batch, kBatch}, {axis::pos, kQueries}, {axis::d_model, 24}};
    CHECK(Operation(ops::ProjectOutput{}).work({z, weight}, out).operations ==
          2 * kBatch * kQueries * kHeads * kHead * 24);
}

TEST_CASE("GPT-2 takes 2 operations for each parameter and token, and attention's") {
    constexpr Index kTokens = 64, kModel = 768, kLayers = 12, kVocab = 50257, kPositions = 1024;
    const Config config =
        small_config(keys_of("d_model=768 nhead=12 num_layers=12 dim_feedforward=3072 vocab_size=50257 "
                             "max_positions=1024 positional_encoding=learned norm_first=true final_norm=true "
                             "activation=gelu_tanh bias=true causal=true lm_head=true "
                             "tie_word_embeddings=true"));
    const Weights weights = shapes_of(config);
    Index parameters = 0;
    for (const auto& [name, weight] : weights) parameters += weight.size();
    REQUIRE(parameters == 124'439'808);  // as published
    Inputs inputs;
    inputs.tokens = Tensor({{axis::batch, 1}, {axis::pos, kTokens}});
    for (float& token : inputs.tokens.writable()) token = 1.0F;
    const std::vector<Edit> no_edits;
    const auto plan = decoder::plan_decoder({config, &weights, inputs, no_edits});
    std::uint64_t all = 0, embedding = 0;
    for (const Step& step : plan->steps()) {
        if (step.is_source() || step.role == Role::on_demand) continue;
        const Work work = work_of(*plan, step);
        all += work.operations;
        if (step.part == Part::embedding && step.operation.traits().is_linear) embedding += work.operations;
    }
    CHECK(embedding == 0);
    // The table of positions multiplies nothing. Kaplan et al. 2020, table 1, with the sums of values that Chowdhery et
    // al. 2022 (PaLM), appendix B, add.
    constexpr double kMatrices = 2.0 * (124'439'808.0 - static_cast<double>(kPositions * kModel)) * kTokens;
    constexpr double kAttention = 4.0 * static_cast<double>(kLayers * kTokens * kTokens * kModel);
    CHECK(static_cast<double>(all) == Approx(kMatrices + kAttention).epsilon(0.01));
    CHECK(operations_of(*plan, "logits") == 2ULL * kTokens * kModel * kVocab);
}

TEST_CASE("a table's rows are read that are looked up, and the weights of the experts that were chosen") {
    const std::shared_ptr<const load::Model> experts = load::make_bundled_model("experts");
    const std::vector<Edit> no_edits;
    const auto plan = decoder::plan_decoder({experts->config(), &experts->weights, experts->example, no_edits});
    const Ref embed = plan->find("embed");
    REQUIRE(embed != nullptr);
    const auto numbers = static_cast<std::uint64_t>(element_count(embed->axes));
    const Work looked_up = work_of(*plan, *embed);
    CHECK(looked_up.reads[1] <= numbers);
    CHECK(looked_up.reads[0] == static_cast<std::uint64_t>(experts->example.tokens.size()));
    const Ref up = plan->find("blocks.0.mlp.pre");
    REQUIRE(up != nullptr);
    const Axes& pre = up->axes;  // [batch, pos, slot, d_ff]
    const auto weight = plan->operand(*up, OperandRole::weight);
    const Index products = element_count(pre) * weight->axes[2].size;
    const bool has_bias = plan->operand(*up, OperandRole::bias) != nullptr;
    CHECK(work_of(*plan, *up).operations ==
          static_cast<std::uint64_t>(2 * products + (has_bias ? element_count(pre) : 0)));
}

TEST_CASE("every step of any model says what it takes, both ways") {
    Dice dice(11);
    for (int round = 0; round < 40; ++round) {
        const SmallModel model = random_model(dice, random_configuration(dice));
        const auto plan = decoder::plan_decoder({.config = model.config,
                                                 .weights = &model.weights,
                                                 .inputs = model.inputs,
                                                 .edits = model.edits,
                                                 .dropout_seed = model.dropout_seed,
                                                 .gradient_target = "blocks.0.resid_post[0,0,0]"});
        for (const Step& step : plan->steps()) {
            if (step.is_source()) continue;
            INFO(step.name);
            const Work work = work_of(*plan, step);
            for (std::size_t i = 0; i < std::min(work.reads.size(), step.operands.size()); ++i)
                CHECK(work.reads[i] <= static_cast<std::uint64_t>(element_count((*plan)[step.operands[i]].axes)));
            if (step.operation.traits().is_linear && !step.backward) CHECK(work.operations > 0);
        }
    }
}

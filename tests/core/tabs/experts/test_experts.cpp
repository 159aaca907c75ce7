#include "app/core/compare/effect_of_edits.h"
#include "app/core/session/session.h"
#include "app/core/tabs/experts/shown_experts.h"
#include "engine/base/translate.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/fixture_scenario.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::experts;

namespace {

constexpr const char* kMixtures[] = {"mixtral-like", "qwen-2-moe-like", "deepseek-v3-like", "one-expert",
                                     "every-expert", "experts-encdec",  "gpt-oss-like"};

std::shared_ptr<const Run> run_with(Scenario scenario, std::vector<Edit> edits) {
    scenario.edits = std::move(edits);
    return execute(plan_of(scenario));
}

// The experts of a position by their scores alone, as a router without a correction and groups has it, with one of them
// left out; their shares of these scores.
std::vector<float> shares_without(const Tensor& scores, Index batch, Index pos, Index slots, Index off) {
    std::vector<Index> order(static_cast<std::size_t>(scores.dim(2)));
    std::iota(order.begin(), order.end(), Index{0});
    const auto score = [&](Index e) { return e == off ? 0.0F : scores.at(Cell{batch, pos, e}); };
    std::ranges::stable_sort(order, [&](Index a, Index b) { return score(a) > score(b); });
    float sum = 0.0F;
    for (Index s = 0; s < slots; ++s) sum += score(order[static_cast<std::size_t>(s)]);
    std::vector<float> shares(order.size());
    for (Index s = 0; s < slots; ++s) {
        const Index e = order[static_cast<std::size_t>(s)];
        shares[static_cast<std::size_t>(e)] = score(e) / sum;
    }
    return shares;
}

}  // namespace

TEST_CASE("the weights of the chosen experts are those of the run, and sum to 1 where they are normalised") {
    for (const char* name : kMixtures) {
        INFO(name);
        const Scenario scenario = fixture_scenario(name);
        const std::shared_ptr<const Run> run = execute(plan_of(scenario));
        const std::vector<MixtureSteps> all = mixtures(run->plan());
        REQUIRE_FALSE(all.empty());
        for (const MixtureSteps& mixture : all) {
            CHECK(mixture.scores->name == mixture.name + ".router_scores");
            CHECK(mixture.weight->name == mixture.name + ".expert_weight");
            const Routing routing = routing_of(scenario.inputs, *run, mixture, 1);
            const std::vector<ExpertLoad> loads = loads_of(routing);
            std::size_t placed = 0;
            for (const ExpertLoad& load : loads) placed += load.positions.size();
            Index counted = 0;
            for (Index position = 0; position < routing.positions; ++position) {
                counted += routing.counts[static_cast<std::size_t>(position)];
                double sum = 0.0, slots = 0.0;
                Index chosen = 0;
                for (Index expert = 0; expert < routing.experts; ++expert) {
                    sum += static_cast<double>(routing.weights[routing.at(position, expert)]);
                    chosen += routing.chosen[routing.at(position, expert)];
                }
                const Tensor& weight = run->value(mixture.weight->id);
                for (Index slot = 0; slot < weight.dim(2); ++slot)
                    slots += static_cast<double>(weight.at(Cell{1, position, slot}));
                CHECK(std::abs(sum - slots) < 1e-6);
                CHECK(chosen == scenario.config().experts_per_token);
                if (scenario.config().router_normalize) CHECK(std::abs(sum - scenario.config().router_scale) < 1e-5);
            }
            CHECK(placed == static_cast<std::size_t>(counted * scenario.config().experts_per_token));
        }
    }
}

TEST_CASE("a dense model has no mixtures") {
    CHECK(mixtures(*plan_of(fixture_scenario("llama-like"))).empty());
    CHECK_FALSE(mixture_called(*plan_of(fixture_scenario("mixtral-like")), "blocks.7.mlp"));
}

TEST_CASE("an expert that is off gets no weight, and the next best takes its place") {
    const Scenario scenario = fixture_scenario("mixtral-like");
    const std::shared_ptr<const Run> plain = execute(plan_of(scenario));
    for (Index off = 0; off < 4; ++off) {
        const std::shared_ptr<const Run> run = run_with(scenario, {RouteExpert{"blocks.0.mlp", off}});
        const MixtureSteps mixture = *mixture_called(run->plan(), "blocks.0.mlp");
        for (const Index batch : {0, 1}) {
            const Routing before = routing_of(scenario.inputs, *plain, mixture, batch);
            const Routing after = routing_of(scenario.inputs, *run, mixture, batch);
            for (Index position = 0; position < after.positions; ++position) {
                CHECK(after.chosen[after.at(position, off)] == 0);
                const std::vector<float> expected =
                    shares_without(plain->value("blocks.0.mlp.router_scores"), batch, position, 2, off);
                bool same = true;
                for (Index d = 0; d < plain->value("blocks.0.mlp_out").dim(2); ++d)
                    same = same && plain->value("blocks.0.mlp_out").at(Cell{batch, position, d}) ==
                                       run->value("blocks.0.mlp_out").at(Cell{batch, position, d});
                CHECK(same == (before.chosen[before.at(position, off)] == 0));
                for (Index expert = 0; expert < after.experts; ++expert)
                    CHECK(after.weights[after.at(position, expert)] ==
                          Approx(expected[static_cast<std::size_t>(expert)]).margin(1e-6));
            }
        }
    }
}

TEST_CASE("a position that goes to one expert alone gets what this expert gives, with all of the weight") {
    for (const char* name : {"mixtral-like", "deepseek-v3-like", "qwen-2-moe-like", "corrected-softmax"}) {
        INFO(name);
        const Scenario scenario = fixture_scenario(name);
        const std::shared_ptr<const Run> plain = execute(plan_of(scenario));
        const std::string mlp = mixtures(plain->plan()).front().name;
        const auto experts = mixtures(plain->plan()).front().experts();
        for (Index expert = 0; expert < experts; ++expert) {
            const RouteExpert here = {mlp, expert, 1, 2, true};
            const std::shared_ptr<const Run> run = run_with(scenario, {here});
            const MixtureSteps mixture = *mixture_called(run->plan(), mlp);
            const Routing routing = routing_of(scenario.inputs, *run, mixture, 1);
            CHECK(routing.weights[routing.at(2, expert)] == Approx(scenario.config().router_scale));
            const Tensor& chosen = run->value(mixture.expert->id);
            const Tensor& weight = run->value(mixture.weight->id);
            for (Index slot = 0; slot < chosen.dim(2); ++slot)
                if (static_cast<Index>(chosen.at(Cell{1, 2, slot})) != expert)
                    CHECK(weight.at(Cell{1, 2, slot}) == 0.0F);
            // All other positions stay as they were.
            for (Index position = 0; position < routing.positions; ++position)
                if (position != 2)
                    for (Index slot = 0; slot < chosen.dim(2); ++slot)
                        CHECK(chosen.at(Cell{1, position, slot}) ==
                              plain->value(mixture.expert->id).at(Cell{1, position, slot}));
        }
        const std::shared_ptr<const Run> everywhere = run_with(scenario, {RouteExpert{mlp, 0, {}, {}, true}});
        const std::vector<ExpertLoad> loads =
            loads_of(routing_of(scenario.inputs, *everywhere, *mixture_called(everywhere->plan(), mlp), 0));
        for (std::size_t expert = 1; expert < loads.size(); ++expert) CHECK(loads[expert].weight == 0.0);
    }
}

TEST_CASE("what the edits make of an expert is that of the last that reaches it") {
    const RouteExpert off = {"blocks.0.mlp", 2}, alone_at_3 = {"blocks.0.mlp", 1, 0, 3, true};
    const std::vector<Edit> edits = {off, alone_at_3};
    CHECK(use_of({}, off) == Use::as_routed);
    CHECK(use_of(edits, off) == Use::off);
    CHECK(use_of(edits, {"blocks.1.mlp", 2}) == Use::as_routed);
    CHECK(use_of(edits, {"blocks.0.mlp", 1}) == Use::as_routed);
    CHECK(use_of(edits, {"blocks.0.mlp", 1, 0, 3}) == Use::alone);
    CHECK(use_of(edits, {"blocks.0.mlp", 0, 0, 3}) == Use::off);
    CHECK(use_of(edits, {"blocks.0.mlp", 0, 1, 3}) == Use::as_routed);
}

TEST_CASE("an expert is switched off, undone and redone like any other edit, and a position goes to one at a time") {
    Session session(fixture_scenario("mixtral-like").opened());
    session.finish();
    const RouteExpert off = {"blocks.1.mlp", 2}, one = {"blocks.1.mlp", 0, 0, 1, true},
                      other = {"blocks.1.mlp", 3, 0, 1, true};
    session.apply(command::UseExpert{off});
    session.apply(command::UseExpert{one});
    session.apply(command::UseExpert{other});
    CHECK(session.scenario().edits == std::vector<Edit>{off, other});
    session.apply(command::Undo{});
    CHECK(session.scenario().edits == std::vector<Edit>{off, one});
    session.apply(command::UseExpert{one, true});
    CHECK(session.scenario().edits == std::vector<Edit>{off});
    session.finish();
    const Value<OutputMoves> moves = [&] {
        Value<OutputMoves> found;
        while (!(found = diff::shown_output_moves(session.derived(), session.scenario(), session.shown().unedited,
                                                  session.shown().run)))
            session.finish();
        return found;
    }();
    CHECK(moves->output == "logits");
    CHECK(moves->largest > 0.0);
}

TEST_CASE(
    "with every expert off normalised weights are 0 / 0, as PyTorch divides them, and it is said what was assumed") {
    Scenario scenario = scenario_of(load::make_bundled_model("experts"));
    std::vector<Edit> edits;
    for (Index expert = 0; expert < 6; ++expert) edits.push_back(RouteExpert{"blocks.0.mlp", expert, 0, Index{3}});
    const auto run = run_with(scenario, edits);
    const MixtureSteps mixture = *mixture_called(run->plan(), "blocks.0.mlp");
    for (const float weight : run->value(mixture.weight->id).row({0, 3, 0})) CHECK(std::isnan(weight));
    const Routing routing = routing_of(scenario.inputs, *run, mixture, 0);
    const std::string said = tr(nothing_left_sentence(*run, mixture, routing, 0));
    CHECK(said.starts_with("No expert is left at 1 position:"));
    edits.pop_back();
    const auto one_left = run_with(scenario, edits);
    CHECK(nothing_left_sentence(*one_left, mixture, routing_of(scenario.inputs, *one_left, mixture, 0), 0).empty());
}

// Beam search, beside all texts there are, beside whole passes, and beside the greedy text.
#include "app/core/generate/beams.h"

#include "app/core/generate/generator.h"
#include "app/core/generate/shown_generation.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/engine/contains.h"
#include "tests/engine/messages.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace decoderscope::testing;
using namespace decoderscope::core::generate;

namespace {

Scenario bundled(const std::string& name) { return scenario_of(load::make_bundled_model(name)); }

// The log-probability of tokens that follow a row's text, by one whole pass.
double log_probability(Scenario scenario, Index row, const std::vector<Index>& tokens) {
    const Index before = row_length(scenario.inputs, row);
    for (const Index token : tokens) scenario = with_token(std::move(scenario), row, token);
    const auto run = execute(plan_of(scenario));
    const Tensor& logits = run->value("logits");
    double sum = 0.0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const auto at = logits.row({row, before - 1 + static_cast<Index>(i), 0});
        const double most = static_cast<double>(*std::ranges::max_element(at));
        double all = 0.0;
        for (const float logit : at) all += std::exp(static_cast<double>(logit) - most);
        sum += static_cast<double>(at[static_cast<std::size_t>(tokens[i])]) - most - std::log(all);
    }
    return sum;
}

BeamTree tree_of(const Scenario& scenario, Index row, const BeamSearch& search) {
    return finished(beam_tree(scenario, row, search));
}

}  // namespace

TEST_CASE("with a beam for each text, the best of all texts is found") {
    const Scenario scenario = bundled("causal-lm-as-meant");
    const Index vocab = scenario.config().vocab_size;
    REQUIRE(vocab <= 16);
    double best = -std::numeric_limits<double>::infinity();
    std::vector<Index> wanted;
    for (Index first = 0; first < vocab; ++first)
        for (Index second = 0; second < vocab; ++second) {
            const double sum = log_probability(scenario, 0, {first, second});
            if (sum > best) {
                best = sum;
                wanted = {first, second};
            }
        }
    const BeamTree tree = tree_of(scenario, 0, {.beams = vocab, .length = 2, .length_penalty = 0.0});
    REQUIRE_FALSE(tree.finished.empty());
    CHECK(tree.tokens(tree.finished.front()) == wanted);
    CHECK(std::abs(tree.score(tree.finished.front()) - best) < 1e-5);
}

TEST_CASE("every text's sum is what a whole pass over it says, and the best scores come first") {
    for (const std::string model : {"causal-lm-as-meant", "verses", "reverse"}) {
        INFO(model);
        const Scenario scenario = bundled(model);
        const BeamTree tree = tree_of(scenario, 0, {.beams = 3, .length = 4});
        REQUIRE(tree.finished.size() == 3);
        for (const std::size_t node : tree.finished) {
            const std::vector<Index> tokens = tree.tokens(node);
            CHECK(static_cast<Index>(tokens.size()) == tree.nodes[node].depth);
            const double sum = log_probability(scenario, 0, tokens);
            CHECK(std::abs(tree.nodes[node].sum - sum) < 1e-4);
            CHECK(std::abs(tree.score(node) - sum / static_cast<double>(tokens.size())) < 1e-4);
        }
        CHECK(std::ranges::is_sorted(tree.finished, std::greater<>(), [&](std::size_t n) { return tree.score(n); }));
        for (Index depth = 1; depth <= 4; ++depth)
            CHECK(std::ranges::count_if(
                      tree.nodes, [&](const BeamNode& node) { return node.depth == depth && node.goes_on; }) <= 3);
        for (const BeamNode& node : tree.nodes) {
            if (!node.parent) continue;
            const BeamNode& parent = tree.nodes[*node.parent];
            CHECK(parent.goes_on);
            CHECK(parent.depth + 1 == node.depth);
            CHECK(node.sum == parent.sum + node.log_prob);
        }
    }
}

TEST_CASE("one beam is the greedy text") {
    for (const std::string model : {"causal-lm-as-meant", "verses"}) {
        const Scenario scenario = bundled(model);
        Generator greedy(scenario, 0, {.temperature = 0.0});
        const std::size_t before = greedy.tokens().size();
        for (int i = 0; i < 6 && greedy.next(); ++i) {
        }
        const std::vector<Index> all = greedy.tokens(),
                                 added(all.begin() + static_cast<std::ptrdiff_t>(before), all.end());
        const BeamTree tree = tree_of(scenario, 0, {.beams = 1, .length = 6});
        REQUIRE(tree.finished.size() == 1);
        CHECK(tree.tokens(tree.finished.front()) == added);
        CHECK(tree.is_on_the_way(0, tree.finished.front()));
    }
}

TEST_CASE("a text that ends is set aside, and nothing follows it") {
    Scenario scenario = bundled("reverse");
    // The target's beginning alone: the model writes the word backwards, and ends.
    while (row_length(scenario.inputs, 0) > 1) scenario = without_last_token(std::move(scenario), 0);
    const BeamTree tree = tree_of(scenario, 0, {.beams = 4, .length = 12});
    const BeamNode& best = tree.nodes[tree.finished.front()];
    CHECK(best.ended);
    std::string word;
    for (const Index token : tree.tokens(tree.finished.front())) word += scenario.tokenizer().piece(token);
    CHECK(word == "redoced<eos>");
    for (const BeamNode& node : tree.nodes) CHECK_FALSE((node.parent && tree.nodes[*node.parent].ended));
    for (const Index token : tree.tokens(tree.finished.front())) scenario = with_token(std::move(scenario), 0, token);
    CHECK(tree_of(scenario, 0, {}).nodes.empty());
}

TEST_CASE("a figure of the texts found has a curve for each, which falls from 0 to its sum") {
    const Scenario scenario = bundled("verses");
    const BeamTree tree = tree_of(scenario, 0, {.beams = 3, .length = 5});
    const Exhibit exhibit = beams_exhibit(scenario, tree);
    REQUIRE(exhibit.charts.size() == 1);
    REQUIRE(exhibit.charts[0].curves.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        const auto& points = exhibit.charts[0].curves[i].curve.points;
        CHECK(points.front().value == 0.0);
        CHECK(points.back().value == tree.nodes[tree.finished[i]].sum);
        CHECK(std::ranges::is_sorted(points, std::greater<>(), &DepthPoint::value));
        CHECK(points.size() == tree.tokens(tree.finished[i]).size() + 1);
        CHECK(exhibit.charts[0].curves[i].run == text_of(scenario, tree, tree.finished[i]));
    }
    CHECK(exhibit_figure(exhibit, {}).width > 0.0);
}

TEST_CASE("what can't be searched is one sentence") {
    const Scenario scenario = bundled("causal-lm-as-meant");
    CHECK(error_of([&] { static_cast<void>(tree_of(scenario, 0, {.beams = 0})); }) == "beams: 0, expected 1 to 64");
    CHECK(contains(error_of([&] { static_cast<void>(tree_of(scenario, 0, {.length = 100'000})); }),
                   "length: 100000 tokens, expected 1 to 512"));
    CHECK(contains(error_of([&] { static_cast<void>(tree_of(bundled("pre-ln-layer"), 0, {})); }), "vectors"));
    CHECK(contains(error_of([&] {
                       static_cast<void>(
                           tree_of(scenario, 0, {.length_penalty = std::numeric_limits<double>::quiet_NaN()}));
                   }),
                   "length penalty"));
}

TEST_CASE("the command line prints the texts found, or the whole tree") {
    const Outcome texts = run({"generate", "verses", "--beams", "2", "--length", "4"});
    CHECK(texts.status == 0);
    const Outcome json = run({"generate", "verses", "--beams", "2", "--length", "4", "--json"});
    CHECK(json.status == 0);
    CHECK(contains(json.out, "\"goes_on\":true"));
    CHECK(run({"generate", "verses", "--beams", "2", "--temperature", "1"}).status != 0);
    CHECK(run({"generate", "verses", "--length-penalty", "2"}).status != 0);
    CHECK(run({"generate", "verses", "--beams", "100"}).status != 0);
}

// Speculative decoding changes how many passes a text takes, and not the text: greedy, it is the model's own, token by
// token; drawn, it has the model's own distribution (Leviathan et al. 2023, appendix A.1).
#include "app/core/generate/generator.h"
#include "app/core/generate/speculative.h"
#include "engine/base/error.h"
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/engine/messages.h"
#include "tests/sanitized.h"

#include <cmath>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::generate;

namespace {

Scenario the_writer() { return scenario_of(load::load_model("verses")); }

Speculated speculated_with(const Scenario& model, const Scenario& draft, const Speculation& asked) {
    return finished(speculated(model, draft, 0, asked));
}

// What the model writes alone.
std::vector<Index> alone_with(const Scenario& model, Index length, const Sampling& sampling) {
    Generator generator(model, 0, sampling);
    const std::size_t before = generator.tokens().size();
    for (Index i = 0; i < length && generator.next(); ++i) {
    }
    const std::vector<Index> tokens = generator.tokens();
    return {tokens.begin() + static_cast<std::ptrdiff_t>(before), tokens.end()};
}
std::vector<Index> greedy(const Scenario& model, Index length) {
    return alone_with(model, length, {.temperature = 0.0});
}

}  // namespace

TEST_CASE("greedy, what is written is what the model writes alone, whatever drafts it") {
    const Scenario model = the_writer();
    constexpr Index kLength = 24;
    const std::vector<Index> alone = greedy(model, kLength);
    for (Index blocks = 1; blocks <= model.config().num_layers; ++blocks)
        for (const Index drafted : {1, 3, 7}) {
            INFO(blocks << " blocks draft " << drafted);
            const Speculated found =
                speculated_with(model, with_first_blocks(model, blocks),
                                {.drafted = drafted, .length = kLength, .sampling = {.temperature = 0.0}});
            CHECK(found.tokens == alone);
            Index accepted = 0, count = 0;
            for (const SpeculatedRound& round : found.rounds) {
                accepted += static_cast<Index>(round.accepted);
                count += static_cast<Index>(round.accepted) + (round.then ? 1 : 0);
                for (std::size_t i = 0; i < round.drafted.size(); ++i)
                    CHECK(round.drafted[i].accepted == (i < round.accepted));
            }
            CHECK(count == kLength);
            CHECK(accepted == found.accepted);
            CHECK(found.draft_passes == found.drafted);
        }
}

TEST_CASE("a draft that is the model itself is accepted whole, and saves all passes but one in so many") {
    const Scenario model = the_writer();
    for (const double temperature : {0.0, 1.0}) {
        const Sampling sampling{.temperature = temperature, .seed = 5};
        const Speculated found = speculated_with(model, with_first_blocks(model, model.config().num_layers),
                                                 {.drafted = 4, .length = 20, .sampling = sampling});
        CHECK(found.tokens ==
              alone_with(model, 20, sampling));  // a seed draws for a position what it draws in Generate
        CHECK(found.accepted == found.drafted);
        CHECK(found.rounds.size() == 4);  // five tokens each
        CHECK(found.tokens.size() == 20);
    }
}

TEST_CASE("drawn, the first token has the model's own distribution, though another model drafts it", "[long]") {
    const Scenario model = the_writer(), draft = with_first_blocks(model, 1);
    const Sampling sampling{.temperature = 1.3, .top_k = 12};
    const auto run = execute(plan_of(model));
    const std::optional<NextToken> next = next_token(model, *run, 0, sampling);
    REQUIRE(next);
    constexpr int kSeeds = 1500;
    std::vector<int> seen(static_cast<std::size_t>(model.config().vocab_size));
    int accepted = 0;
    for (int seed = 0; seed < kSeeds; ++seed) {
        Sampling seeded = sampling;
        seeded.seed = static_cast<std::uint64_t>(seed);
        const Speculated found = speculated_with(model, draft, {.drafted = 1, .length = 2, .sampling = seeded});
        ++seen[static_cast<std::size_t>(found.tokens.front())];
        accepted += static_cast<int>(found.accepted);
    }
    // Both ways were taken, or nothing would be tested.
    CHECK(accepted > kSeeds / 10);
    CHECK(accepted < kSeeds * 98 / 100);
    double chi_square = 0.0;
    int freedom = -1;
    for (const Candidate& one : next->candidates) {
        const double expected = one.after * kSeeds;
        const int count = seen[static_cast<std::size_t>(one.token)];
        if (one.after == 0.0) CHECK(count == 0);
        if (expected < 5.0) continue;
        chi_square += (count - expected) * (count - expected) / expected;
        ++freedom;
    }
    REQUIRE(freedom >= 2);
    // Beyond mean + 4 standard deviations of a chi-square: about one in ten thousand.
    CHECK(chi_square < freedom + 4.0 * std::sqrt(2.0 * freedom));
}

TEST_CASE("a token is accepted with probability min(1, p / q), and the numbers say so") {
    const Scenario model = the_writer();
    const Speculated found =
        speculated_with(model, with_first_blocks(model, 2), {.drafted = 5, .length = 40, .sampling = {.seed = 11}});
    std::size_t rejected = 0;
    for (const SpeculatedRound& round : found.rounds) {
        for (std::size_t i = 0; i <= round.accepted && i < round.drafted.size(); ++i) {
            const DraftedToken& one = round.drafted[i];
            CHECK(one.of_draft > 0.0);
            CHECK(one.accepted == (one.number < std::min(1.0, one.of_model / one.of_draft)));
        }
        if (round.accepted == round.drafted.size()) continue;
        ++rejected;
        // In its place stands a token that the model makes more probable than the draft did.
        REQUIRE(round.then);
        CHECK(*round.then != round.drafted[round.accepted].token);
        CHECK(round.of_model > 0.0);
    }
    CHECK(rejected > 0);
}

TEST_CASE("an edited or mutated model is followed as it is, and every text that ends, ends") {
    Scenario model = the_writer();
    model.edits = {ScaleHead{"blocks.1.attn", 2, 0.0F}};
    const Scenario draft = with_first_blocks(model, 2);
    const Speculation asked{.drafted = 3, .length = 12, .sampling = {.temperature = 0.0}};
    CHECK(speculated_with(model, draft, asked).tokens == greedy(model, 12));
    model.mutation = "no-scale";  // without a cache
    CHECK(speculated_with(model, draft, asked).tokens == greedy(model, 12));
}

TEST_CASE("a text ends where the model knows no more positions, and goes on where only the draft knows none") {
    Scenario model = the_writer();
    const Index most = model.config().max_positions;
    std::vector<float> tokens(static_cast<std::size_t>(most - 6), 5.0F);
    model.inputs = {.tokens = Tensor({{axis::batch, 1}, {axis::pos, most - 6}}, tokens)};
    const Speculation asked{.drafted = 4, .length = 20, .sampling = {.temperature = 0.0}};
    const std::vector<Index> alone = greedy(model, 20);
    for (Index blocks = 1; blocks <= model.config().num_layers; ++blocks)
        CHECK(speculated_with(model, with_first_blocks(model, blocks), asked).tokens == alone);

    const Scenario turning =
        scenario_of(load::load_model(DECODERSCOPE_TESTS_DIR "/../assets/lessons/gallery/models/small-smollm"));
    const std::string few = std::to_string(turning.inputs.pos() + 5);
    const Scenario shorter = with_override(with_first_blocks(turning, 1), "max_positions", few);
    CHECK(speculated_with(turning, shorter, asked).tokens == greedy(turning, 20));
}

TEST_CASE("what can't be drafted gets a sentence") {
    const Scenario model = the_writer(), other = scenario_of(load::load_model("induction"));
    const auto error = [&](const Scenario& draft, const Speculation& asked) {
        return error_of([&] { static_cast<void>(speculated_with(model, draft, asked)); });
    };
    CHECK(error(other, {}).find("draft: a vocabulary of ") == 0);
    CHECK(error(model, {.drafted = 0}).find("drafted: 0 tokens, expected 1 to ") == 0);
    CHECK(error(model, {.length = 0}).find("length: 0 tokens, expected 1 to ") == 0);
    CHECK(error(model, {.sampling = {.temperature = -1.0}}).find("temperature") != std::string::npos);
    CHECK_THROWS_AS(with_first_blocks(model, 0), Error);
    CHECK_THROWS_AS(with_first_blocks(model, 5), Error);
}

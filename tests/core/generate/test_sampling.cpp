// How the next token is chosen: against PyTorch's numbers, and laws that hold for any logits.
#include "app/core/generate/sampling.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "tests/catch.h"
#include "tests/engine/not_finite.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::generate;

namespace {

nlohmann::json reference() {
    return nlohmann::json::parse(read_text(DECODERSCOPE_TESTS_DIR "/reference/tabs_generate.json"));
}

std::vector<float> logits_of(const nlohmann::json& list) {
    std::vector<float> logits;
    for (const auto& logit : list) logits.push_back(logit.is_null() ? -kInfinity : logit.get<float>());
    return logits;
}

double sum_after(const NextToken& next) {
    double sum = 0.0;
    for (const Candidate& candidate : next.candidates) sum += candidate.after;
    return sum;
}

const std::vector<float> kLogits = {0.5F, 2.0F, -1.0F, 1.0F, 0.0F};

}  // namespace

TEST_CASE("temperature, top-k and top-p leave the probabilities that PyTorch gets") {
    const auto cases = reference()["sampling"];
    REQUIRE(cases.size() == 14);
    for (const auto& one : cases) {
        INFO(one["temperature"] << " " << one["top_k"] << " " << one["top_p"]);
        const Sampling sampling = {one["temperature"], one["top_k"], one["top_p"], 0};
        const auto next = next_token(logits_of(one["logits"]), sampling);
        REQUIRE(next);
        REQUIRE(next->candidates.size() == one["after"].size());
        for (std::size_t rank = 0; rank < next->candidates.size(); ++rank) {
            const Candidate& candidate = next->candidates[rank];
            const auto token = static_cast<std::size_t>(candidate.token);
            CHECK(candidate.before == Approx(one["before"][token].get<double>()).margin(1e-12));
            CHECK(candidate.after == Approx(one["after"][token].get<double>()).margin(1e-12));
            CHECK((rank < next->kept) == (candidate.removed_by == RemovedBy::nothing));
        }
        CHECK(sum_after(*next) == Approx(1.0).epsilon(1e-12));
    }
}

TEST_CASE("without temperature, top-k and top-p the model's probabilities are drawn from") {
    const auto next = next_token(kLogits, {});
    REQUIRE(next);
    CHECK(next->kept == 5);
    CHECK(next->cut_by_top_k + next->cut_by_top_p == 0.0);
    for (const Candidate& candidate : next->candidates) CHECK(candidate.after == candidate.before);
    CHECK(next->candidates[0].token == 1);
    CHECK(next->candidates[4].token == 2);
}

TEST_CASE("top-k 1 is greedy, and so is temperature 0") {
    for (const Sampling& sampling : {Sampling{.top_k = 1}, Sampling{.temperature = 0.0}, Sampling{.top_p = 1e-9}}) {
        const auto next = next_token(kLogits, sampling);
        REQUIRE(next);
        CHECK(next->kept == 1);
        CHECK(next->candidates[0].after == 1.0);
        for (const double number : {0.0, 0.5, 0.999999}) CHECK(next->candidates[draw(*next, number).rank].token == 1);
    }
    CHECK(next_token(kLogits, {.temperature = 0.0})->candidates[1].removed_by == RemovedBy::temperature);
}

TEST_CASE("each cut says which tokens it took and how much they weighed") {
    const auto next = next_token(kLogits, {.top_k = 3, .top_p = 0.8});
    REQUIRE(next);
    const double e[] = {std::exp(2.0), std::exp(1.0), std::exp(0.5), 1.0, std::exp(-1.0)};
    const double all = e[0] + e[1] + e[2] + e[3] + e[4], three = e[0] + e[1] + e[2];
    CHECK(next->cut_by_top_k == Approx((e[3] + e[4]) / all));
    CHECK(next->cut_by_top_p == Approx(e[2] / three));  // 0.629 + 0.231 ≥ 0.8
    CHECK(next->kept == 2);
    CHECK(next->candidates[2].removed_by == RemovedBy::top_p);
    CHECK(next->candidates[3].removed_by == RemovedBy::top_k);
    CHECK(next->candidates[1].after == Approx(e[1] / (e[0] + e[1])));
}

TEST_CASE("top-p keeps the fewest candidates that reach p, and none more where they reach it exactly") {
    // Equal logits have probabilities that a double holds exactly, and so has every sum of them.
    const auto kept = [](std::size_t of, double p) {
        const auto next = next_token(std::vector<float>(of, 0.5F), {.top_p = p});
        REQUIRE(next);
        return next->kept;
    };
    for (const std::size_t of : {2U, 4U, 8U, 64U})
        for (std::size_t count = 1; count < of; ++count) {
            INFO(count << " of " << of);
            const double p = static_cast<double>(count) / static_cast<double>(of);
            CHECK(kept(of, p) == count);
            CHECK(kept(of, std::nextafter(p, 1.0)) == count + 1);
            CHECK(kept(of, std::nextafter(p, 0.0)) == count);
        }
}

TEST_CASE("of equally probable tokens the first comes first, as numpy's argmax has it") {
    const std::vector<float> logits = {1.0F, 3.0F, 2.0F, 3.0F, 2.0F, 3.0F};
    const auto next = next_token(logits, {});
    REQUIRE(next);
    std::vector<Index> order;
    for (const Candidate& candidate : next->candidates) order.push_back(candidate.token);
    CHECK(order == std::vector<Index>{1, 3, 5, 2, 4, 0});
    const auto greedy = next_token(logits, {.temperature = 0.0});
    REQUIRE(greedy);
    CHECK(greedy->candidates[draw(*greedy, 0.99).rank].token == 1);
    CHECK(greedy_token(logits) == 1);
}

TEST_CASE("a number falls on the token whose stretch of the sum it lies in") {
    const auto next = next_token(kLogits, {.top_k = 2});
    REQUIRE(next);
    const double first = next->candidates[0].after;
    CHECK(draw(*next, 0.0).rank == 0);
    CHECK(draw(*next, first - 1e-9).rank == 0);
    CHECK(draw(*next, first).rank == 1);
    CHECK(draw(*next, 1.0 - 1e-16).rank == 1);
    CHECK(draw(*next, first).from == first);
    CHECK(draw(*next, first).to == Approx(1.0));
    // Over many numbers each token comes as often as it is probable.
    const auto every = next_token(kLogits, {});
    std::map<std::size_t, int> counts;
    for (Index position = 0; position < 20000; ++position) ++counts[draw(*every, sampling_number(1, 0, position)).rank];
    for (std::size_t rank = 0; rank < 5; ++rank)
        CHECK(counts[rank] / 20000.0 == Approx(every->candidates[rank].after).margin(0.015));
}

TEST_CASE("the number of a token depends on seed, row and position alone, and is the reference's") {
    const auto numbers = reference()["numbers"];
    REQUIRE(numbers.size() == 5);
    for (const auto& one : numbers)
        CHECK(sampling_number(one["seed"], one["row"], one["position"]) == one["number"].get<double>());
}

TEST_CASE("a token of probability 0 is never drawn, and logits that hold no number are not drawn from") {
    const std::vector<float> some = {-kInfinity, 1.0F, -kInfinity, 1.0F};
    const auto next = next_token(some, {.temperature = 2.0, .top_k = 4});
    REQUIRE(next);
    for (const double number : {0.0, 0.25, 0.5, 0.9999999999999999})
        CHECK(next->candidates[draw(*next, number).rank].logit == 1.0F);
    CHECK_FALSE(next_token(std::vector<float>{-kInfinity, -kInfinity}, {}));
    CHECK_FALSE(next_token(std::vector<float>{1.0F, std::nanf("")}, {}));
    CHECK_FALSE(next_token(std::vector<float>{1.0F, kInfinity}, {}));
    CHECK_FALSE(next_token({}, {}));
}

TEST_CASE("settings that mean nothing are refused by name") {
    const auto told = [](const Sampling& sampling) {
        try {
            check_sampling(sampling);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(told({}).empty());
    CHECK(told({.temperature = -1.0}) == "temperature: -1, expected a number from 0 to 100");
    CHECK(told({.temperature = std::nan("")}).starts_with("temperature: nan"));
    CHECK(told({.top_k = -2}).starts_with("top_k: -2"));
    CHECK(told({.top_p = 0.0}).starts_with("top_p: 0, expected"));
    CHECK(told({.top_p = 1.5}).starts_with("top_p: 1.5, expected"));
}

// Which temperature gives a token a probability: against the softmax itself, on a grid of temperatures.

namespace {

double softmax_of(const std::vector<float>& logits, std::size_t at, double temperature) {
    double sum = 0.0;
    for (const float logit : logits)
        sum += std::exp((static_cast<double>(logit) - static_cast<double>(logits[at])) / temperature);
    return 1.0 / sum;
}

}  // namespace

TEST_CASE("each temperature that is found gives the probability, and none is missed") {
    const std::vector<float> logits = {3.0F, 2.0F, 1.5F, -1.0F, -2.0F};
    const auto next = next_token(logits, {});
    REQUIRE(next);
    for (std::size_t rank = 0; rank < logits.size(); ++rank) {
        double highest = 0.0;
        for (double t = kLowestTemperature; t < kHighestTemperature; t *= 1.01)
            highest = std::max(highest, softmax_of(logits, rank, t));
        for (const double wanted : {0.05, 0.19, 0.21, 0.25, 0.3, 0.6, 0.99}) {
            INFO("rank " << rank << ", " << wanted);
            const TemperatureFor found = temperature_for(next->candidates, rank, wanted);
            CHECK(std::abs(found.highest - highest) < 1e-3);
            for (const double temperature : found.reached_at)
                CHECK(std::abs(softmax_of(logits, rank, temperature) - wanted) < 1e-6);
            std::size_t crossings = 0;
            double before = softmax_of(logits, rank, kLowestTemperature) - wanted;
            for (double t = kLowestTemperature * 1.001; t < kHighestTemperature; t *= 1.001) {
                const double here = softmax_of(logits, rank, t) - wanted;
                crossings += (here < 0.0) != (before < 0.0) ? 1 : 0;
                before = here;
            }
            CHECK(found.reached_at.size() == crossings);
        }
    }
}

TEST_CASE("a probability that can't be reached is said to be out of reach") {
    const auto next = next_token(std::vector<float>{3.0F, 2.0F, 1.5F}, {});
    REQUIRE(next);
    const TemperatureFor found = temperature_for(next->candidates, 1, 0.9);
    CHECK(found.reached_at.empty());
    CHECK(temperature_sentence(found, "b", 0.9).english().find("“b” can't reach 0.9: it gets at most 0.3") == 0);
    CHECK(temperature_sentence(temperature_for(next->candidates, 0, 0.5), "a", 0.5).english().find("“a” reaches 0.5") ==
          0);
    // The first token never has less than an even share.
    CHECK(temperature_for(next->candidates, 0, 0.2).reached_at.empty());
}

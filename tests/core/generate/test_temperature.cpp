// Which temperature gives a token a probability: against the softmax itself, on a grid of temperatures.
#include "app/core/generate/sampling.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::core::generate;

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

#pragma once

#include "engine/base/random.h"
#include "engine/tensor/storage.h"

#include <initializer_list>
#include <string>

namespace decoderscope::testing {

// Random throws from a seed, the same on every machine.
class Dice {
public:
    explicit Dice(std::uint64_t seed) : random_(seed, "dice") {}

    Index below(Index n) { return static_cast<Index>(random_.bits(thrown_++) % static_cast<std::uint64_t>(n)); }
    Index between(Index lowest, Index highest) { return lowest + below(highest - lowest + 1); }
    bool one_in(Index n) { return below(n) == 0; }
    float number() { return static_cast<float>(4.0 * random_.uniform(thrown_++) - 2.0); }
    std::string word(std::initializer_list<const char*> words) {
        return words.begin()[below(static_cast<Index>(words.size()))];
    }

private:
    RandomStream random_;
    std::uint64_t thrown_ = 0;
};

}  // namespace decoderscope::testing

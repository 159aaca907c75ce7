#pragma once

#include "app/core/lessons/lesson.h"
#include "app/core/run/scenario.h"
#include "engine/graph/run.h"
#include "engine/mutations/mutations.h"

#include <memory>
#include <string>
#include <vector>

// The exercises of the gallery, as their files say them.
namespace decoderscope::testing {

using namespace decoderscope::core::lessons;
using namespace decoderscope::core;
using namespace decoderscope::mutations;

struct Exercise {
    std::string name;  // "gallery/spiky"
    std::shared_ptr<const lessons::Lesson> lesson;
    lessons::ByBug bug;
    Scenario mutant, right;  // as its place opens it, and the same without the mistake

    // The mistake that was made; nullptr if there is none.
    [[nodiscard]] const Mutation* mutation() const;
    // Whether nothing is wrong.
    [[nodiscard]] bool is_false_alarm() const;
};

[[nodiscard]] const std::vector<Exercise>& exercises();
// The one with that mistake.
[[nodiscard]] const Exercise& exercise_with(const std::string& mutation);

[[nodiscard]] std::shared_ptr<const Run> run_of(const Scenario& scenario);

// What a model makes of the first row of its batch.
struct Reading {
    std::vector<double> probability;  // of each next token
    std::size_t hits = 0;             // how often it is the likeliest
    std::size_t nans = 0;             // among the logits

    [[nodiscard]] double mean(std::size_t first, std::size_t count) const;
    [[nodiscard]] double mean() const { return mean(0, probability.size()); }
};
[[nodiscard]] Reading reading_of(const Scenario& scenario);

// How far the logits before the last token of each row move when that token is changed. 0 in a causal decoder.
[[nodiscard]] double leak_of(const Scenario& scenario);

// The largest difference of two tensors, relative to the first one's largest number that is no fill; ∞ where only one
// of two numbers is finite.
[[nodiscard]] double difference(const Tensor& a, const Tensor& b);

}  // namespace decoderscope::testing

#pragma once

#include "app/core/run/scenario.h"
#include "engine/graph/run.h"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

// What a learner who understood answers to the questions of the lessons (the gallery has its own test). It is written
// down or computed from the run, by no expression of the lessons' language.
namespace decoderscope::testing {

using core::Scenario;

// A cell to point at; a step alone if it has no index.
struct Pointed {
    std::string step;
    Cell cell;
};
// What a learner answers who understood: the number of a choice, a number, a place, or what to change.
using Right = std::variant<std::size_t, double, Pointed, std::string>;

// The run that a question is asked about, in a learner's own arithmetic: no expression of the lesson's language.
struct Stage {
    const Scenario& scenario;
    const Run& run;

    [[nodiscard]] const Tensor& value(const std::string& name) const { return run.value(name); }
    [[nodiscard]] Index positions() const { return value("probs").dim(1); }
    // One row of a tensor, as doubles.
    [[nodiscard]] std::vector<double> row(const std::string& name, Cell cell) const;
    // The position of a letter in the target: the first one, or that of the second time.
    [[nodiscard]] Index letter(const std::string& wanted, int times_before) const;
};

// By "lesson/question".
[[nodiscard]] const std::map<std::string, std::function<Right(const Stage&)>>& right_answers();

}  // namespace decoderscope::testing

#pragma once

#include "app/core/lessons/lesson.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace decoderscope::core::lessons {

// The choices of a question; nullptr if it is answered in another way.
[[nodiscard]] const std::vector<Choice>* choices_of(const Question& question);

// In which order a learner sees the choices of a question: their numbers in the lesson's file, the first one shown
// first. The same seed gives the same order, in every language and on every machine.
[[nodiscard]] std::vector<std::size_t> shown_order(const Lesson& lesson, const Question& question, std::uint64_t seed);

// A seed for a new learner.
[[nodiscard]] std::uint64_t new_seed();

}  // namespace decoderscope::core::lessons

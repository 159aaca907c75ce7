#pragma once

#include "app/core/lessons/lesson.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace decoderscope::core::lessons {

// The choices of a question; nullptr if it is answered in another way.
[[nodiscard]] const std::vector<Choice>* choices_of(const Question& question);

// What a choice says, whatever the run: its text as it is written, or its mutation's name.
[[nodiscard]] std::string words_of(const Choice& choice);

// In which order a learner sees the choices of a question: their numbers in the lesson's file, the first one shown
// first. The same seed gives the same order, in every language and on every machine.
[[nodiscard]] std::vector<std::size_t> shown_order(const Lesson& lesson, const Question& question, std::uint64_t seed);

// A seed for a new learner.
[[nodiscard]] std::uint64_t new_seed();

// A test has several versions of the same questions, so that neighbours, and the same learner before and after a
// course, get other numbers. In expressions `version` is its number, from 0; places and questions may stand in one
// version only.
// The lesson in this version, with `version` among its names.
[[nodiscard]] Lesson in_version(const Lesson& lesson, int version);

// The version that a learner gets: by the learner's seed, and another one each time that the lesson is begun again.
[[nodiscard]] int version_for(const Lesson& lesson, std::uint64_t seed, std::uint64_t round);
// The lesson in that version; itself if it has only one.
[[nodiscard]] std::shared_ptr<const Lesson> lesson_for(std::shared_ptr<const Lesson> lesson, std::uint64_t seed,
                                                       std::uint64_t round);

}  // namespace decoderscope::core::lessons

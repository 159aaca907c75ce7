#pragma once

#include "app/core/lessons/lesson.h"

#include <cstdint>
#include <memory>

// A test has several versions of the same questions, so that neighbours, and the same learner before and after a
// course, get other numbers. In expressions `version` is its number, from 0; places and questions may stand in one
// version only.
namespace decoderscope::core::lessons {

// The lesson in this version, with `version` among its names.
[[nodiscard]] Lesson in_version(const Lesson& lesson, int version);

// The version that a learner gets: by the learner's seed, and another one each time that the lesson is begun again.
[[nodiscard]] int version_for(const Lesson& lesson, std::uint64_t seed, std::uint64_t round);
// The lesson in that version; itself if it has only one.
[[nodiscard]] std::shared_ptr<const Lesson> lesson_for(std::shared_ptr<const Lesson> lesson, std::uint64_t seed,
                                                       std::uint64_t round);

}  // namespace decoderscope::core::lessons

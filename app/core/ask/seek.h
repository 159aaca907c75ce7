#pragma once

#include "app/core/ask/measure.h"
#include "app/core/jobs/resumable.h"
#include "engine/base/message.h"

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

// What has to change so that a row of one number becomes what is wanted.
namespace decoderscope::core::ask {

// What is wanted of a row of one number.
struct Target {
    enum class Kind { equal, above, below, largest };
    Kind kind = Kind::equal;
    double number = 0.0;
};
// "0.25", "> 0", "< 1.5", or "largest": the row is a cell, which is to be larger than the others of its last axis, as
// the logit of a token that is to be predicted. Throws Error if it is none of them.
[[nodiscard]] Target target_from(std::string_view text);

// A change that makes the row what is wanted, verified by a run. It is the first that was found, not proved to be the
// smallest.
struct Found {
    Point point;                                  // what changes
    std::string varied;                           // "attention_scale"; a tensor's name
    std::optional<double> number = std::nullopt;  // that it has to be; nothing of a tensor
    double length = 0.0;                          // of a tensor's change: its L2 norm
    double before = 0.0, after = 0.0;             // the row's number
    std::size_t runs = 0;                         // that it took
    Target target = {};
};

// How many numbers of a tensor may change together.
inline constexpr Index kMostChanged = 4096;

// Seeks along what is varied: a number, as points_of() names it, within "NAME=A..B" or, without it, within a wider and
// wider range around what it is now; or all numbers of a tensor, a weight's and an input's, too, along the row's
// gradient with respect to them: the direction in which the least L2 change does most, at this run. `unswept` watches
// the row; `done` counts runs. Throws Error if the row isn't one number, or if nothing was found, saying how far was
// looked.
[[nodiscard]] Resumable<Found> sought(Unswept unswept, std::string vary, Target target,
                                      std::atomic<std::size_t>* done = nullptr);

// "attention_scale = 0.287 makes sure 0.25 (before: 0.81), as a run confirms. …" `row`: as it was written.
[[nodiscard]] Sentence found_sentence(const Found& found, const std::string& row);

}  // namespace decoderscope::core::ask

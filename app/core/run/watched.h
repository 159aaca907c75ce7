#pragma once

#include "app/core/derived/derived.h"
#include "app/core/run/notes.h"
#include "app/core/run/snapshot.h"
#include "engine/base/message.h"
#include "engine/graph/run.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::core {

// How a number differs from the one without edits. `differs`: neither up nor down, as a row, or with NaN on one side.
// `unclear`: NaN on both sides, which can't be compared. `only_here`: there is no such number without edits.
enum class Change { no_edits, none, up, down, differs, unclear, only_here };

// The number that a note stands at: a cell's, or the first ones of a row.
struct WatchedNumber {
    std::vector<float> now, before;  // in the shown run, in the one without edits; at most kMostOfRow
    bool goes_on = false;            // the row has more
    Change change = Change::no_edits;
    Sentence missing;  // why there is none; empty if there is one
};
inline constexpr Index kMostOfRow = 3;

// A cell; a row, which is a cell without its last index; or all of a step that is a single row or number. `run` has the
// values, `unedited` is the same run if there are no edits.
[[nodiscard]] WatchedNumber watched_number(const Note& note, const Run& run, const Run& unedited);
// As above, of what is shown. Nothing while its values are still being computed.
[[nodiscard]] Value<WatchedNumber> shown_watched(Derived& derived, const Snapshot& shown, const Note& note);

// "0.25", or "0.25, −1.5, 3 …" for a row.
[[nodiscard]] std::string now_text(const WatchedNumber& number, int digits);
[[nodiscard]] std::string before_text(const WatchedNumber& number, int digits);
// "↑" if it is larger than without edits; empty if there is nothing to say.
[[nodiscard]] std::string change_mark(Change change);
// The number, and what it is without edits; or why there is none.
[[nodiscard]] Sentence number_sentence(const WatchedNumber& number, int digits);

}  // namespace decoderscope::core

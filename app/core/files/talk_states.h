#pragma once

#include "app/core/files/saved_session.h"
#include "app/core/run/talk.h"

#include <string>

namespace decoderscope::core::files {

// What is open, as a state of a talk: all that a session's file holds of it, but the talk.
[[nodiscard]] TalkState talk_state(SavedSession work, std::string sentence);

// A state, to be shown: its run, on the model that is open if that is its own, and where the cursor stands.
struct ShownState {
    Scenario scenario;
    Cursor cursor;
    SavedView view;
};
// Throws Error if it is of another model that isn't a bundled one, or doesn't fit the model any more.
[[nodiscard]] ShownState shown_state(const TalkState& state, const Scenario& open);

// The fragment that opens a state in any Decoderscope (link_of). Throws Error as that does.
[[nodiscard]] std::string link_of(const TalkState& state);

}  // namespace decoderscope::core::files

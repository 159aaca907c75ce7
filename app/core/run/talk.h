#pragma once

#include <string>
#include <vector>

namespace decoderscope::core {

// A state of a talk: what the window shows, with a sentence for the audience.
struct TalkState {
    std::string sentence;
    std::string notes;  // for the speaker alone
    std::string work;   // what is shown: a session's JSON (docs/sessions.md), without a talk of its own
    bool operator==(const TalkState&) const = default;
};

// States in the order in which they are shown.
using Talk = std::vector<TalkState>;

// A talk of more states can't be read from a file.
inline constexpr std::size_t kMostTalkStates = 200;

}  // namespace decoderscope::core

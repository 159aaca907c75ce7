#pragma once

#include "app/core/lessons/player.h"
#include "app/core/session/session.h"

#include <functional>
#include <vector>

// A learner at a session: reads a lesson, gives every wrong answer that it knows, then the right one, by the window's
// commands.
namespace decoderscope::testing {

// Applies commands, none of which may fail.
void perform(core::Session& session, const std::vector<core::Command>& commands);

// What the window does in its frames until nothing is left to do.
void settle(core::Session& session, core::lessons::Player& player);

// Answers a question: wrong in each way that it knows, then right.
void answer_question(core::Session& session, core::lessons::Player& player, const core::lessons::Question& question);

// What looks on while a lesson is played.
struct Onlooker {
    std::function<void()> shown;                                 // more of the page is shown, and its places are open
    std::function<void(const core::lessons::Question&)> solved;  // before anything else is opened
};

// The whole lesson.
void play(core::Session& session, core::lessons::Player& player, const Onlooker& onlooker = {});

}  // namespace decoderscope::testing

#pragma once

#include "app/views/frame/view_state.h"
#include "app/views/widgets/keys_and_mouse.h"
#include "engine/base/message.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope {

// Something that the user can do. Shortcuts, palette and the list of keys are all made from one table of these.
struct Action {
    Sentence label;
    Key key = Key::none;
    Mods mods = {};
    bool repeats = false;  // repeats while the key is held
    bool listed = true;    // in the palette and the list of keys
    std::function<bool(const Session&)> enabled = [](const Session&) { return true; };
    std::function<void(const Session&, ViewState&, Commands&)> run;
};

// The window's own actions, and those of all labs.
[[nodiscard]] const std::vector<Action>& actions();

// Whether the model's files left something open that was assumed or asked; "What was assumed …" shows it.
[[nodiscard]] bool was_asked(const Session& session);

// "F1", "←"; empty for no key.
[[nodiscard]] std::string key_text(Key key);
// "Ctrl+Shift+Z", "←"; empty if the action has no key.
[[nodiscard]] std::string chord_text(const Action& action);

// Runs the actions whose keys went down in this frame.
void run_shortcuts(const Session& session, ViewState& state, Commands& commands);

// How well an action's label fits what was typed into the palette: its letters in order, best at the beginnings of
// words. Negative if it doesn't fit.
[[nodiscard]] int fuzzy_score(std::string_view label, std::string_view typed);

}  // namespace decoderscope

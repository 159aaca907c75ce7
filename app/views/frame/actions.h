#pragma once

#include "app/views/frame/view_state.h"
#include "app/views/widgets/keys_and_mouse.h"
#include "engine/base/message.h"

#include <functional>
#include <string>
#include <vector>

namespace decoderscope::views {

// Something that the user can do. Shortcuts, palette and the list of keys are all made from one table of these.
struct Action {
    Sentence label;
    Key key = Key::none;
    Mods mods = {};
    bool repeats = false;  // repeats while the key is held
    bool listed = true;    // in the palette and the list of keys
    std::function<bool(const core::Session&)> enabled = [](const core::Session&) { return true; };
    std::function<void(const core::Session&, ViewState&, Commands&)> run;
};

// The window's own actions, and those of all tabs. The window makes the list (app/views/shell/actions.cpp).
[[nodiscard]] const std::vector<Action>& actions();

// "F1", "←"; empty for no key.
[[nodiscard]] std::string key_text(Key key);
// "Ctrl+Shift+Z", "←"; empty if the action has no key.
[[nodiscard]] std::string chord_text(const Action& action);

}  // namespace decoderscope::views

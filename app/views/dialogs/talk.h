#pragma once

#include "app/core/session/session.h"
#include "app/views/frame/commands.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/widgets.h"

#include <cstddef>
#include <optional>
#include <string>

// A talk: states of the window with a sentence each, kept in the session, shown one after the other while presenting.
namespace decoderscope::views::dialogs {

struct TalkPlace {
    std::optional<std::size_t> at;     // the state that is shown, while the talk is given
    std::optional<std::size_t> to_go;  // one whose run is asked for: the cursor goes there when it is computed
    std::size_t last = 0;              // where the talk goes on when it is taken up again
    std::string path;                  // of the page to be written
};

// Adds what is open as the last state; its sentence says what the picture shows, until it is typed over.
void add_talk_state(const core::Session& session, ViewState& state, Commands& commands);

// The states in order: sentences and notes to be typed, moved, shown, replaced, removed; written as a page or a PDF.
void draw_talk_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);

// While presenting: → or Page Down goes on, ← or Page Up goes back, Enter returns to the state after edits. Returns
// whether a key was the talk's.
[[nodiscard]] bool run_talk_keys(const core::Session& session, ViewState& state, Commands& commands);

// The sentence of the state that is shown, at the foot of an area, while presenting. Returns its height: 0 without a
// talk. Called each frame: it takes the talk up when the presentation begins.
[[nodiscard]] float draw_talk(const Ui& ui, const core::Session& session, ViewState& state, Area area,
                              Commands& commands);

}  // namespace decoderscope::views::dialogs

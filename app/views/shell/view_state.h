#pragma once

#include "app/core/session/session.h"
#include "app/core/work/saved_view.h"
#include "app/core/work/settings.h"
#include "app/views/dialogs/export_dialog.h"
#include "app/views/dialogs/open_dialog.h"
#include "app/views/shell/input_bar.h"
#include "app/views/shell/lab_states.h"
#include "app/views/widgets/heatmap_view.h"

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope {

// Which dialog lies over the window.
enum class Dialog { none, keys, palette, export_file, open_model, save_session, unsaved, settings, checks };

// What the views remember from frame to frame; nothing of it is the model's.
struct ViewState {
    Settings settings;
    std::string tab{kStepLab};       // the lab's id
    std::string open_tab{kStepLab};  // the one that was drawn last
    LabStates labs;
    std::map<std::string, std::string> unknown_labs;  // what labs of a newer program had saved: it is saved again
    bool playing = false;
    double next_step_at = 0.0;  // seconds, ImGui's clock
    bool painting = false;      // the brush is in hand: clicks paint the mask
    bool paint_keeps = false;   // what the brush sets, from its first cell on
    Spot last_painted = {-1, -1};
    InputBarState input;
    Dialog dialog = Dialog::none;
    bool dialog_opens = false;
    std::array<char, 1024> path{};  // the export's, or the session's
    bool recovery_later = false;    // what is offered to be recovered is offered again at the next start
    ExportDialogState exports;
    OpenDialogState open;
    std::array<char, 64> typed{};    // over the selected cell
    std::string typed_for;           // which cell that is
    std::array<char, 128> search{};  // the palette's
    std::size_t chosen_action = 0;   // in the palette
    std::string mapped_step;         // the step that the map was last scrolled to
    bool close = false;              // the window closes
    bool wants_to_close = false;    // the person wants it to: at once where nothing is unsaved, else after the question
    bool close_when_saved = false;  // the answer was to save first
    bool busy = false;              // a view has more to do: it wants another frame soon
    bool paced = false;             // something goes by now and then: it wants a frame every so often

    std::map<std::uint64_t, Viewport> viewports;  // by a heatmap's key
    std::optional<std::pair<std::string, Cell>>
        hovered;  // the cell under the mouse, and its step, as of the last frame

    // What a lab remembers: a type of its own.
    template <class State>
    [[nodiscard]] State& lab() {
        return labs.get<State>();
    }
    template <class State>
    [[nodiscard]] const State& lab() const {
        return labs.get<State>();
    }
};

using Commands = std::vector<Command>;

}  // namespace decoderscope

#pragma once

#include "app/core/session/model_loader.h"
#include "app/core/session/names_table.h"
#include "app/core/session/paths_to_open.h"
#include "app/core/session/session.h"
#include "app/views/frame/commands.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/widgets.h"

#include <array>
#include <map>
#include <string>
#include <vector>

namespace decoderscope::views::dialogs {

// What the dialog that opens a model remembers from frame to frame.
struct OpenDialogState {
    std::string path;        // or a link
    std::string listed_for;  // the path that `list` was made for
    core::PathList list;
    bool listed = false;
    bool awaited = false;                        // a model is being loaded: the dialog closes when it has arrived
    bool refocus = false;                        // loading failed: the path needs to be typed again
    std::string asked_about;                     // the model that the answers are about
    std::map<std::string, std::string> answers;  // by configuration key
    std::vector<core::NamesRow> names;           // what each tensor is recognised as, as changed in the form
    bool copied = false;                         // the lines of Python are on the clipboard
};

// The dialog that opens a model or a session: the choice, the progress of reading, questions to answer, why it failed.
void draw_open_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);
// Opens that dialog automatically if a model being loaded takes long or asks something, and closes it once the model
// has arrived.
void follow_opening(const core::Session& session, ViewState& state);
// Leaving the dialog abandons a model that asks something, or that failed.
void leave_open_dialog(const core::Session& session, Commands& commands);

// "Reading gpt2", and a bar of how much of it has been read.
void draw_reading(const Ui& ui, const std::string& name, core::ModelLoader::Progress progress, float width);

// How the user left the form.
enum class QuestionsEnd { none, open, back };

// What a model's names and shapes tell, and a form for the rest, filled in with likely answers.
[[nodiscard]] QuestionsEnd draw_open_questions(const Ui& ui, const core::Opening& opening, OpenDialogState& open,
                                               float width, Commands& commands);

}  // namespace decoderscope::views::dialogs

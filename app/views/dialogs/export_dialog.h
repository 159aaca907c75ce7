#pragma once

#include "app/core/figure/export.h"
#include "app/core/session/session.h"
#include "app/views/frame/commands.h"
#include "app/views/frame/export_choices.h"
#include "app/views/widgets/widgets.h"
#include "engine/base/message.h"

#include <array>
#include <string>
#include <vector>

namespace decoderscope::views::dialogs {

// What the export dialog remembers, including from one export to the next.
struct ExportDialogState {
    std::vector<ExportChoice> choices;  // as of when it opened
    std::size_t chosen = 0;
    std::size_t format = 0;
    core::ExportOptions options;
    std::string path;
    bool typed = false;  // the path was typed by the user
    std::string said;    // what was copied
};

// The dialog that writes what is shown to a file, or copies it.
void draw_export_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);

// The progress of a slow export and a button that cancels it. The height is 0 if there is nothing to show.
[[nodiscard]] float export_progress_height(const Ui& ui, const core::Session& session);
void draw_export_progress(const Ui& ui, const core::Session& session, Area area, Commands& commands);

// Copies what the tab shows to the clipboard as CSV. Returns the message to show.
Sentence copy_shown_as_csv(const core::Session& session, const ViewState& state);
// Copies it as a picture.
void copy_shown_as_picture(const core::Session& session, const ViewState& state, Commands& commands);

}  // namespace decoderscope::views::dialogs

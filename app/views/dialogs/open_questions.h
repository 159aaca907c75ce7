#pragma once

#include "app/core/session/session.h"
#include "app/views/dialogs/open_dialog.h"
#include "app/views/shell/view_state.h"
#include "app/views/widgets/widgets.h"

namespace decoderscope {

// How the person left the form.
enum class QuestionsEnd { none, open, back };

// What a model's names and shapes say, and a form for what they don't, filled in with what is likely.
[[nodiscard]] QuestionsEnd draw_open_questions(const Ui& ui, const Opening& opening, OpenDialogState& open, float width,
                                               Commands& commands);

}  // namespace decoderscope

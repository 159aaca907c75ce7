#pragma once

#include "app/core/session/session.h"
#include "app/views/dialogs/open_dialog.h"
#include "app/views/widgets/widgets.h"

namespace decoderscope {

// How the user left the form.
enum class QuestionsEnd { none, open, back };

// What a model's names and shapes tell, and a form for the rest, filled in with likely answers.
[[nodiscard]] QuestionsEnd draw_open_questions(const Ui& ui, const Opening& opening, OpenDialogState& open, float width,
                                               Commands& commands);

}  // namespace decoderscope

#pragma once

#include "app/core/lessons/shown_page.h"
#include "app/views/lessons/lesson_state.h"
#include "app/views/shell/view_state.h"
#include "app/views/widgets/widgets.h"

// A page of the lesson that is open, in the panel's flow.
namespace decoderscope {

void draw_lesson_page(const Ui& ui, const Session& session, ViewState& state, LessonsState& panel);

// One question: what it asks, what it is answered with, hints, the reply.
void draw_question(const Ui& ui, const Session& session, ViewState& state, LessonsState& panel,
                   const lessons::Question& question, const lessons::ShownBlock& shown);

}  // namespace decoderscope

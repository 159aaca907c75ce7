#pragma once

#include "app/core/derived/derived.h"
#include "app/core/jobs/progress.h"
#include "app/views/frame/commands.h"
#include "app/views/widgets/widgets.h"

#include <functional>

namespace decoderscope::views {

// What a page draws while something takes longer than a frame: what it showed before, grey, with a note of what is
// coming over it. Nothing in it acts: its commands go nowhere, its controls are off, the pointer doesn't reach it.
// `before` draws it into `area`; `coming` draws the note into the area that it is given. What takes less than a tenth
// of a second isn't greyed, as that would only flicker; it doesn't act either. Returns whether that is still to come:
// it wants another frame.
bool draw_stale(const Ui& ui, const char* id, Area area, const std::function<void(Commands&)>& before,
                const std::function<void(Area)>& coming);
// The note that says no more than that something is coming.
[[nodiscard]] std::function<void(Area)> computing(const Ui& ui);

// How far a measurement under way is, its bar and its button. Returns whether it is to be cancelled.
[[nodiscard]] bool draw_progress(const Ui& ui, core::WorkProgress& progress, Area area);

// Draws an answer: as it is, or, while another is coming, stale. With nothing to show yet, the note alone.
template <class Question, class Answer, class Draw>
void draw_answer(const Ui& ui, const char* id, const core::LastAnswer<Question, Answer>& last, Area area,
                 Commands& commands, const Draw& draw, const std::function<void(Area)>& coming) {
    const auto draw_last = [&](Commands& heard) { draw(*last.answer(), heard); };
    if (!last)
        coming(area);
    else if (last.stale())
        draw_stale(ui, id, area, draw_last, coming);
    else
        draw_last(commands);
}

}  // namespace decoderscope::views

#pragma once

#include "app/core/derived/derived.h"
#include "app/core/jobs/progress.h"
#include "app/views/frame/commands.h"
#include "app/views/widgets/widgets.h"

#include <functional>

namespace decoderscope::views {

// What a page draws while something takes longer than a frame: what it showed before, grey, with a note of what is
// coming over it. Nothing in it acts: its commands go nowhere, its controls are off, the pointer doesn't reach it.
// `before` draws it and returns the area that it took. `coming` draws the note into the area that it is given. What
// takes less than a tenth of a second isn't greyed, as that would only flicker; it doesn't act either.
void draw_stale(const Ui& ui, const char* id, const std::function<Area(Commands&)>& before,
                const std::function<void(Area)>& coming);

// How far a measurement under way is, its bar and its button. Returns whether it is to be cancelled.
[[nodiscard]] bool draw_progress(const Ui& ui, core::WorkProgress& progress, Area area);

// Draws an answer: as it is, or, while another is coming, stale. With nothing to show yet, the note alone, into `room`.
template <class Question, class Answer>
void draw_answer(const Ui& ui, const char* id, const core::LastAnswer<Question, Answer>& last, Area room,
                 Commands& commands, const std::function<Area(Commands&)>& draw,
                 const std::function<void(Area)>& coming) {
    if (!last)
        coming(room);
    else if (last.stale())
        draw_stale(ui, id, draw, coming);
    else
        static_cast<void>(draw(commands));
}

}  // namespace decoderscope::views

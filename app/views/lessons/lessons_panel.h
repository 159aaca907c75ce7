#pragma once

#include "app/core/lessons/progress.h"
#include "app/core/session/session.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/widgets.h"

#include <memory>
#include <span>
#include <string>

namespace decoderscope::core::lessons {
struct Lesson;
}

// The lessons beside the stage: the list, and the lesson that is read.
namespace decoderscope::views::lesson_panel {

// Opens the panel: at the lesson that is being read, otherwise at the list.
void open_lessons(ViewState& state);
[[nodiscard]] bool lessons_are_open(const ViewState& state);
// Whether they have the inspector's place now.
[[nodiscard]] bool lessons_are_in_front(const ViewState& state);
// Opens it, or closes it.
void toggle_lessons(ViewState& state);
// Closes the panel. What is solved is kept.
void close_lessons(ViewState& state);
// Opens a lesson where it was left.
void open_lesson(ViewState& state, std::shared_ptr<const core::lessons::Lesson> lesson);
// Opens one of the program's own lessons, by its name, beside what is open, which stays. Throws Error if there is none.
void open_lesson_beside(ViewState& state, const std::string& name);
// Writes a lesson that asks for the selected cell into the current folder, and opens it.
void make_exercise(const core::Session& session, ViewState& state, Commands& commands);
// The name of the lesson that is read, if it is one of the program's own; otherwise empty.
[[nodiscard]] std::string lesson_beside(const ViewState& state);
// Reads the lessons in this language from now on, "zh_CN", where they are translated; empty: in English. The lesson
// that is being read stays where it is.
void speak_lessons(ViewState& state, const std::string& language);
// The list is read anew: there may be more lessons now.
void list_again(ViewState& state);
// Goes on with this progress, and keeps it in this file; empty: nowhere.
void keep_lesson_progress_in(ViewState& state, const std::string& path, core::lessons::Progress progress);

// Before the panels of a frame: does what the lesson's places ask for, and watches what is being done.
void follow_lesson(const core::Session& session, ViewState& state, Commands& commands);
// After them: what is withheld while a question is open stays closed.
void withhold(const core::Session& session, ViewState& state, Commands& commands);

// Lessons and inspector share the right side. Draws the row that chooses between them, where the panel is open, and the
// lessons if they are chosen. Returns whether it did: the inspector has its place otherwise, below `top`.
[[nodiscard]] bool draw_lessons(const Ui& ui, const core::Session& session, ViewState& state, Area& area,
                                Commands& commands);

// A frame around the part of the window that a lesson points at, for a moment. By WindowPart.
void draw_lesson_pointer(const Ui& ui, ViewState& state, std::span<const Area> parts);

}  // namespace decoderscope::views::lesson_panel

#pragma once

#include "app/core/generate/sampling.h"
#include "app/core/run/cursor.h"
#include "app/core/run/edit_groups.h"
#include "app/core/run/notes.h"
#include "app/core/run/overlay.h"
#include "app/core/run/scenario.h"
#include "app/core/run/talk.h"
#include "app/core/session/command.h"
#include "app/core/train/training_plan.h"
#include "engine/base/message.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace decoderscope::core {

// What the user's commands change: the scenario and the choices of a training, with their undo history, the cursor and
// the trail behind it, and how the next token is drawn. Plain values; what is computed from them belongs to Computed.
class UserState {
public:
    explicit UserState(Scenario scenario) { open(std::move(scenario)); }

    [[nodiscard]] const Scenario& scenario() const { return now_.scenario; }
    // Counts changes to anything that is saved, except the cursor.
    [[nodiscard]] std::uint64_t changes() const { return changes_; }
    void count_change() { ++changes_; }

    // ---- what is run

    // Marks what `next` edits anew as one gesture, or as part of the previous one. To be called before it is planned.
    void mark_gesture(Scenario& next, bool merge) const { number_gesture(next.edits, gesture_ + (merge ? 0U : 1U)); }
    // Takes `next`, with undo; `merge` adds it to the previous change.
    void change(Scenario next, bool merge = false);
    // The scenarios that undo and redo lead to; nullptr if none.
    [[nodiscard]] const Scenario* undone() const { return undo_.empty() ? nullptr : &undo_.back().scenario; }
    [[nodiscard]] const Scenario* redone() const { return redo_.empty() ? nullptr : &redo_.back().scenario; }
    // A number that identifies the scenario: undo and redo return to it, too.
    [[nodiscard]] std::uint64_t scenario_number() const { return now_.scenario_number; }
    void undo() { swap_with(undo_, redo_); }
    void redo() { swap_with(redo_, undo_); }
    // How many times undo leads to a scenario; nothing if it doesn't.
    [[nodiscard]] std::optional<std::size_t> undos_to(std::uint64_t scenario_number) const;
    // What the rows of this and of all earlier and later scenarios read as the other run: undo doesn't change it.
    void compare_with(const std::shared_ptr<const ReferenceRun>& other);
    // The run of the current scenario is shown.
    void note_shown() { shown_number_ = now_.scenario_number; }
    // It could not be run: what is shown takes its place, and what only led from one to the other leaves the history.
    void give_up(const Scenario& shown);

    // ---- what is typed

    struct Typed {
        Scenario next;
        std::size_t dropped = 0;  // edits that no longer fit
        bool merge = false;       // with the previous typing
    };
    // The scenario after typing. Throws Error if it can't be run.
    [[nodiscard]] Typed typed(const command::TypeInput& command) const;
    void take(Typed typed);
    // The last typed input can't be run; the sentence says why. It stays as long as that text stands in its box: until
    // another one can be run, or takes its place.
    void refuse_input(Sentence error);
    [[nodiscard]] const Sentence& input_error() const { return input_error_; }

    // ---- what is trained

    [[nodiscard]] const train::TrainingPlan& training() const { return now_.training; }
    // Take these choices, or this talk, with undo; `typed` ones are added to the previous change if that was typed,
    // too.
    void change_training(train::TrainingPlan next, bool typed);
    void change_talk(Talk next, bool typed);
    // As above, without undo, as of a session that is opened.
    void set_training(train::TrainingPlan plan);
    // The choices can't be trained; the sentence says why. The next choice clears it.
    void refuse_training(Sentence error) { training_error_ = std::move(error); }
    [[nodiscard]] const Sentence& training_error() const { return training_error_; }

    // ---- what is noted

    [[nodiscard]] const Notes& notes() const { return now_.notes; }
    // The numbers that colour map and timeline; nullptr: none.
    [[nodiscard]] const std::shared_ptr<const Overlay>& overlay() const { return now_.overlay; }
    [[nodiscard]] const Talk& talk() const { return now_.talk; }
    // Take these notes, or these numbers, with undo.
    void change_notes(Notes next);
    void change_overlay(std::shared_ptr<const Overlay> next);
    // Takes both and a talk, without undo, as of a session that is opened.
    void annotate(Notes notes, std::shared_ptr<const Overlay> overlay, Talk talk);

    // ---- where the user is

    [[nodiscard]] const Cursor& cursor() const { return cursor_; }
    void look_at(Cursor cursor) { cursor_ = std::move(cursor); }
    void select(std::optional<Cell> cell) { cursor_.cell = std::move(cell); }
    // Another batch row or head; the selected cell moves along to the same row and column.
    void choose(Place place, const Scenario& shown, const Step& step);
    // After a change the step may be gone (dropout off) and the place out of range (a smaller batch).
    void keep_cursor_in(const Run& run);

    // The step of the training that is looked at; nothing: the newest.
    [[nodiscard]] const std::optional<Index>& training_step() const { return training_step_; }
    void look_at_training_step(std::optional<Index> step) { training_step_ = step; }

    // Where Follow came from, oldest first.
    [[nodiscard]] const std::vector<Cursor>& trail() const { return trail_; }
    void remember_place() { trail_.push_back(cursor_); }
    void leave_trail() { trail_.clear(); }
    // Takes this many steps off the trail and returns where they began; nothing if the trail is empty.
    [[nodiscard]] std::optional<Cursor> step_back(std::size_t steps);

    // ---- how the next token is drawn: not part of the scenario, so not undone

    [[nodiscard]] const generate::Sampling& sampling() const { return sampling_; }
    void set_sampling(const generate::Sampling& sampling) { sampling_ = sampling; }

private:
    // What undo and redo bring back.
    struct Undoable {
        Scenario scenario;
        std::uint64_t scenario_number = 0;
        train::TrainingPlan training;
        Notes notes;
        std::shared_ptr<const Overlay> overlay;
        Talk talk;

        [[nodiscard]] bool is_same_work(const Undoable& other) const {
            return scenario_number == other.scenario_number && training == other.training && notes == other.notes &&
                   overlay == other.overlay && talk == other.talk;
        }
    };
    enum class Typing { none, input, training, talk };

    void open(Scenario scenario);
    void swap_with(std::vector<Undoable>& from, std::vector<Undoable>& to);
    void note_change(Typing typing);
    void remember(bool typed, Typing what);

    Undoable now_;
    std::vector<Undoable> undo_, redo_;
    std::uint64_t changes_ = 0, last_number_ = 0, shown_number_ = 0;
    std::uint32_t gesture_ = 0;  // the last one's number
    Sentence input_error_, training_error_;
    Inputs refused_beside_;         // what the run was on when the input was refused
    Typing typing_ = Typing::none;  // what the last change typed
    std::optional<Index> training_step_;
    Cursor cursor_;
    std::vector<Cursor> trail_;
    generate::Sampling sampling_;
};

}  // namespace decoderscope::core

#pragma once

#include "app/core/files/session_file.h"
#include "app/core/generate/generator.h"
#include "app/core/session/computed.h"
#include "app/core/session/file_jobs.h"
#include "app/core/session/log.h"
#include "app/core/session/user_state.h"
#include "app/core/train/training_board.h"
#include "engine/base/message.h"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::core {

// The window's model: the user's work, what is computed from it, and the jobs that read and write files. Every change
// goes through apply().
class Session {
public:
    // Opens on a scenario and computes it. `wake` is called when there is something new to show, from another thread if
    // there are threads. Throws Error if the scenario can't be run.
    explicit Session(const Scenario& scenario, std::function<void()> wake = {});
    explicit Session(load::Opened opened, std::function<void()> wake = {});
    // Continues saved work; its runs may be computed already.
    explicit Session(const files::SavedSession& work, std::function<void()> wake = {});
    Session(const files::SavedSession& work, const FirstRuns& first, std::function<void()> wake);

    // Does what was asked. A failure changes nothing and leaves a message.
    void apply(const Command& command);
    // Takes over what the worker has finished; waits for it, but no longer than `patience`. Call it each frame: without
    // threads the work is done here, a few milliseconds at a time.
    void update(std::chrono::milliseconds patience = std::chrono::milliseconds(0));
    // Without threads: works between frames until then. With or without: looks whether the file that is compared with
    // was saved again.
    void advance(JobRunner::Clock::time_point until);
    // Waits for all work to be done.
    void finish();
    // When to call advance() or update() next even if nothing happens; nothing if `wake` will say so, as it does with
    // threads unless a file is followed.
    [[nodiscard]] std::optional<JobRunner::Clock::time_point> due() const;

    // ---- the work (user_state.h)

    // What was asked for, even if it is still being computed.
    [[nodiscard]] const Scenario& scenario() const { return work_.scenario(); }
    // As above, for whoever reads it beside what is shown: while another model, or inputs of other shapes, are still
    // being computed, it is what is shown.
    [[nodiscard]] const Scenario& fitting_scenario() const;
    [[nodiscard]] const Cursor& cursor() const { return work_.cursor(); }
    // Where Follow came from, oldest first.
    [[nodiscard]] const std::vector<Cursor>& trail() const { return work_.trail(); }
    // How the next token is drawn.
    [[nodiscard]] const generate::Sampling& sampling() const { return work_.sampling(); }
    // What is pinned to steps and cells.
    [[nodiscard]] const Notes& notes() const { return work_.notes(); }
    // These notes, and those that the open lesson pins for as long as its page is open.
    [[nodiscard]] Notes seen_notes() const;
    [[nodiscard]] const Notes& lent_notes() const { return lent_notes_; }
    // The numbers that colour map and timeline; nullptr: none.
    [[nodiscard]] const std::shared_ptr<const Overlay>& overlay() const { return work_.overlay(); }
    [[nodiscard]] const Talk& talk() const { return work_.talk(); }
    // Why the last typed input could not be run; empty if it was.
    [[nodiscard]] const Sentence& input_error() const { return work_.input_error(); }
    // Identifies the scenario: undo and redo return to it, too.
    [[nodiscard]] std::uint64_t scenario_number() const { return work_.scenario_number(); }
    [[nodiscard]] bool can_undo() const { return work_.undone() != nullptr; }
    [[nodiscard]] bool can_redo() const { return work_.redone() != nullptr; }
    // What is trained, and how; and why it can't be trained, empty if it can.
    [[nodiscard]] const train::TrainingPlan& training_plan() const { return work_.training(); }
    [[nodiscard]] const Sentence& training_error() const { return work_.training_error(); }
    // Whether the model is writing its target.
    [[nodiscard]] bool writing() const { return writer_.writing(); }
    // How often the work has changed.
    [[nodiscard]] std::uint64_t changes() const { return work_.changes(); }

    // ---- what is shown (computed.h)

    [[nodiscard]] const Snapshot& shown() const { return computed_.shown(); }
    // The companion runs that are computed beside it, as they were asked for.
    [[nodiscard]] CompanionRuns companion_runs() const { return computed_.companion_runs(); }
    // Whether what is shown is older than what was asked for.
    [[nodiscard]] bool stale() const { return computed_.stale(); }
    [[nodiscard]] WorkProgress& progress() const { return computed_.progress(); }
    // The laws of every forward pass, measured on the run that is shown; nullptr until that is done.
    [[nodiscard]] const checks::InvariantsMonitor::Result* invariants() const { return computed_.invariants(); }
    // What is derived from runs to be shown; computed on demand, so not part of the state.
    [[nodiscard]] Derived& derived() const { return computed_.derived(); }
    // The step on the stage.
    [[nodiscard]] const Step& step() const;
    // The attention whose heads and masks go with it.
    [[nodiscard]] std::string attention() const;
    // The computed steps in order, as the timeline shows them, and the position of the step on the stage.
    [[nodiscard]] const std::vector<StepId>& timeline() const { return computed_.timeline(); }
    [[nodiscard]] std::size_t timeline_position() const { return computed_.timeline_position(step()); }

    // The trainings under way; they go on whatever else is opened.
    [[nodiscard]] const train::TrainingBoard& training() const { return training_; }
    // The step of the trainings that is looked at; nothing: the newest.
    [[nodiscard]] const std::optional<Index>& training_step() const { return work_.training_step(); }
    // Waits until all trainings are done; finish() doesn't wait for them.
    void finish_training() { training_.finish(); }

    // ---- the desk (file_jobs.h)

    // The model that is to replace this one; nothing once it has done so. What is shown stays until then.
    [[nodiscard]] const std::optional<Opening>& opening() const { return file_jobs_.opening(); }
    [[nodiscard]] ModelLoader::Progress opening_progress() const { return file_jobs_.opening_progress(); }
    // Progress of the export under way, if any.
    [[nodiscard]] std::optional<Exporter::Progress> exporting() const { return file_jobs_.exporting(); }
    [[nodiscard]] const std::optional<Message>& message() const { return file_jobs_.message(); }
    // The offered autosave; nullptr if none.
    [[nodiscard]] const Offer* offer() const { return file_jobs_.offer(); }
    // The trace that is being read, to be compared with; empty: none.
    [[nodiscard]] const std::string& reading_trace() const { return file_jobs_.trace_path(); }
    // The file that the work was opened from or saved to; empty if none yet.
    [[nodiscard]] const std::string& file() const { return file_jobs_.file(); }
    // Whether another program has written to it since. Reads it: not for every frame.
    [[nodiscard]] bool file_has_changed() const { return file_jobs_.file_has_changed(); }
    // What has changed since; nothing if undo led back there. And up to which change it would survive a crash.
    [[nodiscard]] const std::vector<files::WorkPart>& unsaved_parts() const;
    [[nodiscard]] bool unsaved() const { return recovered_ || !unsaved_parts().empty(); }
    [[nodiscard]] std::uint64_t autosaved_changes() const { return file_jobs_.autosaved_changes(); }
    // The window's part of a session that was opened; given once.
    [[nodiscard]] std::optional<files::SavedView> take_view() { return file_jobs_.take_view(); }

    // Autosaves unsaved work into this folder from now on, and offers what ended processes left there. If that is
    // impossible, a message says why.
    void autosave_in(const std::string& folder, std::chrono::milliseconds delay = files::SessionKeeper::kDelay) {
        file_jobs_.autosave_in(folder, delay);
    }
    // Autosaves what has changed, together with the window's part of the work. Call it after every frame.
    void keep(const files::SavedView& view);
    // Writes what happens to a log from now on.
    void log_to(std::shared_ptr<Log> log);
    // At exit: removes the autosave if the user quit, keeps it if the program was told to stop.
    void end(bool closed_by_user) { file_jobs_.end(closed_by_user); }
    // The work as it is now, for a file.
    [[nodiscard]] files::SavedSession work(const files::SavedView& view) const;

private:
    struct Apply;

    Session(const Scenario& scenario, const FirstRuns& first, std::function<void()> wake);
    void carry_out(const Command& command);
    // Runs `next`, with undo; `merge` adds it to the previous change. Throws Error if it doesn't fit.
    void change(Scenario next, bool merge = false);
    void type(const command::TypeInput& command);
    void open(const command::OpenScenario& command);
    void replace_work(Scenario scenario);
    void arrive_at(const std::string& step);
    void start(std::shared_ptr<const Plan> plan);
    // What Compare was given last, a run or a file, is what rows read as "other.x".
    void compare_rows_with(const std::shared_ptr<const ReferenceRun>& other);
    void take(std::shared_ptr<const ReferenceRun> file);
    // Does this once the run that it is about is there.
    void wait_with(const Command& command) { waiting_.push_back(command); }
    void do_what_waited();
    void finish_what_waits();
    // Goes to a step; requests an on-demand step.
    void look_at(Cursor cursor);
    void request(std::vector<StepId> on_demand);
    // Requests the on-demand steps whose numbers are watched.
    void request_watched();
    // Waits for the computation, but not for a model being read.
    void finish_run();
    void advance_jobs(JobRunner::Clock::time_point until);
    void take(const Worker::Result& result);
    void take(const ModelLoader::Result& result);
    void take_written();
    void look_at_opened(const ModelLoader::Result& opened);
    void restore(const files::SavedSession& work, std::shared_ptr<const ReferenceRun> pinned);
    void tell_remarks(const std::vector<Sentence>& more = {});
    [[nodiscard]] files::WorkMark mark() const;
    // The work as of now is the one that was opened or saved.
    void set_mark(files::WorkMark mark);
    void note_saves();
    void log(std::string_view line) const;
    void log_run(const Worker::Result& result) const;
    void log_message();

    // What was unsaved as of a change.
    struct Unsaved {
        std::optional<std::uint64_t> changes;
        std::vector<files::WorkPart> parts;
    };

    UserState work_;
    Computed computed_;
    FileJobs file_jobs_;
    generate::TargetWriter writer_;
    train::TrainingBoard training_;
    std::vector<Command> waiting_;                     // for the run under way
    std::optional<std::string> arriving_;              // at this step of an opened scenario, once its run is there
    Sentence left_out_;                                // what was last said of what the shown run doesn't keep
    Cursor goes_to_;                                   // where to go once the run that has it is shown
    files::WorkMark mark_;                             // as it was opened or last saved
    std::map<std::uint64_t, files::WorkMark> saving_;  // what is being saved, by its change
    Notes lent_notes_;                                 // of the lesson's page
    std::shared_ptr<Log> log_;                         // nullptr: none
    std::string logged_message_;                       // the last one in it
    std::chrono::steady_clock::time_point run_began_;
    bool recovered_ = false;  // it comes from an autosave, and isn't saved yet
    mutable Unsaved unsaved_;
};

// What a note would be pinned to now, the selected cell or the step, with what is noted there.
[[nodiscard]] Note note_here(const Session& session);
// Goes to where a note is pinned; nothing if the run has no such step, row or cell.
[[nodiscard]] std::optional<Command> command_to(const Note& note, const Run& run);

}  // namespace decoderscope::core

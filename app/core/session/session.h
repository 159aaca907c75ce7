#pragma once

#include "app/core/checks/invariants_monitor.h"
#include "app/core/derived/derived.h"
#include "app/core/diff/reference_run.h"
#include "app/core/export/exporter.h"
#include "app/core/generate/sampling.h"
#include "app/core/session/command.h"
#include "app/core/session/cursor.h"
#include "app/core/session/model_loader.h"
#include "app/core/session/scenario.h"
#include "app/core/session/worker.h"
#include "app/core/step/slice.h"
#include "app/core/work/session_keeper.h"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope {

// A run beside the one that is looked at.
struct Companion {
    Variation variation;
    Scenario scenario;
    std::shared_ptr<const Run> run;  // nullptr where it failed, or is still being computed
    std::string error;
    std::shared_ptr<const Run> beside;  // the run that it was computed beside: another one means that it is behind
};

// What there is to show: a computed run, what it was computed for, and the same without edits. Immutable.
struct Snapshot {
    Scenario scenario;
    std::shared_ptr<const Run> run;
    std::shared_ptr<const Run> unedited;  // the run itself where there are no edits
    // The run that is to take its place, as far as it was computed: the step that is looked at and what it is made
    // from.
    std::shared_ptr<const Run> early;
    std::map<std::string, Companion> companions;
    std::uint64_t version = 0;                       // another number for other numbers
    std::shared_ptr<const ReferenceRun> pinned;      // the run that was kept; nullptr where none was
    std::shared_ptr<const ReferenceRun> trace_file;  // the file that is compared with; nullptr where none is

    // The run to show this step's values from.
    [[nodiscard]] const Run& run_of(const Step& step) const;
    // The companion of that name, if its run is there; else nullptr.
    [[nodiscard]] const Companion* companion(const std::string& name) const;
};

// A sentence for the person.
struct Message {
    std::string text;
    bool failed = false;
};

// A model on its way: it is being read, or something has to be answered first, or it failed.
struct Opening {
    std::string name;   // a bundled model's, or the path, which may be a session's
    Overrides answers;  // that were given to what its files don't say
    bool reading = true;
    std::chrono::steady_clock::time_point since;
    std::optional<Recognised> asks;  // what it is, as far as can be seen, and what has to be answered
    std::string error;               // why it can't be opened; a sentence
    std::string python;              // what turns the file into one that can, where that is known
};

// The autosave of a process that is gone, in a few words.
struct Offer {
    Leftover leftover;
    std::string text;  // "reverse, 3 edits"
};

// One person's work: what is run, where they look, and the way back. Every change goes through apply().
class Session {
public:
    // Opens on a scenario and computes it. `wake` is called, from another thread where there are any, when something
    // new is there to show. Throws Error where it can't be run.
    explicit Session(Scenario scenario, std::function<void()> wake = {});
    explicit Session(std::shared_ptr<const Model> model, std::function<void()> wake = {});
    // Goes on with work that was saved.
    explicit Session(SavedWork work, std::function<void()> wake = {});

    // Does what was asked. What fails leaves everything as it was, and a message.
    void apply(const Command& command);
    // Takes over what the worker has finished; waits for it, but never longer than `patience`. To be called each frame:
    // without threads this is where the work is done, some milliseconds at a time.
    void update(std::chrono::milliseconds patience = std::chrono::milliseconds(0));
    // Waits for all work to be done.
    void finish();
    // When update() is to be called next though nothing happens; nothing where `wake` says so, as on threads.
    [[nodiscard]] std::optional<JobRunner::Clock::time_point> due() const;

    // From now on unsaved work is autosaved into this folder, and what processes that are gone left there is offered.
    // Where that can't be, a message says why.
    void autosave_in(const std::string& folder, std::chrono::milliseconds delay = SessionKeeper::kDelay);
    // Autosaves what has changed, together with the window's part of the work. To be called after every frame.
    void keep(const SavedView& view);
    // The end: an autosave goes when the person has ended the program, and stays when it was told to end.
    void end(bool by_the_person);

    // The work as it is now, for a file.
    [[nodiscard]] SavedWork work(const SavedView& view) const;
    // The file that the work was opened from or saved to; empty where there is none yet.
    [[nodiscard]] const std::string& file() const { return file_; }
    // Whether the work has changed since.
    [[nodiscard]] bool unsaved() const { return changes_ != saved_changes_; }
    // How often the work has changed, and up to which change it would outlive a crash.
    [[nodiscard]] std::uint64_t changes() const { return changes_; }
    [[nodiscard]] std::uint64_t autosaved_changes() const { return autosaved_changes_; }
    // The autosave that is offered; nullptr where there is none.
    [[nodiscard]] const Offer* offer() const { return offers_.empty() ? nullptr : &offers_.front(); }
    // The window's part of a session that was opened; given once.
    [[nodiscard]] std::optional<SavedView> take_view() { return std::exchange(opened_view_, std::nullopt); }

    [[nodiscard]] const Snapshot& shown() const { return shown_; }
    // Whether what is shown is behind what was asked for.
    [[nodiscard]] bool stale() const { return stale_; }
    [[nodiscard]] float progress() const { return worker_.progress(); }
    // The model that is to take this one's place; nothing once it did. What is shown stays until then.
    [[nodiscard]] const std::optional<Opening>& opening() const { return opening_; }
    [[nodiscard]] ModelLoader::Progress opening_progress() const { return loader_.progress(); }
    // How far what is being written is; nothing where nothing is.
    [[nodiscard]] std::optional<Exporter::Progress> exporting() const { return exporter_.progress(); }
    // What was asked for, also where it is still being computed.
    [[nodiscard]] const Scenario& scenario() const { return scenario_; }
    [[nodiscard]] const Cursor& cursor() const { return cursor_; }
    // Where Follow came from, oldest first.
    [[nodiscard]] const std::vector<Cursor>& trail() const { return trail_; }
    [[nodiscard]] const std::optional<Message>& message() const { return message_; }
    // Why what was typed last could not be run; empty where it was.
    [[nodiscard]] const std::string& input_error() const { return input_error_; }
    [[nodiscard]] bool can_undo() const { return !undo_.empty(); }
    [[nodiscard]] bool can_redo() const { return !redo_.empty(); }

    // The laws of every forward pass, measured on the run that is shown; nullptr until that is done.
    [[nodiscard]] const InvariantsMonitor::Result* invariants() const;

    // What is derived from runs for those who show them; made when it is first asked for, and so no part of the state.
    [[nodiscard]] Derived& derived() const { return *derived_; }

    // How the next token is drawn. It is no part of what is run, and so not of what is undone.
    [[nodiscard]] const Sampling& sampling() const { return sampling_; }

    // The step that we look at.
    [[nodiscard]] const Step& step() const;
    // The computed steps in order: what the timeline shows.
    [[nodiscard]] const std::vector<StepId>& timeline() const { return timeline_; }
    // Where we are on it. For a weight or an input: the first step that reads it.
    [[nodiscard]] std::size_t timeline_position() const;

private:
    struct Apply;

    void advance_jobs();
    // Makes `next` what is run, with a way back; `merge` adds it to the change before. Throws Error where it doesn't
    // fit.
    void change(Scenario next, bool merge = false);
    void type(const command::TypeInput& command);
    void restore(std::vector<Scenario>& from, std::vector<Scenario>& to);
    void start(std::shared_ptr<const Plan> plan);
    // Waits for what is being computed, but not for a model that is being read.
    void finish_run();
    [[nodiscard]] std::map<std::string, Worker::Task> companion_tasks();
    void take_companions(const Worker::Result& result);
    void measure(bool complete);
    void take(const Worker::Result& result);
    void take_early(std::shared_ptr<const Run> run);
    [[nodiscard]] std::vector<std::string> looked_at() const;
    void take(const ModelLoader::Result& result);
    void take(const SessionKeeper::Outcome& outcome);
    void take_over_leftover(const std::string& path);
    void restore(const SavedWork& work, std::shared_ptr<const ReferenceRun> pinned);
    void look_at_opened();
    void tell_remarks(const std::vector<std::string>& more = {});
    void look_at(Cursor cursor);
    void keep_cursor_in_plan();
    [[nodiscard]] const Plan& plan() const { return shown_.run->plan(); }

    Worker worker_;
    ModelLoader loader_;
    Exporter exporter_;
    InvariantsMonitor monitor_;
    InvariantsMonitor::Result invariants_;  // of the last run that was measured
    std::optional<Opening> opening_;
    bool opened_ = false;  // a model was read, and its first run is being computed
    // The rest of the session that was opened, until that run is there.
    std::optional<ModelLoader::Result> opened_session_;
    std::optional<SavedView> opened_view_;
    SessionKeeper keeper_;
    std::vector<Offer> offers_;
    std::string file_;
    std::uint64_t changes_ = 0, saved_changes_ = 0, autosaved_changes_ = 0;
    struct Kept {
        std::uint64_t changes = 0;
        Cursor cursor;
        SavedView view;
        bool operator==(const Kept&) const = default;
    };
    std::optional<Kept> kept_;   // as of the last autosave
    std::string keeping_error_;  // why it could not be written
    Scenario scenario_;
    Sampling sampling_;
    Snapshot shown_;
    std::vector<Scenario> undo_, redo_;
    std::vector<std::string> asked_;
    std::map<std::string, Companion> companions_;  // as they are being computed
    std::shared_ptr<FreshWeights> fresh_weights_ = std::make_shared<FreshWeights>();
    bool stale_ = false;
    bool computing_ = false;  // companions, too
    Cursor cursor_;
    std::vector<Cursor> trail_;
    std::vector<StepId> timeline_;
    std::optional<Message> message_;
    std::string input_error_;
    bool typing_ = false;  // the last change was typed
    std::unique_ptr<Derived> derived_ = std::make_unique<Derived>();
};

}  // namespace decoderscope

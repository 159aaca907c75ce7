#pragma once

#include "app/core/session/computed.h"
#include "app/core/session/desk.h"
#include "app/core/session/work.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope {

// What the window shows and asks of: one person's work, what is computed from it, and the desk where files come in and
// go out. Every change goes through apply().
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

    // ---- the work (work.h)

    // What was asked for, also where it is still being computed.
    [[nodiscard]] const Scenario& scenario() const { return work_.scenario(); }
    [[nodiscard]] const Cursor& cursor() const { return work_.cursor(); }
    // Where Follow came from, oldest first.
    [[nodiscard]] const std::vector<Cursor>& trail() const { return work_.trail(); }
    // How the next token is drawn.
    [[nodiscard]] const Sampling& sampling() const { return work_.sampling(); }
    // Why what was typed last could not be run; empty where it was.
    [[nodiscard]] const std::string& input_error() const { return work_.input_error(); }
    [[nodiscard]] bool can_undo() const { return work_.undone() != nullptr; }
    [[nodiscard]] bool can_redo() const { return work_.redone() != nullptr; }
    // How often the work has changed.
    [[nodiscard]] std::uint64_t changes() const { return work_.changes(); }

    // ---- what is shown (computed.h)

    [[nodiscard]] const Snapshot& shown() const { return computed_.shown(); }
    // Whether what is shown is behind what was asked for.
    [[nodiscard]] bool stale() const { return computed_.stale(); }
    [[nodiscard]] float progress() const { return computed_.progress(); }
    // The laws of every forward pass, measured on the run that is shown; nullptr until that is done.
    [[nodiscard]] const InvariantsMonitor::Result* invariants() const { return computed_.invariants(); }
    // What is derived from runs for those who show them; made when it is first asked for, and so no part of the state.
    [[nodiscard]] Derived& derived() const { return computed_.derived(); }
    // The step on the stage.
    [[nodiscard]] const Step& step() const;
    // The computed steps in order: what the timeline shows; and where the step on the stage is on it.
    [[nodiscard]] const std::vector<StepId>& timeline() const { return computed_.timeline(); }
    [[nodiscard]] std::size_t timeline_position() const { return computed_.timeline_position(step()); }

    // ---- the desk (desk.h)

    // The model that is to take this one's place; nothing once it did. What is shown stays until then.
    [[nodiscard]] const std::optional<Opening>& opening() const { return desk_.opening(); }
    [[nodiscard]] ModelLoader::Progress opening_progress() const { return desk_.opening_progress(); }
    // How far what is being written is; nothing where nothing is.
    [[nodiscard]] std::optional<Exporter::Progress> exporting() const { return desk_.exporting(); }
    [[nodiscard]] const std::optional<Message>& message() const { return desk_.message(); }
    // The autosave that is offered; nullptr where there is none.
    [[nodiscard]] const Offer* offer() const { return desk_.offer(); }
    // The file that the work was opened from or saved to; empty where there is none yet.
    [[nodiscard]] const std::string& file() const { return desk_.file(); }
    // Whether the work has changed since, and up to which change it would outlive a crash.
    [[nodiscard]] bool unsaved() const { return work_.changes() != desk_.saved_changes(); }
    [[nodiscard]] std::uint64_t autosaved_changes() const { return desk_.autosaved_changes(); }
    // The window's part of a session that was opened; given once.
    [[nodiscard]] std::optional<SavedView> take_view() { return desk_.take_view(); }

    // From now on unsaved work is autosaved into this folder, and what processes that are gone left there is offered.
    // Where that can't be, a message says why.
    void autosave_in(const std::string& folder, std::chrono::milliseconds delay = SessionKeeper::kDelay) {
        desk_.autosave_in(folder, delay);
    }
    // Autosaves what has changed, together with the window's part of the work. To be called after every frame.
    void keep(const SavedView& view);
    // The end: an autosave goes when the person has ended the program, and stays when it was told to end.
    void end(bool by_the_person) { desk_.end(by_the_person); }
    // The work as it is now, for a file.
    [[nodiscard]] SavedWork work(const SavedView& view) const;

private:
    struct Apply;

    // Makes `next` what is run, with a way back; `merge` adds it to the change before. Throws Error where it doesn't
    // fit.
    void change(Scenario next, bool merge = false);
    void type(const command::TypeInput& command);
    void start(std::shared_ptr<const Plan> plan);
    // Looks at a step; one that is made on demand only is asked for.
    void look_at(Cursor cursor);
    // Waits for what is being computed, but not for a model that is being read.
    void finish_run();
    void advance_jobs();
    void take(const Worker::Result& result);
    void take(const ModelLoader::Result& result);
    void look_at_opened(const ModelLoader::Result& opened);
    void restore(const SavedWork& work, std::shared_ptr<const ReferenceRun> pinned);
    void tell_remarks(const std::vector<std::string>& more = {});

    Work work_;
    Computed computed_;
    Desk desk_;
};

}  // namespace decoderscope

#include "app/core/session/session.h"

#include "engine/error.h"

#include <utility>

namespace decoderscope {

namespace {

// How long an update works if there are no threads.
constexpr std::chrono::milliseconds kShareOfAFrame{4};

}  // namespace

Session::Session(std::shared_ptr<const Model> model, std::function<void()> wake)
    : Session(scenario_of(std::move(model)), std::move(wake)) {}

Session::Session(Scenario scenario, std::function<void()> wake)
    : work_(std::move(scenario)), computed_(wake), desk_(wake), writer_(wake) {
    start(plan_of(work_.scenario()));
    finish_run();
    if (!shown().run) throw Error(message() ? message()->text : Sentence("the model could not be run"));
    work_.look_at(opening_cursor(*work_.scenario().model(), computed_.plan()));
    set_mark(mark());
    tell_remarks();
}

Session::Session(SavedWork work, std::function<void()> wake) : Session(work.scenario, std::move(wake)) {
    desk_.set_file(work.saved_as);
    restore(work, finished(pinned_run(work)));
    set_mark(mark());
}

// In order of urgency: saving first, what can wait last.
void Session::advance_jobs(JobRunner::Clock::time_point until) {
    if constexpr (kJobsOnThreads) return;
    desk_.advance_saving(until);
    computed_.advance_runs(until);
    writer_.advance(until);
    desk_.advance_others(until);
    computed_.advance_measuring(until);
}

void Session::advance(JobRunner::Clock::time_point until) {
    advance_jobs(until);
    derived().advance(until);
}

std::optional<JobRunner::Clock::time_point> Session::due() const {
    return earliest({desk_.due(), computed_.due_runs(), writer_.due(), computed_.due_measuring(), derived().due()});
}

void Session::update(std::chrono::milliseconds patience) {
    advance_jobs(JobRunner::Clock::now() + kShareOfAFrame);
    if (const auto result = desk_.collect_read(patience)) take(*result);
    const std::optional<Worker::Result> result = computed_.collect(patience);
    computed_.collect_early();
    if (result) take(*result);
    take_written();
    computed_.collect_measured();
    desk_.collect(work_.changes());
    note_saves();
}

void Session::finish_run() {
    while (computed_.computing())
        if (const auto result = computed_.collect(std::chrono::milliseconds(1000))) take(*result);
}

void Session::finish() {
    writer_.finish();
    take_written();
    while (computed_.computing() || desk_.reading()) update(std::chrono::milliseconds(1000));
    computed_.finish_measuring();
    desk_.finish_saving();
    desk_.finish_exports();
    update();
    desk_.finish_saving();  // removes an autosave that is no longer needed
}

const Step& Session::step() const {
    const Plan& plan = computed_.plan();
    const Ref step = plan.find(cursor().step);
    return step != nullptr ? *step : plan[timeline().front()];
}

void Session::change(Scenario next, bool merge) {
    std::shared_ptr<const Plan> plan = plan_of(next);
    work_.change(std::move(next), merge);
    start(std::move(plan));
}

void Session::type(const command::TypeInput& command) {
    try {
        Work::Typed typed = work_.typed(command);
        const std::size_t dropped = typed.dropped;
        std::shared_ptr<const Plan> plan = plan_of(typed.next);
        work_.take(std::move(typed));
        start(std::move(plan));
        if (dropped > 0)
            desk_.tell({message_n("{count} edit does not fit what was typed; undo brings it back.",
                                  "{count} edits do not fit what was typed; undo brings them back.", dropped)});
    } catch (const Error& error) {
        work_.refuse_input(error.sentence());
    }
}

// What the model wrote becomes the target's text: exactly these tokens, whatever text they make.
void Session::take_written() {
    try {
        const std::optional<WrittenTarget> written = writer_.collect(changes());
        if (!written) return;
        type({.typed = {.target = Typed{.text = ids_text(written->rows), .ids = true}}});
        if (written->unfinished > 0)
            desk_.tell({message_n("{count} line has no end: the model was stopped there.",
                                  "{count} lines have no end: the model was stopped there.", written->unfinished)});
    } catch (const Error& error) {
        desk_.tell({error.sentence(), true});
    }
}

void Session::start(std::shared_ptr<const Plan> plan) {
    computed_.start(work_.scenario(), std::move(plan), cursor().step);
}

void Session::take(const Worker::Result& result) {
    if (!computed_.take(result)) {
        desk_.tell({result.error, true});
        if (!shown().run) return;
        work_.give_up(shown().scenario);
        desk_.forget_opened();
        return;
    }
    work_.keep_cursor_in(*shown().run);
    if (const auto opened = desk_.run_is_there()) look_at_opened(*opened);
}

void Session::look_at(Cursor cursor) {
    const Ref step = computed_.plan().find(cursor.step);
    if (step == nullptr) return;
    work_.look_at(std::move(cursor));
    if (step->role != Role::on_demand || !shown().run->value(step->id).empty()) return;
    computed_.ask_for(step->name);
    start(shown().run->shared_plan());
}

}  // namespace decoderscope

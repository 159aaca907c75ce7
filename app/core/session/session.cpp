#include "app/core/session/session.h"

#include "app/core/run/edit_groups.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/sheet/sheet.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace decoderscope::core {

namespace {

// How long an update works if there are no threads.
constexpr std::chrono::milliseconds kShareOfAFrame{4};

// What a file edits wasn't made by one gesture.
Scenario opened_anew(Scenario scenario) {
    number_groups(scenario.edits);
    return scenario;
}

// Rows about rounding in a run that isn't rounded: all of them would say 0.
bool asks_about_no_rounding(const Scenario& scenario) {
    return scenario.computes() && scenario.config().arithmetic == Arithmetic::float32 &&
           std::ranges::any_of(scenario.edits, decoderscope::sheet::reads_exact_run);
}

}  // namespace

Session::Session(load::Opened opened, std::function<void()> wake)
    : Session(scenario_of(std::move(opened)), std::move(wake)) {}

Session::Session(const Scenario& scenario, std::function<void()> wake)
    : Session(scenario, finished(first_runs({.scenario = scenario})), std::move(wake)) {}

Session::Session(const Scenario& scenario, const FirstRuns& first, std::function<void()> wake)
    : work_(scenario), computed_(wake), file_jobs_(wake), writer_(wake), training_(wake) {
    computed_.show_first(work_.scenario(), first);
    work_.note_shown();
    work_.look_at(opening_cursor(work_.scenario(), computed_.plan()));
    set_mark(mark());
    tell_remarks();
}

Session::Session(const files::SavedSession& work, std::function<void()> wake)
    : Session(work, finished(first_runs(work)), std::move(wake)) {}

Session::Session(const files::SavedSession& work, const FirstRuns& first, std::function<void()> wake)
    : Session(work.scenario, first, std::move(wake)) {
    file_jobs_.set_file(work.saved_as, work.saved_as_was);
    restore(work, first.pinned);
    set_mark(mark());
}

// In order of urgency: saving first, whatever can wait last.
void Session::advance_jobs(JobRunner::Clock::time_point until) {
    file_jobs_.advance_saving(until);
    computed_.advance_runs(until);
    writer_.advance(until);
    file_jobs_.advance_others(until);
    computed_.advance_measuring(until);
    training_.advance(until);
}

void Session::advance(JobRunner::Clock::time_point until) {
    advance_jobs(until);
    derived().advance(until);
    file_jobs_.look_again();
}

std::optional<JobRunner::Clock::time_point> Session::due() const {
    return earliest({file_jobs_.due(), computed_.due_runs(), writer_.due(), computed_.due_measuring(), training_.due(),
                     derived().due()});
}

void Session::update(std::chrono::milliseconds patience) {
    advance_jobs(JobRunner::Clock::now() + kShareOfAFrame);
    file_jobs_.look_again();
    if (const auto result = file_jobs_.collect_read(patience)) take(*result);
    const std::optional<Worker::Result> result = computed_.collect(patience);
    computed_.collect_early();
    if (result) take(*result);
    take_written();
    if (!stale()) do_what_waited();
    if (auto trace = file_jobs_.collect_trace()) take(std::move(*trace));
    computed_.collect_measured();
    file_jobs_.collect(work_.changes());
    for (const Sentence& failure : {training_.take_failure(), derived().take_failure()})
        if (!failure.empty()) file_jobs_.tell({failure, true});
    note_saves();
    log_message();
}

void Session::finish_run() {
    while (computed_.computing())
        if (const auto result = computed_.collect(std::chrono::milliseconds(1000))) take(*result);
}

void Session::finish() {
    writer_.finish();
    take_written();
    while (file_jobs_.transferring() || computed_.computing() || file_jobs_.reading()) {
        file_jobs_.finish_transfers();
        update(std::chrono::milliseconds(1000));
    }
    computed_.finish_measuring();
    file_jobs_.finish_saving();
    file_jobs_.finish_exports();
    update();
    file_jobs_.finish_saving();  // removes an autosave that is no longer needed
}

const Scenario& Session::fitting_scenario() const {
    return stale() && !fit_together(scenario(), shown().scenario) ? shown().scenario : scenario();
}

const Step& Session::step() const {
    const Plan& plan = computed_.plan();
    const Ref step = plan.find(cursor().step);
    return step != nullptr ? *step : plan[timeline().front()];
}

std::string Session::attention() const { return attention_beside(computed_.plan(), step(), cursor().attention); }

void Session::change(Scenario next, bool merge) {
    const bool begins_to_ask = !asks_about_no_rounding(scenario()) && asks_about_no_rounding(next);
    work_.mark_gesture(next, merge);
    next.other_run = scenario().other_run;
    next.memory = scenario().memory;  // the process's, whatever is open
    std::shared_ptr<const Plan> plan = plan_of(next);
    finish_what_waits();
    work_.change(std::move(next), merge);
    start(std::move(plan));
    if (begins_to_ask)
        file_jobs_.tell({decoderscope::message(
            "This run is in float32, and nothing is rounded: choose bfloat16 or float16 beside Dropout.")});
}

void Session::compare_rows_with(const std::shared_ptr<const ReferenceRun>& other) {
    work_.compare_with(other);
    computed_.compare_rows_with(other);
    if (std::ranges::none_of(scenario().edits, decoderscope::sheet::reads_other_run)) return;
    std::shared_ptr<const Plan> plan = plan_of(scenario());
    Sentence lacking = lacking_of_other(scenario(), *plan);
    if (other != nullptr && !lacking.empty()) file_jobs_.tell({std::move(lacking)});
    start(std::move(plan));
}

// A file that is read again because it was saved again takes only its own place.
void Session::take(std::shared_ptr<const ReferenceRun> file) {
    const std::shared_ptr<const ReferenceRun> before = shown().trace_file;
    const bool is_again = before != nullptr && file != nullptr && before->path == file->path;
    computed_.compare_with_file(file);
    if (!is_again || scenario().other_run == before) compare_rows_with(file);
}

void Session::do_what_waited() {
    for (const Command& command : std::exchange(waiting_, {})) carry_out(command);
}

// Whatever waits is about the run under way, not about the one after the next change.
void Session::finish_what_waits() {
    if (waiting_.empty() && !arriving_) return;
    finish_run();
    do_what_waited();
}

void Session::type(const command::TypeInput& command) {
    try {
        finish_what_waits();
        UserState::Typed typed = work_.typed(command);
        const std::size_t dropped = typed.dropped;
        std::shared_ptr<const Plan> plan = plan_of(typed.next);
        work_.take(std::move(typed));
        start(std::move(plan));
        if (dropped > 0)
            file_jobs_.tell({message_n("{count} edit does not fit the new input; undo brings it back.",
                                       "{count} edits do not fit the new input; undo brings them back.", dropped)});
    } catch (const Error& error) {
        work_.refuse_input(error.sentence());
    }
}

// What the model wrote becomes the target's text: exactly these tokens, whatever text they make.
void Session::take_written() {
    try {
        const std::optional<generate::WrittenTarget> written = writer_.collect(changes());
        if (!written) return;
        type({.typed = {.target = Typed{.text = ids_text(written->rows), .ids = true}}});
        if (written->unfinished > 0)
            file_jobs_.tell(
                {message_n("{count} line never reached the end token: the model was stopped.",
                           "{count} lines never reached the end token: the model was stopped.", written->unfinished)});
    } catch (const Error& error) {
        file_jobs_.tell({error.sentence(), true});
    }
}

void Session::start(std::shared_ptr<const Plan> plan) {
    run_began_ = std::chrono::steady_clock::now();
    computed_.start(work_.scenario(), std::move(plan), cursor().step);
}

void Session::take(const Worker::Result& result) {
    log_run(result);
    if (!computed_.take(result)) {
        file_jobs_.tell({result.error, true});
        if (!shown().run) return;
        work_.give_up(shown().scenario);
        file_jobs_.forget_opened();
        arriving_.reset();
        return;
    }
    work_.note_shown();
    if (const Sentence left_out = what_was_left_out(*shown().run); left_out != left_out_ && scenario().computes())
        if (!(left_out_ = left_out).empty()) file_jobs_.tell({left_out});
    work_.keep_cursor_in(*shown().run);
    if (const Cursor next = std::exchange(goes_to_, {}); const Ref step = computed_.plan().find(next.step)) {
        work_.leave_trail();
        const Place now = cursor().place;
        look_at({next.step, next.cell ? place_of(*step, *next.cell, now, scenario().query_heads()) : now, next.cell,
                 attention()});
        work_.keep_cursor_in(*shown().run);
    }
    if (const auto opened = file_jobs_.take_started_model()) look_at_opened(*opened);
    if (arriving_) arrive_at(*std::exchange(arriving_, std::nullopt));
}

void Session::look_at(Cursor cursor) {
    const Ref step = computed_.plan().find(cursor.step);
    if (step == nullptr) return;
    keep_attention(computed_.plan(), cursor);
    work_.look_at(std::move(cursor));
    request({step->id});
}

void Session::request(std::vector<StepId> steps) {
    const Run& run = *shown().run;
    std::erase_if(steps, [&](StepId id) { return run.plan()[id].role != Role::on_demand || !run.value(id).empty(); });
    for (const StepId id : steps) computed_.ask_for(run.plan()[id].name);
    if (!steps.empty()) start(computed_.plan_asked_for());
}

void Session::request_watched() {
    std::vector<StepId> steps;
    for (const Note* note : watched_among(notes()))
        if (const Ref step = computed_.plan().find(note->step)) steps.push_back(step->id);
    request(std::move(steps));
}

// How a model or a session replaces what is open, and how work is collected for a file.

void Session::take(const ModelLoader::Result& result) {
    if (file_jobs_.is_missing_something(result)) return;
    try {
        replace_work(result.work ? result.work->scenario : scenario_of(*result.opened));
    } catch (const Error& error) {
        return file_jobs_.refuse(error.sentence());
    }
    file_jobs_.run(result);
}

// With other work, of which nothing is unsaved once its first run is there.
void Session::replace_work(Scenario scenario) {
    const bool leaves_unsaved = unsaved();
    change(opened_anew(std::move(scenario)));
    work_.annotate({}, nullptr, talk());  // they belong to the model that they were made for; a talk may show several
    computed_.forget_companion_runs();
    if (leaves_unsaved) file_jobs_.leave_kept();
}

Notes Session::seen_notes() const {
    Notes seen = notes();
    seen.insert(seen.end(), lent_notes_.begin(), lent_notes_.end());
    return seen;
}

void Session::open(const command::OpenScenario& command) {
    replace_work(*command.scenario);
    arriving_ = command.step;
}

// The first run of the opened scenario is done.
void Session::arrive_at(const std::string& step) {
    work_.leave_trail();
    Cursor cursor = opening_cursor(scenario(), computed_.plan());
    if (computed_.plan().find(step) != nullptr) cursor = {step, {}, {}};
    look_at(std::move(cursor));
    file_jobs_.set_file({});
    set_mark(mark());
    file_jobs_.set_saved(work_.changes());
}

// The first run of the opened model or session is done.
void Session::look_at_opened(const ModelLoader::Result& opened) {
    work_.leave_trail();
    look_at(opening_cursor(scenario(), computed_.plan()));
    if (opened.work)
        file_jobs_.set_file(opened.work->saved_as, opened.work->saved_as_was);
    else
        file_jobs_.set_file({});
    if (opened.work)
        restore(*opened.work, opened.pinned);
    else
        tell_remarks();
    if (opened.work && opened.order.recovered) {
        // What it was opened as is not known; the model's own example comes closest.
        set_mark({scenario_of(scenario().opened()), {}, nullptr});
        recovered_ = true;
        return file_jobs_.adopt(opened.order.name);
    }
    set_mark(mark());
    file_jobs_.set_saved(work_.changes());
}

void Session::tell_remarks(const std::vector<Sentence>& more) {
    std::vector<Sentence> remarks = shown().scenario.about().remarks;
    remarks.insert(remarks.end(), more.begin(), more.end());
    if (remarks.empty()) return;
    Sentence all = remarks.front();
    for (std::size_t i = 1; i < remarks.size(); ++i)
        all = Sentence("{first}; {next}", {{"first", all}, {"next", remarks[i]}});
    file_jobs_.tell({all});
}

// Restores the rest of a session once its run is done.
void Session::restore(const files::SavedSession& work, std::shared_ptr<const ReferenceRun> pinned) {
    work_.set_sampling(work.sampling);
    computed_.compare_with_run(pinned);
    computed_.compare_with_file(nullptr);
    file_jobs_.read_trace(work.view.trace);
    if (work.view.trace.empty()) compare_rows_with(pinned);
    work_.set_training(work.training);
    work_.annotate(work.notes, work.overlay, work.talk);
    if (computed_.plan().find(work.cursor.step) != nullptr) {
        look_at(work.cursor);
        work_.keep_cursor_in(*shown().run);
    }
    request_watched();
    file_jobs_.set_view(work.view);
    std::vector<Sentence> remarks = work.remarks;
    if (Sentence lacking = lacking_of_other(scenario(), computed_.plan()); !lacking.empty() && work.view.trace.empty())
        remarks.push_back(std::move(lacking));
    tell_remarks(remarks);
}

files::SavedSession Session::work(const files::SavedView& view) const {
    files::SavedSession work{.scenario = scenario(),
                             .cursor = cursor(),
                             .sampling = sampling(),
                             .view = view,
                             .training = training_plan(),
                             .notes = notes(),
                             .overlay = overlay(),
                             .talk = talk(),
                             .saved_as = file(),
                             .saved_as_was = file_jobs_.file_was(),
                             .changed = unsaved_parts()};
    const Snapshot& now = shown();
    work.view.trace = now.trace_file ? now.trace_file->path : std::string();
    if (!reading_trace().empty()) work.view.trace = absolute_path(reading_trace());
    if (now.pinned && now.pinned->scenario) work.pins.push_back({now.pinned->label, *now.pinned->scenario});
    return work;
}

void Session::keep(const files::SavedView& view) {
    if (arriving_ || file_jobs_.arriving()) return;  // soon nothing of it is unsaved
    if (!unsaved()) return file_jobs_.keep_nothing();
    const FileJobs::Kept now{changes(), cursor(), view};
    if (file_jobs_.wants(now)) file_jobs_.keep(work(view), now);
}

// ---- the log

void Session::log_to(std::shared_ptr<Log> log) {
    log_ = std::move(log);
    this->log("opened " + scenario().about().name + ": " + std::to_string(computed_.plan().steps().size()) + " steps");
}

void Session::log(std::string_view line) const {
    if (log_) log_->write(line);
}

void Session::log_run(const Worker::Result& result) const {
    if (!log_) return;
    // What was computed while the model was read began elsewhere.
    const bool began_here = run_began_ != std::chrono::steady_clock::time_point();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - run_began_;
    const std::string time = began_here ? std::to_string(static_cast<long long>(took.count())) + " ms" : "opening";
    if (!result.run) return log("a run failed after " + time);  // not a message: a log is English
    const std::string all = std::to_string(result.run->plan().steps().size());
    log(scenario().about().name + ": computed " + std::to_string(result.run->computed_steps()) + " of " + all +
        " steps within " + time +                         // not a message: a log is English
        (result.complete ? "" : ", companions follow"));  // not a message: a log is English
}

void Session::log_message() {
    if (!log_) return;
    const std::string said = message() ? (message()->failed ? "failed: " : "said: ") + message()->text.english() : "";
    if (said != logged_message_ && !said.empty()) log(said);
    logged_message_ = said;
}

// ---- what is unsaved

files::WorkMark Session::mark() const {
    return {scenario(), sampling(), shown().pinned, training_plan(), notes(), overlay(), talk()};
}

void Session::set_mark(files::WorkMark mark) {
    mark_ = std::move(mark);
    recovered_ = false;
    unsaved_.changes.reset();
}

// Takes over which of the saves under way is done.
void Session::note_saves() {
    const auto saved = saving_.find(file_jobs_.saved_changes());
    if (saved == saving_.end()) return;
    set_mark(std::move(saved->second));
    saving_.erase(saving_.begin(), std::next(saved));
}

const std::vector<files::WorkPart>& Session::unsaved_parts() const {
    if (unsaved_.changes != changes()) unsaved_ = {changes(), files::changed_parts(mark_, mark())};
    return unsaved_.parts;
}

}  // namespace decoderscope::core

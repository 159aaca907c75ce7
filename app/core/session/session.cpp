#include "app/core/session/session.h"

#include "app/core/generate/passes.h"
#include "app/core/session/edit_list.h"
#include "engine/error.h"

#include <algorithm>
#include <utility>

namespace decoderscope {

namespace {

// How long an update works where there are no threads to do it.
constexpr std::chrono::milliseconds kShareOfAFrame{4};

std::vector<StepId> computed_steps(const Plan& plan) {
    std::vector<StepId> steps;
    for (const Step& step : plan.steps())
        if (!step.is_source()) steps.push_back(step.id);
    return steps;
}

}  // namespace

const Run& Snapshot::run_of(const Step& step) const {
    if (!early || step.id >= early->plan().steps().size()) return *run;
    const Step& same = early->plan()[step.id];
    const bool there = same.name == step.name && same.axes == step.axes && !early->value(step.id).empty();
    return there ? *early : *run;
}

const Companion* Snapshot::companion(const std::string& name) const {
    const auto found = companions.find(name);
    return found != companions.end() && found->second.run ? &found->second : nullptr;
}

Session::Session(std::shared_ptr<const Model> model, std::function<void()> wake)
    : Session(scenario_of(std::move(model)), std::move(wake)) {}

Session::Session(Scenario scenario, std::function<void()> wake)
    : worker_(wake), loader_(wake), exporter_(wake), monitor_(wake), keeper_(wake), scenario_(std::move(scenario)) {
    start(plan_of(scenario_));
    finish_run();
    if (!shown_.run) throw Error(message_ ? message_->text : "the model could not be run");
    cursor_ = opening_cursor(*scenario_.model(), plan());
    tell_remarks();
}

Session::Session(SavedWork work, std::function<void()> wake) : Session(work.scenario, std::move(wake)) {
    file_ = work.saved_as;
    restore(work, finished(pinned_run(work)));
}

// In their order: saving comes first, what can wait comes last.
void Session::advance_jobs() {
    if constexpr (kJobsOnThreads) return;
    const auto until = JobRunner::Clock::now() + kShareOfAFrame;
    keeper_.advance(until);
    worker_.advance(until);
    loader_.advance(until);
    exporter_.advance(until);
    monitor_.advance(until);
}

std::optional<JobRunner::Clock::time_point> Session::due() const {
    std::optional<JobRunner::Clock::time_point> first;
    for (const auto& due : {keeper_.due(), worker_.due(), loader_.due(), exporter_.due(), monitor_.due()})
        if (due && (!first || *due < *first)) first = due;
    return first;
}

void Session::update(std::chrono::milliseconds patience) {
    advance_jobs();
    if (opening_ && opening_->reading) {
        if (patience.count() > 0) loader_.wait(patience);
        if (const auto result = loader_.collect()) take(*result);
    }
    if (computing_ && patience.count() > 0) worker_.wait(patience);
    if (auto early = worker_.collect_early()) take_early(std::move(early));
    if (const auto result = worker_.collect()) take(*result);
    if (const auto result = exporter_.collect()) message_ = Message{result->sentence, result->failed};
    if (auto result = monitor_.collect()) invariants_ = std::move(*result);
    for (const SessionKeeper::Outcome& outcome : keeper_.collect()) take(outcome);
}

void Session::finish_run() {
    while (computing_) {
        worker_.wait(std::chrono::milliseconds(1000));
        if (const auto result = worker_.collect()) take(*result);
    }
}

void Session::finish() {
    while (computing_ || (opening_ && opening_->reading)) update(std::chrono::milliseconds(1000));
    monitor_.finish();
    derived_->finish();
    keeper_.wait();
    exporter_.finish();
    update();
    keeper_.wait();  // an autosave that is no longer needed goes
}

const InvariantsMonitor::Result* Session::invariants() const {
    return invariants_.run == shown_.run ? &invariants_ : nullptr;
}

const Step& Session::step() const {
    const Ref step = plan().find(cursor_.step);
    return step != nullptr ? *step : plan()[timeline_.front()];
}

std::size_t Session::timeline_position() const {
    const Step& here = step();
    for (std::size_t i = 0; i < timeline_.size(); ++i) {
        const Step& at = plan()[timeline_[i]];
        const bool reads = std::find(at.operands.begin(), at.operands.end(), here.id) != at.operands.end();
        if (at.id == here.id || (here.is_source() && reads)) return i;
    }
    return 0;
}

// While typing goes on, edits and a memory that didn't fit for a moment are there again as they were before it.
void Session::type(const command::TypeInput& command) {
    const bool merge = command.continues && typing_ && !undo_.empty();
    const Scenario& before = merge ? undo_.back() : scenario_;
    const std::vector<Edit> edits = before.edits;
    try {
        Scenario next = scenario_;
        next.edits.clear();
        next.inputs.memory = before.inputs.memory;
        if (!next.inputs.memory.empty()) next.inputs.encoder_attention_mask = before.inputs.encoder_attention_mask;
        next.inputs = typed_inputs(*next.model(), next.inputs, command.typed, OtherRows::even);
        next.edits = fitting_edits(next, edits);
        const std::size_t dropped = edits.size() - next.edits.size();
        change(std::move(next), merge);
        typing_ = true;
        if (dropped > 0)
            message_ = Message{(dropped == 1 ? std::string("An edit does") : std::to_string(dropped) + " edits do") +
                               " not fit what was typed; undo brings " + (dropped == 1 ? "it" : "them") + " back."};
    } catch (const Error& error) {
        input_error_ = error.what();
    }
}

void Session::change(Scenario next, bool merge) {
    std::shared_ptr<const Plan> plan = plan_of(next);
    input_error_.clear();
    typing_ = false;
    if (!merge || undo_.empty()) undo_.push_back(scenario_);
    redo_.clear();
    scenario_ = std::move(next);
    ++changes_;
    start(std::move(plan));
}

void Session::restore(std::vector<Scenario>& from, std::vector<Scenario>& to) {
    if (from.empty()) return;
    std::shared_ptr<const Plan> plan = plan_of(from.back());
    input_error_.clear();
    typing_ = false;
    to.push_back(std::move(scenario_));
    scenario_ = std::move(from.back());
    from.pop_back();
    ++changes_;
    start(std::move(plan));
}

void Session::start(std::shared_ptr<const Plan> plan) {
    Worker::Order job{.main = {std::move(plan), shown_.run}, .companions = companion_tasks(), .asked = asked_};
    if (!scenario_.edits.empty())
        job.unedited = Worker::Task{plan_of(varied(scenario_, {.without_edits = true})), shown_.unedited};
    job.recording = scenario_.recording;
    stale_ = true;
    computing_ = true;
    // Unless whole runs are compared or the logits are on the stage, those of the last position will do at first.
    const bool compared = !companions_.empty() || shown_.pinned || shown_.trace_file;
    if (shown_.run && cursor_.step != "logits" && cursor_.step != "probs" && !compared) job.last_row_first = {"logits"};
    if (shown_.run) job.looked_at = looked_at();
    monitor_.stop();
    worker_.start(std::move(job));
}

// The step on the stage and what stands beside it there.
std::vector<std::string> Session::looked_at() const {
    std::vector<std::string> names = {cursor_.step};
    if (const Ref step = plan().find(cursor_.step))
        for (const StepId operand : step->operands) names.push_back(plan()[operand].name);
    return names;
}

void Session::take_early(std::shared_ptr<const Run> run) {
    shown_.early = std::move(run);
    ++shown_.version;
}

std::map<std::string, Worker::Task> Session::companion_tasks() {
    std::map<std::string, Worker::Task> tasks;
    for (auto& [name, companion] : companions_) {
        try {
            companion.error.clear();
            companion.scenario = varied(scenario_, companion.variation);
            if (const std::optional<Index> row = companion.variation.cached_row)
                tasks[name] = {nullptr, nullptr,
                               [scenario = companion.scenario, row] { return plan_by_cache(scenario, *row); }};
            else if (companion.variation.adds_to_the_run())
                tasks[name] = {plan_of(companion.scenario, companion.variation.logit_lens), nullptr, {}};
            else if (companion.variation.changes_weights())
                tasks[name] = {nullptr, companion.run, [companion = companion, fresh = fresh_weights_] {
                                   return in_one_slice([companion, fresh] {
                                       return plan_of(with_weights_of(companion.variation, companion.scenario, *fresh));
                                   });
                               }};
            else
                tasks[name] = {plan_of(companion.scenario), companion.run, {}};
        } catch (const Error& error) {
            companion.error = error.what();
            companion.run = nullptr;
        }
    }
    return tasks;
}

void Session::take(const Worker::Result& result) {
    stale_ = false;
    computing_ = !result.complete;
    if (!result.run) {
        if (std::exchange(shown_.early, nullptr)) ++shown_.version;  // nothing is to take the shown run's place
        message_ = Message{result.error, true};
        if (!shown_.run) return;
        scenario_ = shown_.scenario;
        ++changes_;
        if (!undo_.empty()) undo_.pop_back();
        opened_ = false;
        opened_session_.reset();
        return;
    }
    take_companions(result);
    shown_ = {.scenario = scenario_,
              .run = result.run,
              .unedited = result.unedited ? result.unedited : result.run,
              .early = nullptr,
              .companions = companions_,
              .version = shown_.version + 1,
              .pinned = shown_.pinned,
              .trace_file = shown_.trace_file};
    measure(result.complete);
    timeline_ = computed_steps(plan());
    keep_cursor_in_plan();
    if (opened_) look_at_opened();
}

// What was measured stays where nothing was computed anew, as when only a companion was. A run of another time isn't
// kept alive for what is known of it.
void Session::measure(bool complete) {
    const Run& run = *shown_.run;
    const bool same = invariants_.run && run.computed_steps() == 0 &&
                      run.plan().steps().size() == invariants_.run->plan().steps().size();
    if (same)
        invariants_.run = shown_.run;
    else if (invariants_.run != shown_.run)
        invariants_ = {};
    if (complete && !invariants_.run) monitor_.start({shown_.run, scenario_.config()});
}

void Session::take_companions(const Worker::Result& result) {
    if (!result.complete) return;
    for (const auto& [name, run] : result.companions)
        if (const auto found = companions_.find(name); found != companions_.end()) {
            found->second.run = run;
            found->second.beside = result.run;
        }
    for (const auto& [name, error] : result.companion_errors) {
        const auto found = companions_.find(name);
        if (found == companions_.end()) continue;
        found->second.run = nullptr;
        found->second.error = error;
    }
}

// Looks at a step; one that is made only when somebody asks for it is asked for.
void Session::look_at(Cursor cursor) {
    const Ref step = plan().find(cursor.step);
    if (step == nullptr) return;
    cursor_ = std::move(cursor);
    if (step->role != Role::on_demand || !shown_.run->value(step->id).empty()) return;
    asked_.push_back(step->name);
    start(shown_.run->shared_plan());
}

// After a change the step may be gone (dropout off) and the place out of range (a smaller batch).
void Session::keep_cursor_in_plan() {
    if (cursor_.step.empty()) return;
    const Config& config = scenario_.config();
    const std::size_t behind = cursor_.step.rfind(".drop");
    if (plan().find(cursor_.step) == nullptr && behind != std::string::npos) cursor_.step.resize(behind);
    if (plan().find(cursor_.step) == nullptr) cursor_ = opening_cursor(*scenario_.model(), plan());
    cursor_.place.batch = std::clamp<Index>(cursor_.place.batch, 0, scenario_.inputs.batch() - 1);
    cursor_.place.head = std::clamp<Index>(cursor_.place.head, 0, config.nhead - 1);
    const Cell shape_check = cursor_.cell.value_or(Cell{});
    const Tensor& values = shown_.run->value(step().id);
    if (cursor_.cell && (values.empty() || !values.contains(shape_check))) cursor_.cell.reset();
    std::erase_if(trail_, [&](const Cursor& at) { return plan().find(at.step) == nullptr; });
}

}  // namespace decoderscope

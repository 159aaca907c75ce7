#include "app/core/session/computed.h"

#include "app/core/jobs/resumable.h"
#include "app/core/run/edit_groups.h"
#include "app/core/run/passes_of_text.h"
#include "engine/base/error.h"

#include <algorithm>
#include <utility>

namespace decoderscope::core {

Worker::Worker(std::function<void()> wake) : wake_(std::move(wake)) {}

void Worker::start(Order order) {
    runner_.forget();
    {
        const std::lock_guard lock(mutex_);
        finished_.reset();
        early_.reset();
    }
    runner_.start([this, order = std::move(order)](const std::stop_token& stop) { return compute(order, stop); },
                  [this](const Sentence& error, const std::stop_token& stop) { publish({.error = error}, stop); });
}

std::optional<Worker::Result> Worker::collect() {
    const std::lock_guard lock(mutex_);
    return std::exchange(finished_, std::nullopt);
}

std::shared_ptr<const Run> Worker::collect_early() {
    const std::lock_guard lock(mutex_);
    return std::exchange(early_, nullptr);
}

bool Worker::busy() const { return runner_.busy(); }

void Worker::wait(std::chrono::milliseconds patience) {
    runner_.wait(patience, [this] {
        const std::lock_guard lock(mutex_);
        return finished_.has_value();
    });
}

void Worker::publish(Result result, const std::stop_token& stop) {
    {
        const std::lock_guard lock(mutex_);
        if (stop.stop_requested()) return;
        early_.reset();
        finished_ = std::move(result);
    }
    runner_.notify();
    if (wake_) wake_();
}

void Worker::publish_early(std::shared_ptr<const Run> run, const std::stop_token& stop) {
    {
        const std::lock_guard lock(mutex_);
        if (stop.stop_requested()) return;
        early_ = std::move(run);
    }
    if (wake_) wake_();
}

Resumable<Done> Worker::compute(Order order, std::stop_token stop) {
    progress_->done = 0;
    progress_->all = effort_of(*order.main.plan) + (order.unedited ? effort_of(*order.unedited->plan) : 0);
    Result result = co_await compute_main(order, stop);
    const std::shared_ptr<const Run> run = result.run;
    const bool alone = order.companions.empty();
    result.complete = !run || alone;
    publish(result, stop);
    if (!run) co_return Done{};
    co_await compute_rest(order, *run);
    if (alone) co_return Done{};
    co_await compute_companions(order, stop, result);
    result.complete = true;
    publish(std::move(result), stop);
    co_return Done{};
}

Resumable<Worker::Result> Worker::compute_main(const Order& order, const std::stop_token& stop) {
    const auto options = [&](const Plan& plan, const Run* previous) {
        return ExecuteOptions{.previous = previous,
                              .asked = order.asked,
                              .stop = stop,
                              .done = &progress_->done,
                              .kept = kept_now(plan, order.recording, order.memory).in_a_run()};
    };
    Result result;
    if (order.main.there) {
        result.run = order.main.there;
        result.unedited = order.unedited ? order.unedited->there : nullptr;
        co_return result;
    }
    if (order.unedited)
        result.unedited = co_await execute_in_slices(order.unedited->plan,
                                                     options(*order.unedited->plan, order.unedited->previous.get()));
    // With few edits, most tensors are those of the unedited run.
    ExecuteOptions main =
        options(*order.main.plan, order.main.previous ? order.main.previous.get() : result.unedited.get());
    main.last_row_first = order.last_row_first;
    main.looked_at = order.looked_at;
    if (!order.looked_at.empty())
        main.early = [&](std::shared_ptr<const Run> run) { publish_early(std::move(run), stop); };
    result.run = co_await execute_in_slices(order.main.plan, main);
    co_return result;
}

// The deferred rows. A reader that needs them earlier computes them itself.
Resumable<Done> Worker::compute_rest(const Order& order, const Run& run) {
    for (const std::string& name : order.last_row_first) {
        co_yield kPause;
        try {
            if (run.value(name).is_ready()) continue;
            (void)run.value(name).data();
            if (wake_) wake_();
        } catch (const std::exception&) {
            break;  // nothing needs them yet; a later reader gets the error
        }
    }
    co_return Done{};
}

Resumable<Done> Worker::compute_companions(const Order& order, const std::stop_token& stop, Result& result) {
    for (const auto& [name, task] : order.companions) {
        co_yield kPause;
        try {
            const Run* previous = task.previous ? task.previous.get() : result.run.get();
            std::shared_ptr<const Plan> plan = task.plan;
            if (!plan) plan = co_await task.make_plan();
            const ExecuteOptions options{.previous = previous,
                                         .asked = order.asked,
                                         .stop = stop,
                                         .kept = kept_now(*plan, order.recording, order.memory).in_a_run()};
            result.companions[name] = co_await execute_in_slices(std::move(plan), options);
        } catch (const std::exception& error) {  // the others are computed
            result.companion_errors[name] = sentence_of(error);
        }
    }
    co_return Done{};
}

namespace {

std::vector<StepId> computed_steps(const Plan& plan) {
    std::vector<StepId> steps;
    for (const Step& step : plan.steps())
        if (!step.is_source()) steps.push_back(step.id);
    return steps;
}

}  // namespace

Resumable<FirstRuns> first_runs(files::SavedSession work, std::stop_token stop, SharedProgress progress) {
    number_groups(work.scenario.edits);  // as the session does
    const std::shared_ptr<const Plan> plan = plan_of(work.scenario);
    const std::shared_ptr<const Plan> unedited =
        is_edited(work.scenario) ? plan_of(varied(work.scenario, {.without_edits = true})) : nullptr;
    progress->all = effort_of(*plan) + (unedited ? effort_of(*unedited) : 0);
    const auto kept = [&](const Plan& of) {
        return kept_now(of, work.scenario.recording, work.scenario.memory).in_a_run();
    };
    ExecuteOptions options{.stop = stop, .done = &progress->done};
    FirstRuns first;
    if (unedited) {
        options.kept = kept(*unedited);
        first.unedited = co_await execute_in_slices(unedited, options);
    }
    options.kept = kept(*plan);
    options.previous = first.unedited.get();  // with few edits, most tensors are its own
    first.run = co_await execute_in_slices(plan, options);
    if (!first.run) throw LoadStopped();
    if (!unedited) first.unedited = first.run;
    first.pinned = co_await files::pinned_run(work);
    co_return first;
}

void Computed::show_first(const Scenario& scenario, const FirstRuns& first) {
    asked_for_ = scenario;
    plan_asked_for_ = first.run->shared_plan();
    static_cast<void>(take({.run = first.run, .unedited = first.unedited}));
}

void Computed::start(const Scenario& scenario, std::shared_ptr<const Plan> plan, const std::string& on_stage) {
    if (scenario.opened() != asked_for_.opened()) forget_companion_runs();  // undo leads to other models, too
    Worker::Order order{.main = {plan, shown_.run}, .companions = {}, .asked = asked_};
    if (is_edited(scenario))
        order.unedited = Worker::Task{plan_of(varied(scenario, {.without_edits = true})), shown_.unedited};
    asked_for_ = scenario;
    plan_asked_for_ = std::move(plan);
    order.companions = companion_tasks();
    order.recording = scenario.recording;
    order.memory = scenario.memory;
    stale_ = true;
    computing_ = true;
    // Unless whole runs are compared or the logits are on the stage, the last position's logits are enough at first.
    const bool compared = !companions_.empty() || shown_.pinned || shown_.trace_file;
    if (shown_.run && on_stage != "logits" && on_stage != "probs" && !compared) order.last_row_first = {"logits"};
    if (shown_.run) order.looked_at = looked_at(on_stage);
    monitor_.stop();
    worker_.start(std::move(order));
}

bool Computed::start_companions() {
    if (stale_ || !shown_.run) return false;
    const auto there = [](const std::shared_ptr<const Run>& run) {
        return Worker::Task{run->shared_plan(), nullptr, {}, run};
    };
    Worker::Order order{.main = there(shown_.run), .companions = companion_tasks(), .asked = asked_};
    if (is_edited(asked_for_)) order.unedited = there(shown_.unedited);
    order.recording = asked_for_.recording;
    order.memory = asked_for_.memory;
    if (shown_.run->plan().find("logits") != nullptr) order.last_row_first = {"logits"};
    computing_ = true;
    monitor_.stop();
    worker_.start(std::move(order));
    return true;
}

// The step on the stage and the steps shown next to it.
std::vector<std::string> Computed::looked_at(const std::string& on_stage) const {
    std::vector<std::string> names = {on_stage};
    if (const Ref step = plan().find(on_stage))
        for (const StepId operand : step->operands) names.push_back(plan()[operand].name);
    return names;
}

bool Computed::accompany(const std::string& name, const Variation& variation) {
    const auto known = companions_.find(name);
    if (known != companions_.end() && known->second.variation == variation) return false;
    companions_[name] = {.variation = variation};
    return true;
}

CompanionRuns Computed::companion_runs() const {
    CompanionRuns runs;
    for (const auto& [name, companion] : companions_) runs.emplace(name, companion.variation);
    return runs;
}

void Computed::leave(const std::string& name) {
    companions_.erase(name);
    shown_.companions.erase(name);
}

void Computed::forget_companion_runs() {
    for (auto& [name, companion] : companions_) companion.run = nullptr;
}

std::map<std::string, Worker::Task> Computed::companion_tasks() {
    std::map<std::string, Worker::Task> tasks;
    for (auto& [name, companion] : companions_) {
        try {
            companion.error = {};
            companion.scenario = varied(asked_for_, companion.variation);
            tasks[name] = task_of(companion);
        } catch (const Error& error) {
            companion.error = error.sentence();
            companion.run = nullptr;
        }
    }
    return tasks;
}

Worker::Task Computed::task_of(const Companion& companion) const {
    if (companion.variation.adds_to_the_run())
        return {plan_of(companion.scenario, companion.variation.logit_lens), nullptr, {}};
    if (companion.variation.changes_weights())
        return {nullptr, companion.run, [companion = companion, fresh = fresh_weights_] {
                    return in_one_slice([companion, fresh] {
                        return plan_of(with_weights_of(companion.variation, companion.scenario, *fresh));
                    });
                }};
    return {plan_of(companion.scenario), companion.run, {}};
}

std::optional<Worker::Result> Computed::collect(std::chrono::milliseconds patience) {
    if (computing_ && patience.count() > 0) worker_.wait(patience);
    return worker_.collect();
}

void Computed::collect_early() {
    std::shared_ptr<const Run> early = worker_.collect_early();
    if (!early) return;
    shown_.early = std::move(early);
    ++shown_.version;
}

void Computed::collect_measured() {
    if (auto result = monitor_.collect()) invariants_ = std::move(*result);
}

bool Computed::take(const Worker::Result& result) {
    stale_ = false;
    computing_ = !result.complete;
    if (!result.run) {
        if (std::exchange(shown_.early, nullptr)) ++shown_.version;  // the shown run is not replaced
        asked_for_ = shown_.scenario;
        plan_asked_for_ = shown_.run ? shown_.run->shared_plan() : nullptr;
        return false;
    }
    take_companions(result);
    if (shown_.run != result.run) derived_->forget_left();
    shown_ = {.scenario = asked_for_,
              .run = result.run,
              .unedited = result.unedited ? result.unedited : result.run,
              .early = nullptr,
              .companions = companions_,
              .version = shown_.version + 1,
              .pinned = shown_.pinned,
              .trace_file = shown_.trace_file};
    measure(result.complete);
    timeline_ = computed_steps(plan());
    return true;
}

void Computed::take_companions(const Worker::Result& result) {
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

// Measurements stay if the run is unchanged, as when only a companion was computed. They don't keep an earlier run
// alive.
void Computed::measure(bool complete) {
    const Run& run = *shown_.run;
    const bool same =
        invariants_.run && run.computed_steps() == 0 && checks::ask_the_same(run.plan(), invariants_.run->plan());
    if (same)
        invariants_.run = shown_.run;
    else if (invariants_.run != shown_.run)
        invariants_ = {};
    if (!complete || invariants_.run) return;
    const Scenario& scenario = shown_.scenario;
    monitor_.start({shown_.run, scenario.computes() ? std::optional(scenario.config()) : std::nullopt});
}

const checks::InvariantsMonitor::Result* Computed::invariants() const {
    return invariants_.run == shown_.run ? &invariants_ : nullptr;
}

std::size_t Computed::timeline_position(const Step& step) const {
    for (std::size_t i = 0; i < timeline_.size(); ++i) {
        const Step& at = plan()[timeline_[i]];
        const bool reads = std::find(at.operands.begin(), at.operands.end(), step.id) != at.operands.end();
        if (at.id == step.id || (step.is_source() && reads)) return i;
    }
    return 0;
}

}  // namespace decoderscope::core

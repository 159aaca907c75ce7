#include "app/core/session.h"

#include "app/core/edit_list.h"
#include "app/core/export/export.h"
#include "app/core/generation.h"
#include "app/core/head_switches.h"
#include "app/core/labels.h"
#include "app/core/passes.h"
#include "engine/error.h"

#include <algorithm>

namespace decoderscope {

namespace {

// Where to open: where the model's maker says to look, else on the first attention pattern, which shows most at a
// glance.
Cursor opening_cursor(const Model& model, const Plan& plan, const std::vector<StepId>& timeline) {
    const LookAt& look_at = model.look_at;
    if (plan.find(look_at.step) != nullptr) return {look_at.step, {.head = look_at.head}, {}};
    for (const char* name : {"blocks.0.attn.pattern", "blocks.0.attn.z"})
        if (plan.find(name) != nullptr) return {name, {}, {}};
    return {plan[timeline.front()].name, {}, {}};
}

std::vector<StepId> computed_steps(const Plan& plan) {
    std::vector<StepId> steps;
    for (const Step& step : plan.steps())
        if (!step.is_source()) steps.push_back(step.id);
    return steps;
}

}  // namespace

// One function a command.
struct Session::Apply {
    Session& s;

    void operator()(const command::OpenModel& c) const {
        // A question that was put stays, in case that the answers don't fit.
        std::optional<Recognised> asks;
        if (s.opening_ && s.opening_->name == c.name && !c.answers.empty()) asks = std::move(s.opening_->asks);
        s.opening_ = Opening{c.name, c.answers, true, std::chrono::steady_clock::now(), std::move(asks), {}, {}};
        s.loader_.start({c.name, c.answers});
    }

    void operator()(const command::StopOpening&) const {
        s.loader_.stop();
        s.opening_.reset();
    }

    void operator()(const command::TypeInput& c) const { s.type(c); }

    void operator()(const command::SetOption& c) const { s.change(with_override(s.scenario_, c.key, c.value)); }

    void operator()(const command::SetDropout& c) const {
        Scenario next = s.scenario_;
        next.dropout_seed = c.seed;
        s.change(std::move(next));
    }

    void operator()(const command::PaintMask& c) const {
        Scenario next = s.scenario_;
        const Edit edit = MaskEdit{c.attention, c.batch, c.head, c.query, c.key, c.keep};
        remove_target(next.edits, edit);
        // A cell painted back to what it was before any edit needs none, unless an edit of more cells lies under it.
        const bool plain = std::none_of(next.edits.begin(), next.edits.end(), [&](const Edit& other) {
            const auto* mask = std::get_if<MaskEdit>(&other);
            return mask != nullptr && mask->attention == c.attention;
        });
        const Tensor& before = s.shown_.unedited->value(c.attention + ".mask");
        const Cell cell = {c.batch, c.head.value_or(0), c.query, c.key};
        const bool as_before =
            c.head && !before.empty() && before.contains(cell) && (before.at(cell) != 0.0F) == c.keep;
        if (!plain || !as_before) next.edits.push_back(edit);
        s.change(std::move(next), c.continues);
    }

    void operator()(const command::PaintMasks& c) const {
        if (c.stroke.cells.empty()) return;
        Scenario next = s.scenario_;
        const Tensor& unedited = s.shown_.unedited->value(c.stroke.attention + ".mask");
        if (c.instead)
            next.edits = reset_masks(next.edits, c.stroke.attention, c.stroke.batch, c.stroke.head, unedited);
        next.edits = paint_masks(std::move(next.edits), c.stroke, unedited);
        s.change(std::move(next), c.continues);
    }

    void operator()(const command::ResetMask& c) const {
        Scenario next = s.scenario_;
        next.edits =
            reset_masks(next.edits, c.attention, c.batch, c.head, s.shown_.unedited->value(c.attention + ".mask"));
        if (next.edits != s.scenario_.edits) s.change(std::move(next));
    }

    void operator()(const command::SetKeptLength& c) const {
        Scenario next = s.scenario_;
        Inputs& inputs = next.inputs;
        const Tensor& source = inputs.encoder_tokens.empty() ? inputs.memory : inputs.encoder_tokens;
        if (c.source && source.empty()) return;
        const Axes axes = c.source ? Axes{{axis::batch, source.dim(0)}, {axis::src, source.dim(1)}}
                                   : Axes{{axis::batch, inputs.batch()}, {axis::pos, inputs.pos()}};
        Tensor& mask = c.source ? inputs.encoder_attention_mask : inputs.attention_mask;
        mask = with_kept_length(mask, axes, c.batch, c.length);
        s.change(std::move(next), c.continues);
    }

    void operator()(const command::AppendToken& c) const { s.change(with_token(s.scenario_, c.batch, c.token)); }

    void operator()(const command::RemoveLastToken& c) const { s.change(without_last_token(s.scenario_, c.batch)); }

    void operator()(const command::SetSampling& c) const {
        check_sampling(c.sampling);
        s.sampling_ = c.sampling;
    }

    void operator()(const command::ScaleHeadTo& c) const {
        Scenario next = s.scenario_;
        const Edit edit = ScaleHead{c.attention, c.head, c.factor};
        if (c.factor == 1.0F)
            remove_target(next.edits, edit);
        else
            replace_edit(next.edits, edit);
        s.change(std::move(next), c.continues);
    }

    void operator()(const command::SoloHead& c) const {
        Scenario next = s.scenario_;
        next.edits = c.solo ? with_solo(std::move(next.edits), c.attention, c.head, next.config().nhead)
                            : without_factors(std::move(next.edits), c.attention);
        s.change(std::move(next));
    }

    void operator()(const command::TypeOver& c) const {
        Scenario next = s.scenario_;
        replace_edit(next.edits, SetCell{c.tensor, c.cell, c.value});
        s.change(std::move(next));
    }

    void operator()(const command::RemoveEdit& c) const {
        Scenario next = s.scenario_;
        if (c.number >= next.edits.size()) return;
        next.edits.erase(next.edits.begin() + static_cast<std::ptrdiff_t>(c.number));
        s.change(std::move(next));
    }

    void operator()(const command::ClearEdits&) const {
        if (s.scenario_.edits.empty()) return;
        Scenario next = s.scenario_;
        next.edits.clear();
        s.change(std::move(next));
    }

    void operator()(const command::Undo&) const { s.restore(s.undo_, s.redo_); }
    void operator()(const command::Redo&) const { s.restore(s.redo_, s.undo_); }

    void operator()(const command::GoTo& c) const { leave_trail_for({c.step, s.cursor_.place, {}}); }

    void operator()(const command::Move& c) const {
        const auto last = static_cast<std::ptrdiff_t>(s.timeline_.size()) - 1;
        const auto now = static_cast<std::ptrdiff_t>(s.timeline_position());
        go_to_position(std::clamp<std::ptrdiff_t>(now + c.by, 0, last));
    }

    void operator()(const command::MoveLayer& c) const {
        const Step& here = s.step();
        const Index block = block_number(here) + c.by;
        const std::string name = block >= 0 ? name_in_block(here, block) : std::string();
        if (s.plan().find(name) != nullptr) leave_trail_for({name, s.cursor_.place, {}});
    }

    void operator()(const command::GoFirst&) const { go_to_position(0); }
    void operator()(const command::GoLast&) const {
        go_to_position(static_cast<std::ptrdiff_t>(s.timeline_.size()) - 1);
    }

    void operator()(const command::ChooseBatch& c) const { change_place({c.batch, s.cursor_.place.head}); }
    void operator()(const command::ChooseHead& c) const { change_place({s.cursor_.place.batch, c.head}); }

    void operator()(const command::SelectCell& c) const {
        if (s.shown_.run->value(s.step().id).contains(c.cell)) s.cursor_.cell = c.cell;
    }

    void operator()(const command::Follow& c) const {
        const Ref step = s.plan().find(c.step);
        if (step == nullptr) return;
        s.trail_.push_back(s.cursor_);
        const Place place = place_of(*step, c.cell, s.cursor_.place, s.shown_.scenario.config().nhead);
        s.look_at({c.step, place, c.cell});
    }

    void operator()(const command::GoBack& c) const {
        if (s.trail_.empty() || c.steps == 0) return;
        const std::size_t to = s.trail_.size() - std::min(c.steps, s.trail_.size());
        const Cursor cursor = s.trail_[to];
        s.trail_.resize(to);
        s.look_at(cursor);
    }

    void operator()(const command::Deselect&) const { s.cursor_.cell.reset(); }

    void operator()(const command::Accompany& c) const {
        const auto known = s.companions_.find(c.name);
        if (!c.variation) {
            s.companions_.erase(c.name);
            s.shown_.companions.erase(c.name);
            return;
        }
        if (known != s.companions_.end() && known->second.variation == *c.variation) return;
        s.companions_[c.name] = {.variation = *c.variation};
        s.start(plan_of(s.scenario_));
    }

    void operator()(const command::Pin&) const {
        s.finish_run();
        const std::string label = description_of(s.shown_.scenario);
        s.shown_.pinned = std::make_shared<const ReferenceRun>(reference_of(label, s.shown_.run));
    }

    void operator()(const command::CompareWithFile& c) const {
        s.shown_.trace_file = c.path.empty() ? nullptr : std::make_shared<const ReferenceRun>(read_trace(c.path));
    }

    void operator()(const command::Export& c) const {
        s.finish_run();
        export_heatmap(heatmap_of(s.shown_.scenario, *s.shown_.run, s.step(), s.cursor_.place), c.path);
        s.message_ = Message{s.step().name + " written to " + c.path};
    }

    void operator()(const command::Tell& c) const { s.message_ = Message{c.sentence, true}; }

private:
    // Going somewhere by oneself starts a new trail.
    void leave_trail_for(Cursor cursor) const {
        s.trail_.clear();
        s.look_at(std::move(cursor));
    }

    void go_to_position(std::ptrdiff_t position) const {
        leave_trail_for({s.plan()[s.timeline_[static_cast<std::size_t>(position)]].name, s.cursor_.place, {}});
    }

    void change_place(Place place) const {
        const Index batches = s.shown_.scenario.inputs.batch(), heads = s.shown_.scenario.config().nhead;
        place.batch = std::clamp<Index>(place.batch, 0, batches - 1);
        place.head = std::clamp<Index>(place.head, 0, heads - 1);
        // The selected cell moves along to the same row and column.
        if (s.cursor_.cell && !s.step().axes.empty()) {
            const Slice now = slice_of(s.step(), s.cursor_.place, heads), next = slice_of(s.step(), place, heads);
            if (const auto at = now.find(*s.cursor_.cell)) s.cursor_.cell = next.cell(at->first, at->second);
        }
        s.cursor_.place = place;
    }
};

const Companion* Snapshot::companion(const std::string& name) const {
    const auto found = companions.find(name);
    return found != companions.end() && found->second.run ? &found->second : nullptr;
}

Session::Session(std::shared_ptr<const Model> model, std::function<void()> wake)
    : Session(scenario_of(std::move(model)), std::move(wake)) {}

Session::Session(Scenario scenario, std::function<void()> wake)
    : worker_(wake), loader_(wake), scenario_(std::move(scenario)) {
    start(plan_of(scenario_));
    finish();
    if (!shown_.run) throw Error(message_ ? message_->text : "the model could not be run");
    cursor_ = opening_cursor(*scenario_.model, plan(), timeline_);
    tell_remarks();
}

void Session::apply(const Command& command) {
    message_.reset();
    try {
        std::visit(Apply{*this}, command);
    } catch (const Error& error) {
        message_ = Message{error.what(), true};
    }
}

void Session::update(std::chrono::milliseconds patience) {
    if (opening_ && opening_->reading) {
        if (patience.count() > 0) loader_.wait(patience);
        if (const auto result = loader_.collect()) take(*result);
    }
    if (computing_ && patience.count() > 0) worker_.wait(patience);
    if (const auto result = worker_.collect()) take(*result);
}

void Session::finish_run() {
    while (computing_) {
        worker_.wait(std::chrono::milliseconds(1000));
        if (const auto result = worker_.collect()) take(*result);
    }
}

void Session::finish() {
    while (computing_ || (opening_ && opening_->reading)) update(std::chrono::milliseconds(1000));
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
        next.inputs = typed_inputs(*next.model, next.inputs, command.typed, OtherRows::even);
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
    start(std::move(plan));
}

void Session::start(std::shared_ptr<const Plan> plan) {
    Worker::Job job{.main = {std::move(plan), shown_.run}, .companions = companion_tasks(), .asked = asked_};
    if (!scenario_.edits.empty())
        job.unedited = Worker::Task{plan_of(varied(scenario_, {.without_edits = true})), shown_.unedited};
    stale_ = true;
    computing_ = true;
    worker_.start(std::move(job));
}

std::map<std::string, Worker::Task> Session::companion_tasks() {
    std::map<std::string, Worker::Task> tasks;
    for (auto& [name, companion] : companions_) {
        try {
            companion.error.clear();
            companion.scenario = varied(scenario_, companion.variation);
            if (const std::optional<Index> row = companion.variation.cached_row)
                tasks[name] = {nullptr, nullptr, [scenario = companion.scenario, row](const std::stop_token& stop) {
                                   return plan_by_cache(scenario, *row, stop);
                               }};
            else if (companion.variation.adds_to_the_run())
                tasks[name] = {plan_of(companion.scenario, companion.variation.logit_lens), nullptr, {}};
            else if (companion.variation.changes_weights())
                tasks[name] = {nullptr, companion.run,
                               [companion = companion, fresh = fresh_weights_](const std::stop_token&) {
                                   return plan_of(with_weights_of(companion.variation, companion.scenario, *fresh));
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

void Session::take(const ModelLoader::Result& result) {
    opening_->reading = false;
    if (!result.model) {
        if (result.asks) opening_->asks = result.asks;
        opening_->error = result.error;
        opening_->python = result.python;
        if (!result.error.empty()) message_ = Message{result.error, true};
        return;
    }
    try {
        change(scenario_of(result.model));
    } catch (const Error& error) {
        opening_->error = error.what();
        message_ = Message{error.what(), true};
        return;
    }
    // Runs of the model before say nothing of this one.
    for (auto& [name, companion] : companions_) companion.run = nullptr;
    opening_.reset();
    opened_ = true;
}

void Session::look_at_opened() {
    opened_ = false;
    trail_.clear();
    look_at(opening_cursor(*scenario_.model, plan(), timeline_));
    tell_remarks();
}

void Session::tell_remarks() {
    std::string all;
    for (const std::string& remark : shown_.scenario.model->remarks) all += (all.empty() ? "" : "; ") + remark;
    if (!all.empty()) message_ = Message{all};
}

void Session::take(const Worker::Result& result) {
    stale_ = false;
    computing_ = !result.complete;
    if (!result.run) {
        message_ = Message{result.error, true};
        if (!shown_.run) return;
        scenario_ = shown_.scenario;
        if (!undo_.empty()) undo_.pop_back();
        opened_ = false;
        return;
    }
    take_companions(result);
    shown_ = {scenario_,        result.run,         result.unedited ? result.unedited : result.run,
              companions_,      shown_.version + 1, shown_.pinned,
              shown_.trace_file};
    timeline_ = computed_steps(plan());
    keep_cursor_in_plan();
    if (opened_) look_at_opened();
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
    const Config config = scenario_.config();
    const std::size_t behind = cursor_.step.rfind(".drop");
    if (plan().find(cursor_.step) == nullptr && behind != std::string::npos) cursor_.step.resize(behind);
    if (plan().find(cursor_.step) == nullptr) cursor_ = opening_cursor(*scenario_.model, plan(), timeline_);
    cursor_.place.batch = std::clamp<Index>(cursor_.place.batch, 0, scenario_.inputs.batch() - 1);
    cursor_.place.head = std::clamp<Index>(cursor_.place.head, 0, config.nhead - 1);
    const Cell shape_check = cursor_.cell.value_or(Cell{});
    const Tensor& values = shown_.run->value(step().id);
    if (cursor_.cell && (values.empty() || !values.contains(shape_check))) cursor_.cell.reset();
    std::erase_if(trail_, [&](const Cursor& at) { return plan().find(at.step) == nullptr; });
}

}  // namespace decoderscope

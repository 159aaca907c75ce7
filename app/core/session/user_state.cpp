#include "app/core/session/user_state.h"

#include "app/core/run/edits.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/run/slice.h"

#include <algorithm>
#include <utility>

namespace decoderscope::core {

namespace {

bool same_text(const Inputs& a, const Inputs& b) {
    const auto same = [&](Tensor Inputs::*part) { return (a.*part).shares_values_with(b.*part); };
    return same(&Inputs::tokens) && same(&Inputs::attention_mask) && same(&Inputs::segments) &&
           same(&Inputs::encoder_tokens) && same(&Inputs::encoder_attention_mask);
}

bool has_cell(const Axes& axes, const Cell& cell) {
    return std::ranges::equal(axes, cell, [](const Axis& axis, Index at) { return at >= 0 && at < axis.size; });
}

}  // namespace

void UserState::refuse_input(Sentence error) {
    input_error_ = std::move(error);
    refused_beside_ = text_of(now_.scenario);
}

void UserState::note_change(Typing typing) {
    if (!input_error_.empty() && !same_text(refused_beside_, text_of(now_.scenario))) input_error_ = {};
    training_error_ = {};
    typing_ = typing;
    ++changes_;
}

void UserState::open(Scenario scenario) {
    gesture_ = std::max(gesture_, number_groups(scenario.edits));
    now_.scenario = std::move(scenario);
}

void UserState::change(Scenario next, bool merge) {
    if (!merge || undo_.empty()) undo_.push_back(now_);
    if (!merge) ++gesture_;
    redo_.clear();
    open(std::move(next));
    now_.scenario_number = ++last_number_;
    note_change(Typing::none);
}

// What is typed in a row is one change.
void UserState::remember(bool typed, Typing what) {
    if (!typed || typing_ != what || undo_.empty()) undo_.push_back(now_);
    redo_.clear();
    note_change(typed ? what : Typing::none);
}

void UserState::change_training(train::TrainingPlan next, bool typed) {
    remember(typed, Typing::training);
    now_.training = std::move(next);
}

void UserState::change_talk(Talk next, bool typed) {
    remember(typed, Typing::talk);
    now_.talk = std::move(next);
}

void UserState::set_training(train::TrainingPlan plan) {
    now_.training = std::move(plan);
    note_change(Typing::none);
}

void UserState::change_notes(Notes next) {
    undo_.push_back(now_);
    redo_.clear();
    annotate(std::move(next), now_.overlay, now_.talk);
}

void UserState::change_overlay(std::shared_ptr<const Overlay> next) {
    undo_.push_back(now_);
    redo_.clear();
    annotate(now_.notes, std::move(next), now_.talk);
}

void UserState::annotate(Notes notes, std::shared_ptr<const Overlay> overlay, Talk talk) {
    now_.notes = std::move(notes);
    now_.overlay = std::move(overlay);
    now_.talk = std::move(talk);
    note_change(Typing::none);
}

void UserState::swap_with(std::vector<Undoable>& from, std::vector<Undoable>& to) {
    to.push_back(std::move(now_));
    now_ = std::move(from.back());
    from.pop_back();
    note_change(Typing::none);
}

std::optional<std::size_t> UserState::undos_to(std::uint64_t scenario_number) const {
    for (std::size_t back = 1; back <= undo_.size(); ++back)
        if (undo_[undo_.size() - back].scenario_number == scenario_number) return back;
    return std::nullopt;
}

void UserState::compare_with(const std::shared_ptr<const ReferenceRun>& other) {
    now_.scenario.other_run = other;
    for (std::vector<Undoable>* history : {&undo_, &redo_})
        for (Undoable& state : *history) state.scenario.other_run = other;
}

void UserState::give_up(const Scenario& shown) {
    const std::uint64_t failed = now_.scenario_number;
    const auto replace = [&](Undoable& state) {
        if (state.scenario_number != failed) return;
        state.scenario = shown;
        state.scenario_number = shown_number_;
    };
    std::ranges::for_each(undo_, replace);
    std::ranges::for_each(redo_, replace);
    replace(now_);
    for (std::vector<Undoable>* history : {&undo_, &redo_})
        if (!history->empty() && history->back().is_same_work(now_)) history->pop_back();
    ++changes_;
}

// During typing, edits and a memory that temporarily didn't fit are restored from before the typing.
UserState::Typed UserState::typed(const command::TypeInput& command) const {
    Typed typed{.next = with_whole_text(scenario()),
                .merge = command.continues && typing_ == Typing::input && !undo_.empty()};
    const Scenario before = with_whole_text(typed.merge ? undo_.back().scenario : scenario());
    Scenario& next = typed.next;
    next.edits.clear();
    next.inputs.memory = before.inputs.memory;
    if (!next.inputs.memory.empty()) next.inputs.encoder_attention_mask = before.inputs.encoder_attention_mask;
    next.inputs = typed_inputs(*next.model(), next.inputs, command.typed, OtherRows::even);
    if (command.typed.target || command.typed.messages) next.conversation = command.typed.messages;
    next.gradient_target = before.gradient_target;
    next = without_lost_gradients(std::move(next));
    next.edits = fitting_edits(next, before.edits);
    typed.dropped = count_of_edits(before.edits) - count_of_edits(next.edits);
    return typed;
}

void UserState::take(Typed typed) {
    change(std::move(typed.next), typed.merge);
    input_error_ = {};
    typing_ = Typing::input;
}

void UserState::choose(Place place, const Scenario& shown, const Step& step) {
    const Index batches = shown.batch(), heads = shown.query_heads();
    place.batch = std::clamp<Index>(place.batch, 0, batches - 1);
    place.head = std::clamp<Index>(place.head, 0, heads - 1);
    const Axis* outer = outer_axis(step);
    if (outer != nullptr) place.outer = std::clamp<Index>(place.outer, 0, outer->size - 1);
    if (cursor_.cell && !step.axes.empty()) {
        const Slice now = slice_of(step, cursor_.place, heads), next = slice_of(step, place, heads);
        if (const auto at = now.find(*cursor_.cell)) cursor_.cell = next.cell(at->first, at->second);
    }
    cursor_.place = place;
}

void UserState::keep_cursor_in(const Run& run) {
    if (cursor_.step.empty()) return;
    const Plan& plan = run.plan();
    if (plan.find(cursor_.step) == nullptr) cursor_.step = decoder::without_dropout(cursor_.step);
    if (plan.find(cursor_.step) == nullptr) cursor_ = opening_cursor(now_.scenario, plan);
    keep_attention(plan, cursor_);
    cursor_.place.batch = std::clamp<Index>(cursor_.place.batch, 0, now_.scenario.batch() - 1);
    cursor_.place.head = std::clamp<Index>(cursor_.place.head, 0, now_.scenario.query_heads() - 1);
    const Tensor& values = run.value(cursor_.step);
    // What is computed when it is looked at may not be there yet; its axes are.
    const bool fits = values.empty() ? has_cell(plan.find(cursor_.step)->axes, cursor_.cell.value_or(Cell{}))
                                     : values.contains(cursor_.cell.value_or(Cell{}));
    if (!fits) cursor_.cell.reset();
    std::erase_if(trail_, [&](const Cursor& at) { return plan.find(at.step) == nullptr; });
}

std::optional<Cursor> UserState::step_back(std::size_t steps) {
    if (trail_.empty() || steps == 0) return std::nullopt;
    const std::size_t to = trail_.size() - std::min(steps, trail_.size());
    Cursor cursor = trail_[to];
    trail_.resize(to);
    return cursor;
}

}  // namespace decoderscope::core

// What each command does to a session.
#include "app/core/session/session.h"

#include "app/core/export/exhibits.h"
#include "app/core/generate/generation.h"
#include "app/core/heads/head_switches.h"
#include "app/core/session/edit_list.h"
#include "app/core/text/labels.h"
#include "engine/error.h"
#include "engine/file.h"

#include <algorithm>

namespace decoderscope {

// One function a command.
struct Session::Apply {
    Session& s;

    void operator()(const command::OpenModel& c) const {
        // A question that was put stays, in case that the answers don't fit.
        std::optional<Recognised> asks;
        if (s.opening_ && s.opening_->name == c.name && !c.answers.empty()) asks = std::move(s.opening_->asks);
        s.opening_ = Opening{
            .name = c.name, .answers = c.answers, .since = std::chrono::steady_clock::now(), .asks = std::move(asks)};
        s.loader_.start({.name = c.name, .answers = c.answers});
    }

    void operator()(const command::OpenSession& c) const {
        s.opening_ = Opening{.name = c.path, .since = std::chrono::steady_clock::now()};
        s.loader_.start({.name = c.path, .session = true, .recovered = c.recovered});
    }

    void operator()(const command::SaveSession& c) const {
        s.keeper_.save(s.work(c.view), absolute_path(c.path), s.changes_);
    }

    void operator()(const command::DiscardLeftover&) const {
        if (s.offers_.empty()) return;
        remove_leftover(s.offers_.front().leftover);
        s.offers_.erase(s.offers_.begin());
    }

    void operator()(const command::StopOpening&) const {
        s.loader_.stop();
        s.opening_.reset();
    }

    void operator()(const command::TypeInput& c) const { s.type(c); }

    void operator()(const command::SetOption& c) const { s.change(with_override(s.scenario_, c.key, c.value)); }

    void operator()(const command::SetRecording& c) const {
        Scenario next = s.scenario_;
        next.recording = c.recording;
        s.change(std::move(next));
        s.message_ = Message{c.recording == Recording::all
                                 ? "Every tensor is recorded."
                                 : "Scores and the inside of the MLPs are made again when you look at them."};
    }
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
        if (c.sampling == s.sampling_) return;
        s.sampling_ = c.sampling;
        ++s.changes_;
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
        ReferenceRun pinned = reference_of(label, s.shown_.run);
        pinned.scenario = std::make_shared<const Scenario>(s.shown_.scenario);
        s.shown_.pinned = std::make_shared<const ReferenceRun>(std::move(pinned));
        ++s.changes_;
    }

    void operator()(const command::CompareWithFile& c) const {
        s.shown_.trace_file = c.path.empty() ? nullptr : std::make_shared<const ReferenceRun>(read_trace(c.path));
    }

    void operator()(const command::Export& c) const {
        std::shared_ptr<const Exhibit> exhibit = c.exhibit;
        if (!exhibit) {
            s.finish_run();
            exhibit = std::make_shared<const Exhibit>(
                step_exhibit({s.shown_.scenario, s.shown_.run}, s.step(), s.cursor_.place));
        }
        s.exporter_.start({std::move(exhibit), c.path, c.options, c.each});
    }

    void operator()(const command::StopExport&) const { s.exporter_.stop(); }

    void operator()(const command::Tell& c) const { s.message_ = Message{c.sentence, c.failed}; }

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

void Session::apply(const Command& command) {
    message_.reset();
    try {
        std::visit(Apply{*this}, command);
    } catch (const Error& error) {
        message_ = Message{error.what(), true};
    }
}

}  // namespace decoderscope

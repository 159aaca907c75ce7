#include "app/core/session/session.h"

#include "app/core/generate/generator.h"
#include "app/core/run/edits.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/run/labels.h"
#include "app/core/run/overlay.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/train/training_plan.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"
#include "engine/load/lens.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

namespace decoderscope::core {

namespace {

// The scenario after an editing command; `shown` is the snapshot that the command refers to. Nothing if the command
// changes nothing. Throws Error if it doesn't fit.
std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::SetOption& c) {
    return without_lost_gradients(with_override(std::move(scenario), c.key, c.value));
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::SetRecording& c) {
    scenario.recording = c.recording;
    return scenario;
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::SetDropout& c) {
    scenario.dropout_seed = c.seed;
    return without_lost_gradients(std::move(scenario));
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::SetGradients& c) {
    if (scenario.gradient_target == c.of) return std::nullopt;
    scenario.gradient_target = c.of;
    return scenario;
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot& shown, const command::PaintMask& c) {
    const Edit edit = MaskEdit{c.attention, c.batch, c.head, c.query, c.key, c.keep};
    remove_target(scenario.edits, edit);
    // A cell painted back to its unedited value needs no edit, unless an edit of more cells lies under it.
    const bool plain = std::none_of(scenario.edits.begin(), scenario.edits.end(), [&](const Edit& other) {
        const auto* mask = std::get_if<MaskEdit>(&other);
        return mask != nullptr && mask->attention == c.attention;
    });
    const Tensor& before = shown.unedited->value(c.attention, AttentionStep::mask);
    const Cell cell = {c.batch, c.head.value_or(0), c.query, c.key};
    const bool as_before = c.head && !before.empty() && before.contains(cell) && (before.at(cell) != 0.0F) == c.keep;
    if (!plain || !as_before) scenario.edits.push_back(edit);
    return scenario;
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot& shown, const command::PaintMasks& c) {
    if (c.stroke.cells.empty()) return std::nullopt;
    const Tensor& unedited = shown.unedited->value(c.stroke.attention, AttentionStep::mask);
    if (c.instead)
        scenario.edits = reset_masks(scenario.edits, c.stroke.attention, c.stroke.batch, c.stroke.head, unedited);
    scenario.edits = paint_masks(std::move(scenario.edits), c.stroke, unedited);
    return scenario;
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot& shown, const command::ResetMask& c) {
    std::vector<Edit> edits = reset_masks(scenario.edits, c.attention, c.batch, c.head,
                                          shown.unedited->value(c.attention, AttentionStep::mask));
    if (edits == scenario.edits) return std::nullopt;
    scenario.edits = std::move(edits);
    return scenario;
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::SetKeptLength& c) {
    scenario = with_whole_text(std::move(scenario));
    Inputs& inputs = scenario.inputs;
    const Tensor& source = inputs.encoder_tokens.empty() ? inputs.memory : inputs.encoder_tokens;
    if (c.source && source.empty()) return std::nullopt;
    const Axes axes = c.source ? Axes{{axis::batch, source.dim(0)}, {axis::src, source.dim(1)}}
                               : Axes{{axis::batch, inputs.batch()}, {axis::pos, inputs.pos()}};
    Tensor& mask = c.source ? inputs.encoder_attention_mask : inputs.attention_mask;
    mask = with_kept_length(mask, axes, c.batch, c.length);
    return scenario;
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::AppendToken& c) {
    scenario = generate::with_token(with_whole_text(std::move(scenario)), c.batch, c.token);
    for (const Index token : c.then) scenario = generate::with_token(std::move(scenario), c.batch, token);
    return scenario;
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::RemoveLastToken& c) {
    return without_lost_gradients(generate::without_last_token(with_whole_text(std::move(scenario)), c.batch));
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::ScaleHeadTo& c) {
    const Edit edit = ScaleHead{c.attention, c.head, c.factor};
    if (c.factor == 1.0F)
        remove_target(scenario.edits, edit);
    else
        replace_edit(scenario.edits, edit);
    return scenario;
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::SoloHead& c) {
    const Index heads = scenario.query_heads();
    scenario.edits = c.solo ? with_solo(std::move(scenario.edits), c.attention, c.head, heads)
                            : without_factors(std::move(scenario.edits), c.attention);
    return scenario;
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::UseExpert& c) {
    if (c.undone)
        remove_target(scenario.edits, c.use);
    else
        replace_edit(scenario.edits, c.use);
    return scenario;
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::TypeOver& c) {
    replace_edit(scenario.edits, SetCell{c.tensor, c.cell, c.value});
    return scenario;
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::MakeEdit& c) {
    put_edit(scenario.edits, c.edit, c.in_place_of);
    return with_gradients_read(std::move(scenario));
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::KeepVariation& c) {
    scenario = without_lost_gradients(with_overrides(std::move(scenario), c.variation.overrides));
    if (c.variation.without_edits) scenario.edits.clear();
    replace_edits(scenario.edits, c.variation.more_edits);
    if (c.variation.dropout_seed) scenario.dropout_seed = c.variation.dropout_seed;
    return with_gradients_read(std::move(scenario));
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::RemoveEdits& c) {
    std::vector<Edit> left;
    for (std::size_t i = 0; i < scenario.edits.size(); ++i)
        if (std::ranges::find(c.numbers, i) == c.numbers.end()) left.push_back(scenario.edits[i]);
    if (left.size() == scenario.edits.size()) return std::nullopt;
    scenario.edits = std::move(left);
    return scenario;
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::UseLens& c) {
    scenario.set_lens(c.path.empty()
                          ? nullptr
                          : std::make_shared<const load::FittedLens>(load::read_lens(c.path, scenario.config())));
    return scenario;
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::ShowPass& c) {
    return with_pass(std::move(scenario), c.sizes, c.pass);
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::ShowWholeText&) {
    if (shown_pass(scenario) == nullptr) return std::nullopt;
    return with_whole_text(std::move(scenario));
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::ClearEdits&) {
    if (scenario.edits.empty()) return std::nullopt;
    scenario.edits.clear();
    return scenario;
}

// A command that edits the scenario.
template <class C>
concept EditCommand = requires(const C& command, const Snapshot& shown, Scenario scenario) {
    edited(scenario, shown, command);
};

// Whether the command continues the previous change, as a drag does, so that both are undone together.
template <EditCommand C>
bool continues(const C& command) {
    if constexpr (requires { command.continues; })
        return command.continues;
    else
        return false;
}

// A command's name, as the compiler writes its type: "SetOption".
template <class C>
std::string name_of() {
    const std::string_view written = __PRETTY_FUNCTION__;
    const std::size_t begin = written.find("command::", written.find("C = ")) + std::string_view("command::").size();
    return std::string(written.substr(begin, written.find_first_of(";]", begin) - begin));
}

}  // namespace

Note note_here(const Session& session) {
    Note note{session.step().name, session.cursor().cell.value_or(Cell{}), {}};
    const Tensor& values = session.shown().run_of(session.step()).value(session.step().id);
    if (!note.cell.empty() && (values.empty() || !values.contains(note.cell))) note.cell.clear();
    const Note* known = find_note(session.notes(), note.step, note.cell);
    return known != nullptr ? *known : note;
}

std::optional<Command> command_to(const Note& note, const Run& run) {
    const Plan& plan = run.plan();
    if (const Ref step = plan.find(note.step)) {
        if (note.cell.empty()) return command::GoTo{note.step};
        Cell cell = note.cell;
        if (cell.size() + 1 == step->axes.size()) cell.push_back(0);
        const Tensor& values = run.value(step->id);
        if (!values.empty() && values.contains(cell)) return command::Follow{note.step, cell};
        return std::nullopt;
    }
    // A part of the model: its first step.
    for (const Step& step : plan.steps())
        if (!step.is_source() && note.cell.empty() && is_in(note.step, step.name)) return command::GoTo{step.name};
    return std::nullopt;
}

// What each command does to a session: to the work, to what is shown, to the files in and out.

// One function per command; those that edit the scenario share one.
struct Session::Apply {
    Session& s;

    // ---- the work: what is run

    template <EditCommand C>
    void operator()(const C& c) const {
        std::optional<Scenario> next = edited(s.scenario(), s.shown(), c);
        if (!next) return;
        s.change(std::move(*next), continues(c));
        if constexpr (requires { c.goes_to; }) s.goes_to_ = c.goes_to;
    }

    void operator()(const command::SetRecording& c) const {
        s.change(*edited(s.scenario(), s.shown(), c));
        s.file_jobs_.tell({c.recording == Recording::all
                               ? Sentence("Every tensor is kept.")
                               : Sentence("What doesn't fit into memory is computed again when it is looked at.")});
    }

    void operator()(const command::TypeInput& c) const { s.type(c); }

    void operator()(const command::WriteTarget&) const {
        if (const Sentence obstacle = generate::writing_obstacle(s.scenario()); !obstacle.empty())
            throw Error(obstacle);
        s.writer_.start(s.scenario(), s.changes());
    }
    void operator()(const command::StopWriting&) const { s.writer_.stop(); }

    void operator()(const command::SetSampling& c) const {
        generate::check_sampling(c.sampling);
        if (c.sampling == s.sampling()) return;
        s.work_.set_sampling(c.sampling);
        s.work_.count_change();
    }

    void operator()(const command::Undo&) const { return_to(&UserState::undone, &UserState::undo); }
    void operator()(const command::Redo&) const { return_to(&UserState::redone, &UserState::redo); }
    void operator()(const command::UndoTo& c) const {
        s.finish_what_waits();
        for (std::size_t left = s.work_.undos_to(c.scenario).value_or(0); left > 0; --left)
            return_to(&UserState::undone, &UserState::undo);
    }

    void operator()(const command::PinNote& c) const {
        Notes next = with_note(s.notes(), c.note);
        if (next == s.notes()) return;
        s.work_.change_notes(std::move(next));
        s.request_watched();
    }
    void operator()(const command::LendNotes& c) const { s.lent_notes_ = c.notes; }

    void operator()(const command::OpenOverlay& c) const {
        auto overlay = std::make_shared<const Overlay>(read_overlay(c.path, *s.shown().run->shared_plan()));
        s.file_jobs_.tell(
            {message_n("{name}: {count} number colours the strip.", "{name}: {count} numbers colour the strip.",
                       overlay->values.size(), {{"name", overlay->name}})});
        s.work_.change_overlay(std::move(overlay));
    }
    void operator()(const command::RemoveOverlay&) const {
        if (s.overlay()) s.work_.change_overlay(nullptr);
    }
    void operator()(const command::ChangeTalk& c) const {
        if (c.talk != s.talk()) s.work_.change_talk(c.talk, c.typed);
    }

    // ---- the work: what is trained

    void operator()(const command::ChangeTraining& c) const {
        if (c.plan != s.training_plan()) s.work_.change_training(c.plan, c.typed);
    }
    void operator()(const command::StartTraining&) const {
        try {
            s.training_.start(train::recipes_of(s.training_plan()));
            s.work_.refuse_training({});
            s.work_.look_at_training_step(std::nullopt);
        } catch (const Error& error) {
            s.work_.refuse_training(error.sentence());
        }
    }
    void operator()(const command::PauseTraining& c) const { c.paused ? s.training_.pause() : s.training_.go_on(); }
    void operator()(const command::ClearTraining&) const { s.training_.clear(); }
    void operator()(const command::LookAtTraining& c) const {
        s.work_.look_at_training_step(c.step);
        s.training_.look_at(c.step);
    }

    // ---- the work: where the user is

    void operator()(const command::GoTo& c) const { leave_trail_for(c.step); }

    void operator()(const command::Move& c) const {
        const auto last = static_cast<std::ptrdiff_t>(s.timeline().size()) - 1;
        const auto now = static_cast<std::ptrdiff_t>(s.timeline_position());
        go_to_position(std::clamp<std::ptrdiff_t>(now + c.by, 0, last));
    }

    void operator()(const command::MoveLayer& c) const {
        const Step& here = s.step();
        const Ref twin = s.computed_.plan().twin_in(here, block_number(here) + c.by);
        if (twin != nullptr) leave_trail_for(twin->name);
    }

    void operator()(const command::GoFirst&) const { go_to_position(0); }
    void operator()(const command::GoLast&) const {
        go_to_position(static_cast<std::ptrdiff_t>(s.timeline().size()) - 1);
    }

    void operator()(const command::ChooseBatch& c) const {
        // A row that comes with the run under way.
        if (s.stale() && c.batch >= s.shown().scenario.batch()) return s.wait_with(c);
        choose([&](Place& place) { place.batch = c.batch; });
    }
    void operator()(const command::ChooseHead& c) const {
        choose([&](Place& place) { place.head = c.head; });
    }
    void operator()(const command::ChooseOuter& c) const {
        choose([&](Place& place) { place.outer = c.outer; });
    }

    void operator()(const command::SelectCell& c) const {
        if (s.shown().run->value(s.step().id).contains(c.cell)) s.work_.select(c.cell);
    }
    void operator()(const command::Deselect&) const { s.work_.select(std::nullopt); }

    void operator()(const command::Follow& c) const {
        const Ref step = s.computed_.plan().find(c.step);
        if (step == nullptr) return;
        s.work_.remember_place();
        const Place place = place_of(*step, c.cell, s.cursor().place, s.shown().scenario.query_heads());
        s.look_at({c.step, place, c.cell, s.attention()});
    }

    void operator()(const command::GoBack& c) const {
        if (std::optional<Cursor> before = s.work_.step_back(c.steps)) s.look_at(std::move(*before));
    }

    // ---- what is shown

    void operator()(const command::RequestAuxRun& c) const {
        if (!c.variation) return s.computed_.leave(c.name);
        if (s.computed_.accompany(c.name, *c.variation) && !s.computed_.start_companions())
            s.start(plan_of(s.scenario()));
    }

    void operator()(const command::Pin& c) const {
        if (!c.run && s.stale()) return s.wait_with(c);
        const InEnglish english;  // sessions keep the label
        const auto pinned =
            c.run ? c.run : pinnable(description_of(s.shown().scenario), s.shown().scenario, s.shown().run);
        s.computed_.compare_with_run(pinned);
        s.compare_rows_with(pinned);
        s.work_.count_change();
    }

    void operator()(const command::CompareWithFile& c) const {
        s.file_jobs_.read_trace(c.path);
        if (c.path.empty()) s.take(std::shared_ptr<const ReferenceRun>());
    }

    // ---- files in and out

    void operator()(const command::OpenModel& c) const { s.file_jobs_.open(c); }
    void operator()(const command::OpenScenario& c) const { s.open(c); }
    void operator()(const command::OpenSession& c) const { s.file_jobs_.open(c); }
    void operator()(const command::OpenLink& c) const { s.file_jobs_.open(c); }
    void operator()(const command::StopOpening&) const { s.file_jobs_.stop_opening(); }
    void operator()(const command::AskAgain&) const {
        if (s.scenario().computes()) s.file_jobs_.ask_again(*s.scenario().model());
    }
    void operator()(const command::SaveSession& c) const {
        if (!s.waiting_.empty()) return s.wait_with(c);  // a pin that waits is saved with the rest
        s.saving_.insert_or_assign(s.changes(), s.mark());
        s.file_jobs_.save(s.work(c.view), c.path, s.changes());
    }
    void operator()(const command::DiscardLeftover&) const { s.file_jobs_.discard_offer(); }

    void operator()(const command::Export& c) const {
        std::shared_ptr<const Exhibit> exhibit = c.exhibit;
        if (!exhibit) {
            if (s.stale()) return s.wait_with(c);
            exhibit = std::make_shared<const Exhibit>(
                step_exhibit({s.shown().scenario, s.shown().run}, s.step(), s.cursor().place));
        }
        s.file_jobs_.export_exhibit({std::move(exhibit), c.path, c.options, c.each});
    }

    void operator()(const command::SaveModel& c) const { s.file_jobs_.save_model(c); }

    void operator()(const command::StopExport&) const { s.file_jobs_.stop_export(); }
    void operator()(const command::Tell& c) const {
        if (!c.sentence.empty()) s.file_jobs_.tell({c.sentence, c.failed});
    }

private:
    // Undo or redo. What is shown is computed again only where the scenario differs.
    void return_to(const Scenario* (UserState::*there)() const, void (UserState::*take)()) const {
        s.finish_what_waits();  // which may change what there is to undo
        const Scenario* scenario = (s.work_.*there)();
        if (scenario == nullptr) return;
        std::shared_ptr<const Plan> plan = plan_of(*scenario);
        const std::uint64_t before = s.work_.scenario_number();
        (s.work_.*take)();
        if (s.work_.scenario_number() != before) s.start(std::move(plan));
    }

    // Going somewhere directly starts a new trail.
    void leave_trail_for(const std::string& step) const {
        s.work_.leave_trail();
        s.look_at({step, s.cursor().place, {}, s.attention()});
    }

    void go_to_position(std::ptrdiff_t position) const {
        const StepId id = s.timeline()[static_cast<std::size_t>(position)];
        leave_trail_for(s.computed_.plan()[id].name);
    }

    void choose(const std::function<void(Place&)>& change) const {
        Place place = s.cursor().place;
        change(place);
        s.work_.choose(place, s.shown().scenario, s.step());
    }
};

void Session::apply(const Command& command) {
    // What the window asks for by itself leaves what was said.
    const bool by_itself =
        command.get_if<command::LendNotes>() != nullptr || command.get_if<command::RequestAuxRun>() != nullptr;
    if (!by_itself) file_jobs_.tell_nothing();
    carry_out(command);
}

void Session::carry_out(const Command& command) {
    if (log_) command.visit([this]<class C>(const C&) { log("command " + name_of<C>()); });
    try {
        command.visit(Apply{*this});
    } catch (const std::exception& error) {
        file_jobs_.tell({sentence_of(error), true});
    }
}

}  // namespace decoderscope::core

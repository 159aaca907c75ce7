#include "app/views/shell/workspace.h"

#include "app/core/generate/generator.h"
#include "app/core/labs/step/gradients.h"
#include "app/core/run/edits.h"
#include "app/core/run/labels.h"
#include "app/core/run/slice.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/dialogs/saving.h"
#include "app/views/frame/terms.h"
#include "app/views/frame/window_layout.h"
#include "app/views/input/input_bar.h"
#include "app/views/inspector/inspector.h"
#include "app/views/labs/step/lab.h"
#include "app/views/lessons/lessons_panel.h"
#include "app/views/widgets/fonts.h"
#include "engine/backward/gradient.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace decoderscope::views::shell {

namespace {

using Effect = std::function<void(const core::Session&, ViewState&, Commands&)>;

Effect asks(core::Command command) {
    return [command = std::move(command)](const core::Session&, ViewState&, Commands& commands) {
        commands.push_back(command);
    };
}

// An effect on the window's own state.
Effect changes(std::function<void(ViewState&)> change) {
    return [change = std::move(change)](const core::Session&, ViewState& state, Commands&) { change(state); };
}

Effect opens(Dialog dialog) {
    return changes([dialog](ViewState& state) {
        state.dialog = dialog;
        state.dialog_opens = true;
    });
}

Effect opens(const Lab& lab) {
    return changes([id = lab.id](ViewState& state) { state.tab = id; });
}

// Goes to a step of the block's self-attention; outside all blocks, and in a block without one, of the attention whose
// heads and masks are shown.
Effect goes_to(AttentionStep which) {
    return [which](const core::Session& session, ViewState& state, Commands& commands) {
        state.tab = core::files::kStepLab;
        const Plan& plan = session.shown().run->plan();
        Ref step = plan.step_of(plan.attention_in(session.step().block), which);
        if (step == nullptr) step = plan.step_of(session.attention(), which);
        if (step != nullptr) commands.push_back(core::command::GoTo{step->name});
    };
}

bool reads_tokens(const core::Session& session) { return !session.scenario().inputs.tokens.empty(); }
bool can_write(const core::Session& session) { return core::generate::writing_obstacle(session.scenario()).empty(); }
bool can_undo(const core::Session& session) { return session.can_undo(); }
bool can_redo(const core::Session& session) { return session.can_redo(); }
bool has_overlay(const core::Session& session) { return session.overlay() != nullptr; }

void flip_norm(const core::Session& session, ViewState&, Commands& commands) {
    // For a recording the session refuses it, and says why.
    const bool norm_first = session.scenario().computes() && session.scenario().config().norm_first;
    commands.push_back(core::command::SetOption{"norm_first", norm_first ? "false" : "true"});
}

void flip_dropout(const core::Session& session, ViewState&, Commands& commands) {
    const bool on = session.scenario().dropout_seed.has_value();
    commands.push_back(core::command::SetDropout{on ? std::nullopt : std::optional<std::uint64_t>(0)});
}

void flip_recording(const core::Session& session, ViewState&, Commands& commands) {
    const bool all = session.scenario().recording == core::Recording::all;
    commands.push_back(core::command::SetRecording{all ? core::Recording::patterns : core::Recording::all});
}

void switch_head(const core::Session& session, Index head, Commands& commands) {
    const std::string attention = core::attention_beside(session.shown().run->plan(), session.step());
    if (attention.empty() || head >= session.shown().scenario.query_heads()) return;
    const bool off = core::head_factor(session.scenario().edits, attention, head) == 0.0F;
    commands.push_back(core::command::ScaleHeadTo{attention, head, off ? 1.0F : 0.0F});
}

void copy_as_csv(const core::Session& session, ViewState& state, Commands& commands) {
    if (step::sheet_is_open(state)) return commands.push_back(step::copy_sheet(session, state));
    commands.push_back(core::command::Tell{dialogs::copy_shown_as_csv(session, state), false});
}

void copy_as_picture(const core::Session& session, ViewState& state, Commands& commands) {
    dialogs::copy_shown_as_picture(session, state, commands);
}

void explain_what_is_under_the_mouse(const core::Session&, ViewState& state, Commands&) {
    if (!state.term_asked.empty()) return open_glossary(state, state.term_asked);
    if (const core::glossary::GlossaryTerm* term = state.glossary.finder().term_of_label(text_under_mouse()))
        return open_glossary(state, term->id);
    state.dialog = Dialog::keys;
    state.dialog_opens = true;
}

void enlarge_text(ViewState& state) {
    if (const auto size = larger_text_size(state.text_size(), state.largest_text)) state.settings.text_scale = *size;
}

void shrink_text(ViewState& state) {
    if (const auto size = smaller_text_size(state.text_size())) state.settings.text_scale = *size;
}

void reset_text(ViewState& state) { state.settings.text_scale = 1.0F; }

// Enters the presentation, or leaves it.
void present(ViewState& state) {
    state.presenting = !state.presenting;
    state.presentation = {};
}

// While presenting, a panel slides over the stage; otherwise map and inspector are folded beside it.
Effect slides(SlidePanel panel) {
    return changes([panel](ViewState& state) {
        bool& asked = state.presentation.asked[static_cast<std::size_t>(panel)];
        if (state.stage_alone()) {
            asked = !asked;
        } else if (panel == SlidePanel::map) {
            show_map(state, state.panels.map == 0.0F);
        } else if (panel == SlidePanel::inspector) {
            show_inspector(state, state.panels.inspector == 0.0F);
        }
    });
}

// Esc: takes back what came last: panels over the stage, the presentation, the chosen cell.
void escape(const core::Session&, ViewState& state, Commands& commands) {
    auto& asked = state.presentation.asked;
    state.focus.hide();
    if (state.stage_alone() && std::ranges::find(asked, true) != asked.end())
        asked.fill(false);
    else if (state.presenting)
        present(state);
    else
        commands.push_back(core::command::Deselect{});
}

// ---- gradients

// The selected cell, if gradients of it can be asked for; otherwise empty.
std::string target_at_cursor(const core::Session& session) {
    const Step& step = session.step();
    const std::optional<Cell>& cell = session.cursor().cell;
    const Run& run = *session.shown().run;
    if (!cell || !core::step::can_be_target(step) || !run.value(step.id).contains(*cell)) return {};
    return cell_name(step.name, *cell);
}

bool can_have_gradients(const core::Session& session) {
    return !target_at_cursor(session).empty() || !session.scenario().gradient_target.empty();
}

// Gradients of the selected cell; a second time, or without a cell, switches them off.
void flip_gradients(const core::Session& session, ViewState&, Commands& commands) {
    const std::string target = target_at_cursor(session);
    commands.push_back(
        core::command::SetGradients{target == session.scenario().gradient_target ? std::string() : target});
}

bool can_have_loss(const core::Session& session) { return core::step::has_loss(*session.shown().run); }

void flip_gradients_of_loss(const core::Session& session, ViewState&, Commands& commands) {
    commands.push_back(core::command::SetGradients{session.scenario().gradient_target == "loss" ? "" : "loss"});
}

// The step at the other end: its gradient, or what this is the gradient with respect to. The cell stays selected.
Ref other_way(const core::Session& session) {
    const Plan& plan = session.shown().run->plan();
    const Step& step = session.step();
    return step.gradient_wrt ? &plan[*step.gradient_wrt] : plan.gradient_wrt(step);
}

bool has_other_way(const core::Session& session) { return other_way(session) != nullptr; }

void go_other_way(const core::Session& session, ViewState& state, Commands& commands) {
    const Ref other = other_way(session);
    if (other == nullptr) return;
    state.tab = core::files::kStepLab;
    const std::optional<Cell> cell = session.cursor().cell;
    commands.push_back(core::command::GoTo{other->name});
    if (cell) commands.push_back(core::command::SelectCell{*cell});
}

std::vector<Action> actions_of_gradients() {
    return {{.label = message("Gradients of the selected cell, or none"),
             .key = Key::g,
             .mods = with_shift,
             .enabled = can_have_gradients,
             .run = flip_gradients},
            {.label = message("Gradients of the loss, or none"),
             .key = Key::l,
             .mods = with_shift,
             .enabled = can_have_loss,
             .run = flip_gradients_of_loss},
            {.label = message("The gradient with respect to this step; from a gradient back to the step"),
             .key = Key::b,
             .enabled = has_other_way,
             .run = go_other_way}};
}

// The selected cell of the shown slice moves by rows and columns; the first one is at the top left.
Effect moves_cell(Index down, Index right) {
    return [down, right](const core::Session& session, ViewState&, Commands& commands) {
        const core::Slice slice =
            core::slice_of(session.step(), session.cursor().place, session.shown().scenario.query_heads());
        const auto now = session.cursor().cell ? slice.find(*session.cursor().cell) : std::nullopt;
        const auto moved = [](Index from, Index by, Index count) { return std::clamp<Index>(from + by, 0, count - 1); };
        if (slice.rows() < 1 || slice.columns() < 1) return;
        commands.push_back(core::command::SelectCell{
            now ? slice.cell(moved(now->first, down, slice.rows()), moved(now->second, right, slice.columns()))
                : slice.cell(0, 0)});
    };
}

Effect moves_outer(Index by) {
    return [by](const core::Session& session, ViewState&, Commands& commands) {
        const Axis* axis = core::outer_axis(session.step());
        if (axis == nullptr) return;
        const Index now = std::min(session.cursor().place.outer, axis->size - 1);
        commands.push_back(core::command::ChooseOuter{now + by});
    };
}

// ---- the table, group by group

std::vector<Action> actions_of_cursor() {
    return {
        {.label = message("Next step"), .key = Key::right, .repeats = true, .run = asks(core::command::Move{1})},
        {.label = message("Previous step"), .key = Key::left, .repeats = true, .run = asks(core::command::Move{-1})},
        {.label = message("Same step in the next layer"),
         .key = Key::down,
         .repeats = true,
         .run = asks(core::command::MoveLayer{1})},
        {.label = message("Same step in the previous layer"),
         .key = Key::up,
         .repeats = true,
         .run = asks(core::command::MoveLayer{-1})},
        {.label = message("Next position, or expert, of a step that shows one at a time"),
         .key = Key::page_down,
         .repeats = true,
         .run = moves_outer(1)},
        {.label = message("Previous position, or expert, of a step that shows one at a time"),
         .key = Key::page_up,
         .repeats = true,
         .run = moves_outer(-1)},
        {.label = message("First step"), .key = Key::home, .run = asks(core::command::GoFirst{})},
        {.label = message("Last step"), .key = Key::end, .run = asks(core::command::GoLast{})},
        {.label = message("Play or pause"), .key = Key::space, .run = changes([](ViewState& s) {
                                                                   s.playing = !s.playing;
                                                               })},
    };
}

std::vector<Action> actions_of_cell() {
    const Mods alt = {.alt = true};
    return {{.label = message("Select the cell to the right"),
             .key = Key::right,
             .mods = alt,
             .repeats = true,
             .run = moves_cell(0, 1)},
            {.label = message("Select the cell to the left"),
             .key = Key::left,
             .mods = alt,
             .repeats = true,
             .run = moves_cell(0, -1)},
            {.label = message("Select the cell below"),
             .key = Key::down,
             .mods = alt,
             .repeats = true,
             .run = moves_cell(1, 0)},
            {.label = message("Select the cell above"),
             .key = Key::up,
             .mods = alt,
             .repeats = true,
             .run = moves_cell(-1, 0)}};
}

// The actions that open each lab.
std::vector<Action> actions_of_tabs() {
    std::vector<Action> list;
    for (const Lab& lab : labs()) list.push_back({.label = lab_label(lab), .key = lab.key, .run = opens(lab)});
    return list;
}

// The labs' own actions.
std::vector<Action> actions_of_labs() {
    std::vector<Action> list;
    for (const Lab& lab : labs())
        if (lab.actions != nullptr)
            for (Action& action : lab.actions()) list.push_back(std::move(action));
    return list;
}

std::vector<Action> actions_of_run() {
    return {
        {.label = message("Go to the attention mask"),
         .key = Key::m,
         .mods = with_shift,
         .run = goes_to(AttentionStep::mask)},
        {.label = message("Go to the attention pattern"), .key = Key::a, .run = goes_to(AttentionStep::pattern)},
        {.label = message("Flip Pre-Norm / Post-Norm"), .key = Key::n, .mods = with_shift, .run = flip_norm},
        {.label = message("Record everything, or less to save memory"), .run = flip_recording},
        {.label = message("Dropout on or off"), .key = Key::d, .run = flip_dropout},
        {.label = message("Table of exact numbers"),
         .key = Key::x,
         .run = [](const core::Session& session, ViewState& state, Commands&) { step::toggle_sheet(session, state); }},
        {.label = message("Pin a note to the cell, or to the step"),
         .key = Key::j,
         .run = changes([](ViewState& s) { s.part<inspector::InspectorState>().note.open = true; })},
        {.label = message("Mask brush on or off"), .key = Key::p, .run = changes([](ViewState& s) {
                                                                      s.painting = !s.painting;
                                                                  })},
        {.label = message("Back along the trail of followed cells"),
         .key = Key::backspace,
         .run = asks(core::command::GoBack{})},
        {.label = message("Deselect the cell; leave the presentation"), .key = Key::escape, .run = escape},
    };
}

std::vector<Action> actions_of_edits() {
    const Action redo = {.label = message("Redo"),
                         .key = Key::y,
                         .mods = with_ctrl,
                         .repeats = true,
                         .enabled = can_redo,
                         .run = asks(core::command::Redo{})};
    Action redo_too = redo;  // also by the other common key for redo
    redo_too.key = Key::z;
    redo_too.mods = with_ctrl_shift;
    redo_too.listed = false;
    return {{.label = message("Undo"),
             .key = Key::z,
             .mods = with_ctrl,
             .repeats = true,
             .enabled = can_undo,
             .run = asks(core::command::Undo{})},
            redo,
            redo_too,
            {.label = message("Clear all edits"), .run = asks(core::command::ClearEdits{})}};
}

std::vector<Action> actions_of_files() {
    return {
        {.label = message("Export the current view …"),
         .key = Key::e,
         .mods = with_ctrl,
         .run = opens(Dialog::export_file)},
        {.label = message("Open a model or a session …"),
         .key = Key::o,
         .mods = with_ctrl,
         .run = opens(Dialog::open_model)},
        {.label = message("What was assumed about the model …"),
         .enabled = was_asked,
         .run = asks(core::command::AskAgain{})},
        {.label = message("Tint the map and timeline by numbers from a file …"), .run = opens(Dialog::open_model)},
        {.label = message("Colour the map and the timeline by meaning again"),
         .enabled = has_overlay,
         .run = asks(core::command::RemoveOverlay{})},
        {.label = message("Save the session"), .key = Key::s, .mods = with_ctrl, .run = dialogs::save_session},
        {.label = message("Save the session as …"),
         .key = Key::s,
         .mods = with_ctrl_shift,
         .run = opens(Dialog::save_session)},
        {.label = message("Copy the current view as CSV"), .key = Key::c, .mods = with_ctrl, .run = copy_as_csv},
        {.label = message("Copy the current view as a picture"),
         .key = Key::c,
         .mods = with_ctrl_shift,
         .run = copy_as_picture},
        {.label = message("Copy a link to what is open"), .run = dialogs::copy_link},
        {.label = message("Copy HTML that shows the stage in another page"), .run = dialogs::copy_embedding},
        {.label = message("Open the link on the clipboard"),
         .key = Key::v,
         .mods = with_ctrl,
         .run = dialogs::open_copied_link},
    };
}

std::vector<Action> actions_of_window() {
    return {
        {.label = message("All actions …"), .key = Key::p, .mods = with_ctrl, .run = opens(Dialog::palette)},
        {.label = message("Settings …"), .key = Key::comma, .mods = with_ctrl, .run = opens(Dialog::settings)},
        {.label = message("Keys, or the glossary when a term is under the pointer"),
         .key = Key::f1,
         .run = explain_what_is_under_the_mouse},
        {.label = message("Lessons, and bugs to find"), .key = Key::f7, .run = changes(lesson_panel::toggle_lessons)},
        {.label = message("Simple or full layout"), .key = Key::f8, .run = changes([](ViewState& s) {
                                                                        s.show_everything(s.is_calm());
                                                                    })},
        {.label = message("Glossary …"), .run = changes([](ViewState& s) { open_glossary(s); })},
        {.label = message("What does this model do, and what is worth trying?"),
         .run = changes([](ViewState& s) { s.settings.introduction_closed = false; })},
        {.label = message("Dark or light"), .key = Key::t, .run = changes([](ViewState& s) {
                                                               s.settings.dark = !s.is_dark();
                                                           })},
        {.label = message("Lecture-hall pointer on or off"),
         .key = Key::l,
         .run = changes([](ViewState& s) { s.settings.large_pointer = !s.settings.large_pointer; })},
        {.label = message("Quit"), .key = Key::q, .mods = with_ctrl, .run = dialogs::ask_to_close},
    };
}

// The same effect by another key, which isn't listed.
Action also(Action action, Key key, Mods mods) {
    action.key = key;
    action.mods = mods;
    action.listed = false;
    return action;
}

// A plus is a key of its own, one with Shift, or one of the number pad, depending on the keyboard.
std::vector<Action> actions_of_text() {
    const Action larger = {
        .label = message("Larger text"), .key = Key::plus, .mods = with_ctrl, .run = changes(enlarge_text)};
    const Action smaller = {
        .label = message("Smaller text"), .key = Key::minus, .mods = with_ctrl, .run = changes(shrink_text)};
    const Action normal = {
        .label = message("Text at 100 %"), .key = Key::digit_0, .mods = with_ctrl, .run = changes(reset_text)};
    return {larger,
            also(larger, Key::plus, with_ctrl_shift),
            also(larger, Key::equal, with_ctrl),
            also(larger, Key::equal, with_ctrl_shift),
            smaller,
            also(smaller, Key::minus, with_ctrl_shift),
            normal,
            also(normal, Key::digit_0, with_ctrl_shift)};
}

std::vector<Action> actions_of_panels() {
    return {
        {.label = message("Presentation: the stage alone, with large text"), .key = Key::f11, .run = changes(present)},
        {.label = message("Map: show or fold"), .key = Key::f2, .run = slides(SlidePanel::map)},
        {.label = message("Inspector: show or fold"), .key = Key::f3, .run = slides(SlidePanel::inspector)},
        {.label = message("Timeline during the presentation"), .key = Key::f4, .run = slides(SlidePanel::timeline)},
        {.label = message("Toolbar, input and tabs during the presentation"),
         .key = Key::f6,
         .run = slides(SlidePanel::bars)},
    };
}

// By digit: choose the head of that number, or switch it.
std::vector<Action> actions_of_heads() {
    std::vector<Action> list;
    for (int digit = 0; digit <= 9; ++digit) {
        const Index head = digit;
        list.push_back({.label = message("Head {head}", {{"head", head}}),
                        .key = digit_key(digit),
                        .listed = false,
                        .run = asks(core::command::ChooseHead{head})});
        list.push_back({.label = message("Head {head} off or on", {{"head", head}}),
                        .key = digit_key(digit),
                        .mods = with_shift,
                        .listed = false,
                        .run = [head](const core::Session& session, ViewState&, Commands& commands) {
                            switch_head(session, head, commands);
                        }});
    }
    return list;
}

std::vector<Action> make_actions() {
    std::vector<Action> all;
    const auto add = [&all](std::vector<Action> group) { std::ranges::move(group, std::back_inserter(all)); };
    add(actions_of_cursor());
    add(actions_of_cell());
    add(actions_of_tabs());
    add({{.label = message("Checks: what holds for this run?"), .key = Key::v, .run = opens(Dialog::checks)},
         {.label = message("Edit the input"),
          .key = Key::i,
          .enabled = reads_tokens,
          .run = changes([](ViewState& s) { s.part<input::InputBarState>().focus = true; })},
         {.label = message("Let the model write the target"),
          .enabled = can_write,
          .run = asks(core::command::WriteTarget{})}});
    add(actions_of_labs());
    add(actions_of_run());
    add(actions_of_gradients());
    add(actions_of_edits());
    add(actions_of_files());
    add(actions_of_window());
    add(actions_of_panels());
    add(actions_of_text());
    add(actions_of_heads());
    return all;
}

}  // namespace

bool was_asked(const core::Session& session) {
    return session.scenario().computes() && !session.scenario().model()->recognised.questions.empty();
}

namespace {

// A key that writes a character.
bool writes(const Action& action) {
    return !action.mods.ctrl && !action.mods.alt && action.key >= Key::digit_0 && action.key <= Key::grave;
}

}  // namespace

void run_shortcuts(const core::Session& session, ViewState& state, Commands& commands) {
    const bool menu_open = ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
    const bool typing_goes_on = state.part<inspector::InspectorState>().typed.take_back > 0;
    if (typing() || typing_goes_on || menu_open || state.dialog != Dialog::none) return;
    // Space and Enter press the control that Tab has led to.
    const auto taken = [&](Key key) { return state.focus.visible() && (key == Key::space || key == Key::enter); };
    const bool just_typed = ImGui::GetTime() < state.typing_until;
    for (const Action& action : actions()) {
        if (action.key == Key::none || taken(action.key) || !pressed(action.key, action.mods, action.repeats)) continue;
        if (just_typed && writes(action))
            state.typing_until = ImGui::GetTime() + kTypingGoesOn;
        else if (action.enabled(session))
            action.run(session, state, commands);
    }
}

}  // namespace decoderscope::views::shell

namespace decoderscope::views {

const std::vector<Action>& actions() {
    static const std::vector<Action> table = shell::make_actions();
    return table;
}

}  // namespace decoderscope::views

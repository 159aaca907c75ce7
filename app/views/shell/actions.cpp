#include "app/core/generate/generator.h"
#include "app/core/run/edits.h"
#include "app/core/run/labels.h"
#include "app/core/run/slice.h"
#include "app/core/run/watched.h"
#include "app/core/tabs/step/explanation_text.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/frame/books.h"
#include "app/views/input/input_bar.h"
#include "app/views/inspector/inspector.h"
#include "app/views/lessons/lessons_panel.h"
#include "app/views/shell/workspace.h"
#include "app/views/tabs/step/tab.h"
#include "app/views/widgets/fonts.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <iterator>

namespace decoderscope::views::shell {

namespace {

using Effect = std::function<void(const core::Session&, ViewState&, Commands&)>;

// ---- a line of the table each; without a key it is in the palette only

Action action(Sentence label, Key key, Mods mods, Effect run) {
    return {.label = std::move(label), .key = key, .mods = mods, .run = std::move(run)};
}

Action action(Sentence label, Key key, Effect run) { return action(std::move(label), key, {}, std::move(run)); }

Action action(Sentence label, Effect run) { return action(std::move(label), Key::none, {}, std::move(run)); }

// The same again and again while the key is held.
Action repeated(Sentence label, Key key, Mods mods, Effect run) {
    Action held = action(std::move(label), key, mods, std::move(run));
    held.repeats = true;
    return held;
}

Action repeated(Sentence label, Key key, Effect run) { return repeated(std::move(label), key, {}, std::move(run)); }

Action only_if(bool (*enabled)(const core::Session&), Action action) {
    action.enabled = enabled;
    return action;
}

Action found_by(std::string_view words, Action action) {
    action.words = words;
    return action;
}

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
    return changes([dialog](ViewState& state) { state.show(dialog); });
}

// What is looked at in between is left by the key that opened it.
Effect opens(std::string_view tab) {
    return changes([tab](ViewState& state) {
        state.tab = find_tab(tab)->in_between && state.tab == tab ? std::string_view(state.tab_before) : tab;
    });
}

// Goes to a step of the block's self-attention; outside all blocks, and in a block without one, of the attention whose
// heads and masks are shown.
Effect goes_to(AttentionStep which) {
    return [which](const core::Session& session, ViewState& state, Commands& commands) {
        state.tab = core::files::kStepTab;
        const Plan& plan = session.shown().run->plan();
        Ref step = plan.step_of(plan.attention_in(session.step().block), which);
        if (step == nullptr) step = plan.step_of(session.attention(), which);
        if (step != nullptr) commands.push_back(core::command::GoTo{step->name});
    };
}

bool reads_tokens(const core::Session& session) { return !session.scenario().inputs.tokens.empty(); }
bool can_undo(const core::Session& session) { return session.can_undo(); }
bool can_be_found(const core::Session& session) { return session.cursor().cell && session.scenario().computes(); }
bool can_redo(const core::Session& session) { return session.can_redo(); }

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
    const bool fits = session.scenario().recording == core::Recording::fit;
    commands.push_back(core::command::SetRecording{fits ? core::Recording::all : core::Recording::fit});
}

void switch_head(const core::Session& session, Index head, Commands& commands) {
    const std::string attention = core::attention_beside(session.shown().run->plan(), session.step());
    if (attention.empty() || head >= session.shown().scenario.query_heads()) return;
    const bool off = core::head_factor(session.scenario().edits, attention, head) == 0.0F;
    commands.push_back(core::command::ScaleHeadTo{attention, head, off ? 1.0F : 0.0F});
}

// The selected cell, or the step if it is one number or one row.
void flip_watch(const core::Session& session, ViewState&, Commands& commands) {
    core::Note here = core::note_here(session);
    here.watched = !here.watched;
    const core::WatchedNumber number = core::watched_number(here, *session.shown().run, *session.shown().unedited);
    if (here.watched && !number.missing.empty())
        commands.push_back(core::command::Tell{number.missing});
    else
        commands.push_back(core::command::PinNote{std::move(here)});
}

void copy_as_csv(const core::Session& session, ViewState& state, Commands& commands) {
    if (step::sheet_is_open(state)) return commands.push_back(step::copy_sheet(session, state));
    commands.push_back(core::command::Tell{dialogs::copy_shown_as_csv(session, state), false});
}

void explain_what_is_under_the_mouse(const core::Session&, ViewState& state, Commands&) {
    GlossaryState& glossary = state.part<GlossaryState>();
    if (!glossary.pointed_at.empty()) return open_glossary(state, std::string(glossary.pointed_at));
    if (const core::glossary::GlossaryTerm* term = glossary.finder().term_of_label(text_under_mouse()))
        return open_glossary(state, term->id);
    state.show(Dialog::keys);
}

void enlarge_text(ViewState& state) {
    if (const auto size = larger_text_size(state.text_size(), state.largest_text)) state.settings.text_scale = *size;
}

void shrink_text(ViewState& state) {
    if (const auto size = smaller_text_size(state.text_size())) state.settings.text_scale = *size;
}

// Enters the presentation, or leaves it.
void present(ViewState& state) {
    state.presenting = !state.presenting;
    state.presentation = {};
}

// While presenting, a panel slides over the stage; otherwise strip and inspector are folded where they are.
Effect slides(SlidePanel panel) {
    return changes([panel](ViewState& state) {
        bool& asked = state.presentation.asked[static_cast<std::size_t>(panel)];
        if (state.stage_alone()) {
            asked = !asked;
        } else if (panel == SlidePanel::strip) {
            state.settings.strip_folded = !state.settings.strip_folded;
        } else if (panel == SlidePanel::inspector) {
            state.settings.inspector_folded = state.inspector.drawn > 0.0F;
        }
    });
}

// Esc: takes back what came last: what was said, panels over the stage, the presentation, the chosen cell, the tab in
// between.
void escape(const core::Session& session, ViewState& state, Commands& commands) {
    auto& asked = state.presentation.asked;
    const Tab* open = find_tab(state.tab);
    state.focus.hide();
    if (session.message() && !state.stage_alone()) return commands.push_back(core::command::Tell{});
    if (state.stage_alone() && std::ranges::find(asked, true) != asked.end())
        asked.fill(false);
    else if (state.presenting)
        present(state);
    else if (inspector::leave_first_minute(session, state))
        return;
    else if (open != nullptr && open->in_between && !session.cursor().cell)
        state.tab = state.tab_before;
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

// Gradients of the selected cell; a second time, or without a cell, switches them off.
void flip_gradients(const core::Session& session, ViewState&, Commands& commands) {
    const std::string target = target_at_cursor(session);
    commands.push_back(
        core::command::SetGradients{target == session.scenario().gradient_target ? std::string() : target});
}

void flip_gradients_of_loss(const core::Session& session, ViewState&, Commands& commands) {
    commands.push_back(core::command::SetGradients{session.scenario().gradient_target == "loss" ? "" : "loss"});
}

// The step at the other end: its gradient, or what this is the gradient with respect to. The cell stays selected.
Ref other_way(const core::Session& session) {
    const Plan& plan = session.shown().run->plan();
    const Step& step = session.step();
    return step.gradient_wrt ? &plan[*step.gradient_wrt] : plan.gradient_wrt(step);
}

void go_other_way(const core::Session& session, ViewState& state, Commands& commands) {
    const Ref other = other_way(session);
    if (other == nullptr) return;
    state.tab = core::files::kStepTab;
    const std::optional<Cell> cell = session.cursor().cell;
    commands.push_back(core::command::GoTo{other->name});
    if (cell) commands.push_back(core::command::SelectCell{*cell});
}

std::vector<Action> actions_of_gradients() {
    return {only_if(
                [](const core::Session& session) {
                    return !target_at_cursor(session).empty() || !session.scenario().gradient_target.empty();
                },
                action(message("Gradients of the selected cell, or none"), Key::g, with_shift, flip_gradients)),
            only_if([](const core::Session& session) { return core::step::has_loss(*session.shown().run); },
                    action(message("Gradients of the loss, or none"), Key::l, with_shift, flip_gradients_of_loss)),
            only_if([](const core::Session& session) { return other_way(session) != nullptr; },
                    action(message("The gradient with respect to this step; from a gradient back to the step"), Key::b,
                           go_other_way))};
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
        repeated(message("Next step"), Key::right, asks(core::command::Move{1})),
        repeated(message("Previous step"), Key::left, asks(core::command::Move{-1})),
        repeated(message("Same step in the next layer"), Key::down, asks(core::command::MoveLayer{1})),
        repeated(message("Same step in the previous layer"), Key::up, asks(core::command::MoveLayer{-1})),
        repeated(message("Next position, or expert, of a step that shows one at a time"), Key::page_down,
                 moves_outer(1)),
        repeated(message("Previous position, or expert, of a step that shows one at a time"), Key::page_up,
                 moves_outer(-1)),
        action(message("First step"), Key::home, asks(core::command::GoFirst{})),
        action(message("Last step"), Key::end, asks(core::command::GoLast{})),
        found_by("animation animate video run watch",
                 action(message("Play or pause"), Key::space, changes([](ViewState& s) {
                            if (!inspector::next_stop(s)) s.playing = !s.playing;
                        }))),
    };
}

std::vector<Action> actions_of_cell() {
    const Mods alt = {.alt = true};
    return {repeated(message("Select the cell to the right"), Key::right, alt, moves_cell(0, 1)),
            repeated(message("Select the cell to the left"), Key::left, alt, moves_cell(0, -1)),
            repeated(message("Select the cell below"), Key::down, alt, moves_cell(1, 0)),
            repeated(message("Select the cell above"), Key::up, alt, moves_cell(-1, 0))};
}

// The actions that open each tab.
std::vector<Action> actions_that_open_tabs() {
    std::vector<Action> list;
    for (const TabPage& way : ways_in()) {
        const Tab& tab = *find_tab(way.id);
        const Sentence label = tab_label(way.title, way.question);  // a page's begins with the tab that is seen
        list.push_back(
            action(tab.id == way.id ? label : message("{tab}, {page}", {{"tab", Sentence(tab.title)}, {"page", label}}),
                   way.key, opens(way.id)));
        list.back().words = way.words;
    }
    return list;
}

// The tabs' own actions.
std::vector<Action> actions_of_tabs() {
    std::vector<Action> list;
    for (const Tab& tab : tabs())
        if (tab.actions != nullptr)
            for (Action& action : tab.actions()) list.push_back(std::move(action));
    return list;
}

std::vector<Action> actions_of_run() {
    return {
        action(message("Go to the attention mask"), Key::m, with_shift, goes_to(AttentionStep::mask)),
        action(message("Go to the attention pattern: which token attends to which"), Key::a,
               goes_to(AttentionStep::pattern)),
        action(message("Flip Pre-Norm / Post-Norm"), Key::n, with_shift, flip_norm),
        action(message("Keep every tensor, or what fits into memory"), flip_recording),
        action(message("Dropout on or off"), Key::d, flip_dropout),
        only_if(
            [](const core::Session& session) { return session.scenario().computes(); },
            action(message("What if the whole model …: the configuration, key by key"), opens(Dialog::configuration))),
        action(message("Table of exact numbers"), Key::x,
               [](const core::Session& session, ViewState& state, Commands&) { step::toggle_sheet(session, state); }),
        action(message("Watch this number: it stays on the screen; or stop watching it"), Key::w, flip_watch),
        action(message("Pin a note to the cell, or to the step"), Key::j,
               changes([](ViewState& s) { s.part<inspector::InspectorState>().note.open = true; })),
        action(message("Mask brush on or off"), Key::p, changes([](ViewState& s) {
                   MaskBrush& brush = s.part<MaskBrush>();
                   brush.on = !brush.on;
               })),
        action(message("Back along the trail of followed cells"), Key::backspace, asks(core::command::GoBack{})),
        action(message("Deselect the cell; leave the presentation"), Key::escape, escape),
    };
}

// The same effect by another key, which isn't listed.
Action also(Action action, Key key, Mods mods) {
    action.key = key;
    action.mods = mods;
    action.listed = false;
    return action;
}

Effect writes(void (*open)(const core::Session&, ViewState&)) {
    return [open](const core::Session& session, ViewState& state, Commands&) { open(session, state); };
}

std::vector<Action> actions_of_formulas() {
    const Action formula =
        only_if(can_be_written, action(message("Write this step's formula …"), Key::equal, writes(write_formula)));
    return {formula, action(message("Add a row of your own …"), Key::r, with_shift, writes(write_row)),
            action(message("Add a check of your own: a row that must hold …"), writes(write_check))};
}

std::vector<Action> actions_of_edits() {
    const Action redo = only_if(can_redo, repeated(message("Redo"), Key::y, with_ctrl, asks(core::command::Redo{})));
    return {only_if(can_undo, found_by("revert back mistake",
                                       repeated(message("Undo"), Key::z, with_ctrl, asks(core::command::Undo{})))),
            redo, also(redo, Key::z, with_ctrl_shift),
            found_by("reset restore original start over revert",
                     action(message("Clear all edits"), asks(core::command::ClearEdits{})))};
}

std::vector<Action> actions_of_files() {
    return {
        found_by("save image figure paper pdf svg png print download heatmap data numbers",
                 action(message("Export the current view …"), Key::e, with_ctrl, opens(Dialog::export_file))),
        found_by("load file weights checkpoint gpt-2 huggingface import",
                 action(message("Open a model or a session …"), Key::o, with_ctrl, opens(Dialog::open_model))),
        only_if(was_asked, action(message("What was assumed about the model …"), asks(core::command::AskAgain{}))),
        action(message("Tint the strip by numbers from a file …"), opens(Dialog::open_model)),
        only_if([](const core::Session& session) { return session.overlay() != nullptr; },
                action(message("Colour the strip by meaning again"), asks(core::command::RemoveOverlay{}))),
        found_by("store keep file work", action(message("Save the session"), Key::s, with_ctrl, dialogs::save_session)),
        action(message("Save the session as …"), Key::s, with_ctrl_shift, opens(Dialog::save_session)),
        action(message("Copy the current view as CSV"), Key::c, with_ctrl, copy_as_csv),
        found_by("clipboard image figure screenshot", action(message("Copy the current view as a picture"), Key::c,
                                                             with_ctrl_shift, dialogs::copy_shown_as_picture)),
        action(message("Say this picture: three sentences at its foot, or none"), Key::f9, changes(flip_said)),
        action(message("Copy what this picture says"), copy_said),
        action(message("Speak what this picture says"), speak_said),
        found_by("share url class students", action(message("Copy a link to what is open"), dialogs::copy_link)),
        action(message("Copy HTML that shows the stage in another page"), dialogs::copy_embedding),
        action(message("Open the link on the clipboard"), Key::v, with_ctrl, dialogs::open_copied_link),
    };
}

std::vector<Action> actions_of_window() {
    return {
        action(message("All actions …"), Key::p, with_ctrl, opens(Dialog::palette)),
        found_by("language font colour color theme contrast preferences options",
                 action(message("Settings …"), Key::comma, with_ctrl, opens(Dialog::settings))),
        action(message("Keys, or the glossary when a term is under the pointer"), Key::f1,
               explain_what_is_under_the_mouse),
        found_by("exercises tutorial course learn teach homework quiz questions",
                 action(message("Lessons, and bugs to find"), Key::f7, changes(lesson_panel::toggle_lessons))),
        only_if(can_be_found,
                action(message("Make an exercise: find the selected number"), lesson_panel::make_exercise)),
        action(message("Glossary …"), changes([](ViewState& s) { open_glossary(s); })),
        action(message("Formulas: the line of the book that computes this step"), Key::f, with_shift,
               [](const core::Session& session, ViewState& state, Commands&) {
                   open_formulas(state, session.step().operation.about().line);
               }),
        found_by("help introduction start first minute about",
                 action(message("What does this model do, and what is worth trying?"), inspector::introduce_again)),
        found_by(
            "theme mode background bright white black colours colors",
            action(message("Dark or light"), Key::t, changes([](ViewState& s) { s.settings.dark = !s.is_dark(); }))),
        found_by("cursor laser mouse large",
                 action(message("Lecture-hall pointer on or off"), Key::l,
                        changes([](ViewState& s) { s.settings.large_pointer = !s.settings.large_pointer; }))),
        action(message("Quit"), Key::q, with_ctrl, dialogs::ask_to_close),
    };
}

// A plus is a key of its own, one with Shift, or one of the number pad, depending on the keyboard.
std::vector<Action> actions_of_text() {
    const Action larger =
        found_by("zoom bigger font size", action(message("Larger text"), Key::plus, with_ctrl, changes(enlarge_text)));
    const Action smaller =
        found_by("zoom font size", action(message("Smaller text"), Key::minus, with_ctrl, changes(shrink_text)));
    const Action normal = action(message("Text at 100 %"), Key::digit_0, with_ctrl,
                                 changes([](ViewState& state) { state.settings.text_scale = 1.0F; }));
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
        found_by("projector beamer slides full screen fullscreen lecture class teach",
                 action(message("Presentation: the stage alone, with large text; gives the talk"), Key::f11,
                        changes(present))),
        action(message("Add what is open to the talk"), Key::f10, dialogs::add_talk_state),
        found_by("lecture notes",
                 action(message("Talk: its states, in order …"), Key::f10, with_shift, opens(Dialog::talk))),
        action(message("Strip: show or fold"), Key::f2, slides(SlidePanel::strip)),
        action(message("Inspector: show or fold"), Key::f3, slides(SlidePanel::inspector)),
        action(message("Strip during the presentation"), Key::f4, slides(SlidePanel::strip)),
        action(message("Toolbar, input and tabs during the presentation"), Key::f6, slides(SlidePanel::bars)),
    };
}

// By digit: choose the head of that number, or switch it.
std::vector<Action> actions_of_heads() {
    std::vector<Action> list;
    for (int digit = 0; digit <= 9; ++digit) {
        const Index head = digit;
        const auto add = [&](Sentence label, Mods mods, Effect run) {
            list.push_back(also(action(std::move(label), std::move(run)), digit_key(digit), mods));
        };
        add(message("Head {head}", {{"head", head}}), {}, asks(core::command::ChooseHead{head}));
        add(message("Head {head} off or on", {{"head", head}}), with_shift,
            [head](const core::Session& session, ViewState&, Commands& commands) {
                switch_head(session, head, commands);
            });
    }
    return list;
}

std::vector<Action> make_actions() {
    std::vector<Action> all;
    const auto add = [&all](std::vector<Action> group) { std::ranges::move(group, std::back_inserter(all)); };
    add(actions_of_cursor());
    add(actions_of_cell());
    add(actions_that_open_tabs());
    add({action(message("Checks: what holds for this run?"), Key::v, opens(Dialog::checks)),
         only_if(reads_tokens, found_by("type sentence text prompt words own change",
                                        action(message("Edit the input"), Key::i, changes([](ViewState& s) {
                                                   s.part<input::InputBarState>().focus = true;
                                               })))),
         only_if(reads_tokens,
                 action(message("+ sequence: another row of the batch, a copy of this one"), input::add_sequence)),
         only_if(
             [](const core::Session& session) { return core::generate::writing_obstacle(session.scenario()).empty(); },
             action(message("Let the model write the target"), asks(core::command::WriteTarget{})))});
    add(actions_of_tabs());
    add(actions_of_run());
    add(actions_of_gradients());
    add(actions_of_edits());
    add(actions_of_formulas());
    add(actions_of_files());
    add(actions_of_window());
    add(actions_of_panels());
    add(actions_of_text());
    add(actions_of_heads());
    return all;
}

// A key that writes a character.
bool writes(const Action& action) {
    return !action.mods.ctrl && !action.mods.alt && action.key >= Key::digit_0 && action.key <= Key::grave;
}

}  // namespace

bool was_asked(const core::Session& session) {
    return session.scenario().computes() && !session.scenario().model()->recognised.questions.empty();
}

void run_shortcuts(const core::Session& session, ViewState& state, Commands& commands) {
    const bool menu_open = ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
    const bool typing_goes_on = state.part<inspector::InspectorState>().typed.take_back > 0;
    if (typing() || typing_goes_on || menu_open || state.dialog != Dialog::none) return;
    // Space and Enter press the control that Tab has led to.
    const auto taken = [&](Key key) { return state.focus.visible() && (key == Key::space || key == Key::enter); };
    if (dialogs::run_talk_keys(session, state, commands)) return;
    const bool just_typed = state.part<GoneField>().takes_keys();
    for (const Action& action : actions()) {
        if (action.key == Key::none || taken(action.key) || !pressed(action.key, action.mods, action.repeats)) continue;
        if (just_typed && writes(action))
            state.part<GoneField>().note();
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

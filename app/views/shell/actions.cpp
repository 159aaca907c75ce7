#include "app/views/shell/actions.h"

#include "app/core/generate/generation.h"
#include "app/core/heads/head_switches.h"
#include "app/core/text/labels.h"
#include "app/views/shell/panels.h"

#include <algorithm>
#include <cctype>

namespace decoderscope {

namespace {

bool always(const Session&) { return true; }

// An action that is one command.
Action command_action(std::string label, Key key, Mods mods, Command command, bool repeats = false) {
    return {
        std::move(label), key, mods, repeats, true, always, [command](const Session&, ViewState&, Commands& commands) {
            commands.push_back(command);
        }};
}

// An action that is the window's own.
Action view_action(std::string label, Key key, Mods mods, std::function<void(ViewState&)> change) {
    return {std::move(label), key, mods, false, true, always, [change](const Session&, ViewState& state, Commands&) {
                change(state);
            }};
}

void open_dialog(ViewState& state, Dialog dialog) {
    state.dialog = dialog;
    state.dialog_opens = true;
}

// Goes to a step of the block that we are in; the first block where we are in none.
Action go_in_block(std::string label, Key key, Mods mods, std::string step) {
    return {std::move(label),
            key,
            mods,
            false,
            true,
            always,
            [step](const Session& session, ViewState& state, Commands& commands) {
                state.tab = Tab::step;
                const std::string& block = session.step().block;
                commands.push_back(command::GoTo{(block.empty() ? "blocks.0" : block) + step});
            }};
}

Action open_tab(std::string label, Key key, Tab tab) {
    return view_action(std::move(label), key, {}, [tab](ViewState& s) { s.tab = tab; });
}

bool can_generate(const Session& session) { return generation_obstacle(session.shown().scenario).empty(); }

// Something done to the text, on the tab that shows it.
Action generate_action(std::string label, Key key, bool repeats,
                       std::function<void(const Session&, ViewState&, Commands&)> run) {
    return {std::move(label),
            key,
            {},
            repeats,
            true,
            can_generate,
            [run = std::move(run)](const Session& session, ViewState& state, Commands& commands) {
                state.tab = Tab::generate;
                run(session, state, commands);
            }};
}

void flip_norm(const Session& session, ViewState&, Commands& commands) {
    const bool norm_first = session.scenario().config().norm_first;
    commands.push_back(command::SetOption{"norm_first", norm_first ? "false" : "true"});
}

void flip_dropout(const Session& session, ViewState&, Commands& commands) {
    const bool on = session.scenario().dropout_seed.has_value();
    commands.push_back(command::SetDropout{on ? std::nullopt : std::optional<std::uint64_t>(0)});
}

void flip_recording(const Session& session, ViewState&, Commands& commands) {
    const bool all = session.scenario().recording == Recording::all;
    commands.push_back(command::SetRecording{all ? Recording::patterns : Recording::all});
}

void switch_head(const Session& session, Index head, Commands& commands) {
    const std::string attention = attention_beside(session.step());
    if (attention.empty() || head >= session.shown().scenario.config().nhead) return;
    const bool off = head_factor(session.scenario().edits, attention, head) == 0.0F;
    commands.push_back(command::ScaleHeadTo{attention, head, off ? 1.0F : 0.0F});
}

void pin(const Session&, ViewState& state, Commands& commands) {
    state.tab = Tab::diff;
    state.diff.against = Against::pinned;
    commands.push_back(command::Pin{});
}

void scale_text(ViewState& state, float factor) {
    state.settings.text_scale = std::clamp(state.settings.text_scale * factor, 0.6F, 3.0F);
}

std::vector<Action> make_actions() {
    std::vector<Action> list = {
        command_action("Next step", Key::right, {}, command::Move{1}, true),
        command_action("Previous step", Key::left, {}, command::Move{-1}, true),
        command_action("Same step in the next layer", Key::down, {}, command::MoveLayer{1}, true),
        command_action("Same step in the previous layer", Key::up, {}, command::MoveLayer{-1}, true),
        command_action("First step", Key::home, {}, command::GoFirst{}),
        command_action("Last step", Key::end, {}, command::GoLast{}),
        view_action("Play or pause", Key::space, {}, [](ViewState& s) { s.playing = !s.playing; }),
        open_tab("Step: how is this tensor computed?", Key::s, Tab::step),
        open_tab("Heads: what does each head look at?", Key::h, Tab::heads),
        open_tab("Masks: who hides what?", Key::m, Tab::masks),
        open_tab("Norms: what does their place change?", Key::n, Tab::norms),
        open_tab("Generate: which token comes next?", Key::g, Tab::generate),
        open_tab("Diff: what changed?", Key::c, Tab::diff),
        view_action("Checks: what holds of this run?", Key::v, {},
                    [](ViewState& s) { open_dialog(s, Dialog::checks); }),
        {"Edit the input",
         Key::i,
         {},
         false,
         true,
         [](const Session& s) { return !s.scenario().inputs.tokens.empty(); },
         [](const Session&, ViewState& state, Commands&) { state.input.focus = true; }},
        generate_action("Generate one token", Key::period, true,
                        [](const Session& s, ViewState&, Commands& c) { generate_token(s, c); }),
        generate_action("Step back one token", Key::comma, true,
                        [](const Session& s, ViewState&, Commands& c) { step_back(s, c); }),
        generate_action("Generate until the end, or stop", Key::r, false,
                        [](const Session&, ViewState& v, Commands&) { v.generate.running = !v.generate.running; }),
        {"Pin this run to compare later ones with", Key::none, {}, false, true, always, pin},
        go_in_block("Look at the attention mask", Key::m, with_shift, ".attn.mask"),
        go_in_block("Look at the attention pattern", Key::a, {}, ".attn.pattern"),
        {"Flip Pre-Norm / Post-Norm", Key::n, with_shift, false, true, always, flip_norm},
        {"Record everything, or less where memory is short", Key::none, {}, false, true, always, flip_recording},
        {"Dropout on or off", Key::d, {}, false, true, always, flip_dropout},
        view_action("Take or drop the mask brush", Key::p, {}, [](ViewState& s) { s.painting = !s.painting; }),
        command_action("Back to where this cell was followed from", Key::backspace, {}, command::GoBack{}),
        command_action("Let go of the cell", Key::escape, {}, command::Deselect{}),
        {"Undo", Key::z, with_ctrl, true, true, [](const Session& s) { return s.can_undo(); },
         [](const Session&, ViewState&, Commands& commands) { commands.push_back(command::Undo{}); }},
        {"Redo", Key::y, with_ctrl, true, true, [](const Session& s) { return s.can_redo(); },
         [](const Session&, ViewState&, Commands& commands) { commands.push_back(command::Redo{}); }},
        command_action("Clear all edits", Key::none, {}, command::ClearEdits{}),
        view_action("Export what is shown …", Key::e, with_ctrl,
                    [](ViewState& s) { open_dialog(s, Dialog::export_file); }),
        view_action("Open a model or a session …", Key::o, with_ctrl,
                    [](ViewState& s) { open_dialog(s, Dialog::open_model); }),
        {"Save the session", Key::s, with_ctrl, false, true, always, save_session},
        view_action("Save the session as …", Key::s, with_ctrl_shift,
                    [](ViewState& s) { open_dialog(s, Dialog::save_session); }),
        {"Copy what is shown as CSV", Key::c, with_ctrl, false, true, always,
         [](const Session& session, ViewState& state, Commands& commands) {
             commands.push_back(command::Tell{copy_shown_as_csv(session, state), false});
         }},
        {"Copy what is shown as a picture", Key::c, with_ctrl_shift, false, true, always,
         [](const Session& session, ViewState& state, Commands&) { copy_shown_as_picture(session, state); }},
        view_action("Every action …", Key::p, with_ctrl, [](ViewState& s) { open_dialog(s, Dialog::palette); }),
        view_action("Settings …", Key::comma, with_ctrl, [](ViewState& s) { open_dialog(s, Dialog::settings); }),
        view_action("Keys", Key::f1, {}, [](ViewState& s) { open_dialog(s, Dialog::keys); }),
        view_action("Dark or light", Key::t, {}, [](ViewState& s) { s.settings.dark = !s.settings.dark; }),
        view_action("Larger text", Key::equal, with_ctrl, [](ViewState& s) { scale_text(s, 1.1F); }),
        view_action("Smaller text", Key::minus, with_ctrl, [](ViewState& s) { scale_text(s, 1 / 1.1F); }),
        view_action("Quit", Key::q, with_ctrl, [](ViewState& s) { s.wants_to_close = true; }),
    };
    Action redo_too = *std::find_if(list.begin(), list.end(), [](const Action& a) { return a.label == "Redo"; });
    redo_too.key = Key::z;
    redo_too.mods = with_ctrl_shift;
    redo_too.listed = false;
    list.push_back(std::move(redo_too));
    for (int digit = 1; digit <= 9; ++digit) {
        const Index head = digit - 1;
        Action choose = command_action("Head " + std::to_string(head), digit_key(digit), {}, command::ChooseHead{head});
        choose.listed = false;
        list.push_back(std::move(choose));
        list.push_back(
            {"Head " + std::to_string(head) + " off or on", digit_key(digit), with_shift, false, false, always,
             [head](const Session& session, ViewState&, Commands& commands) { switch_head(session, head, commands); }});
    }
    return list;
}

std::string key_text(Key key) {
    if (key >= Key::a && key <= Key::z)
        return {static_cast<char>('A' + static_cast<int>(key) - static_cast<int>(Key::a))};
    if (key >= Key::digit_0 && key <= Key::digit_9)
        return {static_cast<char>('0' + static_cast<int>(key) - static_cast<int>(Key::digit_0))};
    switch (key) {
        case Key::left:
            return "←";
        case Key::right:
            return "→";
        case Key::up:
            return "↑";
        case Key::down:
            return "↓";
        case Key::home:
            return "Home";
        case Key::end:
            return "End";
        case Key::space:
            return "Space";
        case Key::escape:
            return "Esc";
        case Key::backspace:
            return "Backspace";
        case Key::equal:
            return "+";
        case Key::minus:
            return "−";
        case Key::comma:
            return ",";
        case Key::period:
            return ".";
        case Key::f1:
            return "F1";
        default:
            return "";
    }
}

}  // namespace

const std::vector<Action>& actions() {
    static const std::vector<Action> table = make_actions();
    return table;
}

std::string chord_text(const Action& action) {
    if (action.key == Key::none) return {};
    return std::string(action.mods.ctrl ? "Ctrl+" : "") + (action.mods.shift ? "Shift+" : "") + key_text(action.key);
}

void run_shortcuts(const Session& session, ViewState& state, Commands& commands) {
    const bool menu_open = ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
    if (typing() || menu_open || state.dialog != Dialog::none) return;
    for (const Action& action : actions())
        if (action.key != Key::none && pressed(action.key, action.mods, action.repeats) && action.enabled(session))
            action.run(session, state, commands);
}

int fuzzy_score(std::string_view label, std::string_view typed) {
    const auto lower = [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); };
    int score = 0;
    std::size_t at = 0;
    for (const char c : typed) {
        if (c == ' ') continue;
        std::size_t found = at;
        while (found < label.size() && lower(label[found]) != lower(c)) ++found;
        if (found == label.size()) return -1;
        const bool word = found == 0 || label[found - 1] == ' ' || label[found - 1] == '-' || label[found - 1] == '/';
        score += word ? 8 : (found == at && at > 0 ? 4 : 1);
        at = found + 1;
    }
    return score;
}

}  // namespace decoderscope

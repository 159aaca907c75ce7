#pragma once

#include "app/core/files/saved_view.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/session/session.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/keys_and_mouse.h"
#include "app/views/widgets/row_layout.h"
#include "app/views/widgets/widgets.h"
#include "engine/base/json_object.h"
#include "engine/base/message.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope::views {

// Something that the user can do. Shortcuts, palette and the list of keys are all made from one table of these.
struct Action {
    Sentence label;
    Key key = Key::none;
    Mods mods = {};
    std::string_view words;  // others than the label's that people use for it; the palette finds it by them
    bool repeats = false;    // repeats while the key is held
    bool listed = true;      // in the palette and the list of keys
    std::function<bool(const core::Session&)> enabled = [](const core::Session&) { return true; };
    std::function<void(const core::Session&, ViewState&, Commands&)> run;
};

// The window's own actions, and those of all tabs. The window makes the list (app/views/shell/actions.cpp).
[[nodiscard]] const std::vector<Action>& actions();

// "F1", "←"; empty for no key.
[[nodiscard]] std::string key_text(Key key);
// "Ctrl+Shift+Z", "←"; empty if the action has no key.
[[nodiscard]] std::string chord_text(const Action& action);

// Something to try with the model that is open: what the first minute offers.
struct Suggestion {
    std::string title;  // "Switch off head 3"
    std::string tab;    // the id of the tab to open; empty: the open one stays
    Commands commands;
    bool done = false;  // its changes are made
};

// Something that can be exported from the current tab and step.
struct ExportChoice {
    std::string label;      // "All heads of this layer"
    std::string file_name;  // without its extension
    bool each = false;      // one file per heatmap, in a folder
    std::function<core::Exhibit()> exhibit;
    std::string command = {};  // the options of `decoderscope export` that choose the same; empty: there are none

    // The exhibit with its texts in English, like all that is written to files.
    [[nodiscard]] core::Exhibit in_english() const;
};

// What the choices are made from, and those made so far. The tab adds what it shows; then the step is added.
struct ExportScene {
    const core::Session& session;
    const ViewState& state;
    core::ShownRun shown;
    const Step& step;
    core::Place place;
    std::vector<ExportChoice> choices = {};
    bool gathers_step = true;  // also offer the step's heads and its counterparts in other layers

    void add(std::string label, std::string file_name, std::function<core::Exhibit()> exhibit,
             std::string command = {});
    // Makes an exhibit now and adds it, if there is any.
    void add_if_any(std::string label, std::string file_name,
                    const std::function<std::optional<core::Exhibit>()>& make);
};

// Which collection of a step's heads is offered first.
enum class GatheredFirst { this_layer, all_layers };
// Adds collections of the step's heads and of its counterparts in other layers.
void add_gathered(ExportScene& scene, const Step& step, GatheredFirst first = GatheredFirst::this_layer);

// First what the tab shows, as it shows it; then more of the same kind, and the step itself. Empty while
// the step that is all there is to export is being computed.
[[nodiscard]] std::vector<ExportChoice> export_choices(const core::Session& session, const ViewState& state);

// A page of a tab that answers several questions: it is opened by itself, by its key, by the palette, and by its id,
// which was a tab's in sessions, links, lessons, talks and people's commands of before.
struct TabPage {
    std::string_view id;  // "norms"
    Phrase title = Phrase(""), question = Phrase("");
    Key key = Key::none;
    std::string_view term;                     // the id of the glossary's term that it is about
    void (*open)(ViewState& state) = nullptr;  // chooses what the tab shows
    std::string_view words = {};               // by which people look for it
};

// A tab of the stage: one question that people ask about decoders. Tabs, keys, palette, exports and what a session
// saves of the window all follow from it. A function that is null has nothing to do.
struct Tab {
    std::string_view id;           // its name in session files; never changes
    Phrase title = Phrase("");     // "Norms"
    Phrase question = Phrase("");  // "What does the place of the norm change?"
    Key key = Key::none;           // opens it
    std::string_view words = {};   // by which people look for it
    std::string_view term;         // the id of the glossary's term that it is about
    void (*draw)(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) = nullptr;
    std::vector<TabPage> pages = {};  // that are opened by themselves
    // Pixels at a scale of 1: where the stage is lower, the tab keeps this height and scrolls.
    float (*least_height)(const core::Session&) = nullptr;
    // What the inspector says beside it, in the panel's flow: what its selection is about, in words and numbers.
    // Without it the inspector explains the step and the selected cell.
    void (*inspect)(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) = nullptr;
    // The selected cell is explained above that, where one is selected.
    bool explains_cells = false;
    // What to try in it with any model; nothing if this run has nothing of the kind.
    std::optional<Suggestion> (*suggest)(const core::Session& session) = nullptr;
    // The companion runs that it needs for what it shows. They are computed as long as it is open and says so.
    core::CompanionRuns (*companion_runs)(const core::Session& session, const ViewState& state) = nullptr;
    // Another tab is opened.
    void (*leave)(ViewState& state) = nullptr;
    // What it shows; comes first in the list of exports.
    void (*add_exports)(ExportScene& scene) = nullptr;
    // What can be done in it, by key and palette.
    std::vector<Action> (*actions)() = nullptr;
    // The part of its state that belongs to the user's work, as a JSON object. `restore` gets it back, or nullptr if
    // nothing was saved; it throws Error for anything that `save` can't have made. What was saved under the id of a
    // page comes after that, and leaves the rest as it is.
    Json (*save)(const ViewState& state) = nullptr;
    void (*restore)(ViewState& state, JsonObject* saved) = nullptr;
    // It is about the steps of this run. If not, the strip, which would have no effect, leave their
    // space to it.
    bool about_steps = true;
    // What is chosen beside the tabs' titles: block, head and row of the batch, or the two that are compared.
    std::vector<FlowItem> (*selectors)(const Ui& ui, const core::Session& session, ViewState& state,
                                       Commands& commands) = nullptr;
    // It has no title among the others: its key, the menu and the palette open it.
    bool aside = false;
    // It is looked at in between: its key, pressed again, and Esc lead back to the tab before.
    bool in_between = false;
    // It shows what a model computes, so a trace that was opened without one has nothing for it.
    bool computes = false;
    // Whether the open model has anything for this tab to show, such as experts. If not, there is no tab, and opening
    // it by its key says why. Null: always.
    bool (*about_this)(const core::Session& session) = nullptr;
    Phrase missing = Phrase("");
    // Takes a file that was dropped on the tab; nothing if it is not for this tab.
    std::optional<core::Command> (*take_file)(const core::Session& session, ViewState& state,
                                              const std::string& path) = nullptr;
};

// How tabs save one key of a configuration and its value, "set": {"norm_first": "true"}; an empty key: none. Reading
// throws Error for anything else.
void save_option(Json& json, const std::pair<std::string, std::string>& option);
[[nodiscard]] std::pair<std::string, std::string> restored_option(JsonObject& json);

// All of them, in the order of the tabs.
[[nodiscard]] std::span<const Tab> tabs();
// Whether what is open has what a tab is about.
[[nodiscard]] bool is_about(const Tab& tab, const core::Session& session);
// Whether a tab has anything to show of what is open.
[[nodiscard]] bool has_something(const Tab& tab, const core::Session& session);
// The one with that id, or with such a page; nullptr if there is none.
[[nodiscard]] const Tab* find_tab(std::string_view id);
// Where a page's id was to be opened: opens its tab there.
void open_page(ViewState& state);
// Tabs and pages: all that is opened by itself.
[[nodiscard]] std::vector<TabPage> ways_in();

// "Norms: What does the place of the norm change?": the label of the action that opens it, in the palette and the list
// of keys.
[[nodiscard]] Sentence tab_label(Phrase title, Phrase question);

}  // namespace decoderscope::views

#pragma once

#include "app/core/files/link.h"
#include "app/core/files/saved_view.h"
#include "app/core/files/settings.h"
#include "app/core/language/languages.h"
#include "app/core/lessons/lesson.h"
#include "app/core/session/session.h"
#include "app/views/frame/commands.h"
#include "app/views/frame/window_layout.h"
#include "app/views/widgets/frame_document.h"
#include "app/views/widgets/heatmap_view.h"
#include "app/views/widgets/keyboard_focus.h"

#include <map>
#include <memory>
#include <string>
#include <typeindex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace decoderscope::views {

// What each part of the window remembers from frame to frame: a value whose type only that part knows, made on first
// use.
class PartStates {
public:
    template <class State>
    [[nodiscard]] State& get() {
        return kept<State>();
    }
    template <class State>
    [[nodiscard]] const State& get() const {
        return kept<State>();
    }

private:
    template <class State>
    State& kept() const {
        std::shared_ptr<void>& kept = states_[typeid(State)];
        if (!kept) kept = std::make_shared<State>();
        return *static_cast<State*>(kept.get());
    }

    mutable std::unordered_map<std::type_index, std::shared_ptr<void>> states_;
};

// Which dialog lies over the window.
enum class Dialog {
    none,
    keys,
    glossary,
    formulas,
    formula,
    palette,
    export_file,
    open_model,
    save_session,
    unsaved,
    settings,
    checks,
    configuration,
    talk
};

// A field that was typed into may go while keys still come: for a moment they belong to it.
struct GoneField {
    double until = 0.0;  // seconds, ImGui's clock

    void note() { until = ImGui::GetTime() + 1.5; }
    [[nodiscard]] bool takes_keys() const { return ImGui::GetTime() < until; }
};

// What the views remember from frame to frame; none of it belongs to the model.
struct ViewState {
    core::files::Settings settings;
    std::string tab{core::files::kStepTab};         // the tab's id
    std::string open_tab{core::files::kStepTab};    // the one that was drawn last
    std::string tab_before{core::files::kStepTab};  // the one that was open before that
    PartStates parts;
    bool presenting = false;  // for a lecture hall: the stage alone, with large text
    bool embedded = false;    // within another page: the stage alone, for good
    PresentationState presentation;
    InspectorWidth inspector;                         // as last drawn
    std::vector<core::language::Language> languages;  // that there are
    float largest_text = 3.0F;                        // the largest text size that fits into the window
    core::files::PlatformInfo desktop;                // what settings that aren't set follow
    Area stage{};                                     // where the open tab was drawn last
    bool playing = false;
    Dialog dialog = Dialog::none;
    bool dialog_opens = false;
    core::files::LinkBase link_base;  // where copied links lead
    KeyboardFocus focus;
    FrameDocument document;                // what the window says, for whoever doesn't see it
    core::lessons::ClosedPanels withheld;  // what a lesson's question closes meanwhile
    bool busy = false;                     // a view has more to do and wants another frame soon
    bool paced = false;                    // something advances at intervals and wants regular frames

    std::map<std::uint64_t, Viewport> viewports;  // by a heatmap's key
    std::optional<std::pair<std::string, Cell>>
        hovered;  // the cell under the mouse, and its step, as of the last frame

    // The cell of a step that is to be clicked, with a ring around it.
    std::optional<std::pair<std::string, Cell>> ringed;

    // Whether the stage has the whole window.
    [[nodiscard]] bool stage_alone() const { return presenting || embedded; }
    // Opens a dialog with the next frame.
    void show(Dialog which) {
        dialog = which;
        dialog_opens = true;
    }
    // Whether panels appear and pictures change places at once, rather than slide, and the text cursor doesn't blink.
    [[nodiscard]] bool reduces_motion() const { return settings.reduced_motion.value_or(desktop.reduced_motion); }
    [[nodiscard]] bool is_dark() const { return settings.dark.value_or(desktop.dark); }
    // The text size that is drawn; 1 is 100 %.
    [[nodiscard]] float text_size() const {
        return presenting ? largest_text : drawn_text_size(settings.text_scale, largest_text);
    }

    // What a tab, a dialog or a panel remembers, by its own type.
    template <class State>
    [[nodiscard]] State& part() {
        return parts.get<State>();
    }
    template <class State>
    [[nodiscard]] const State& part() const {
        return parts.get<State>();
    }
};

}  // namespace decoderscope::views

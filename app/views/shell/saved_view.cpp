#include "app/views/shell/saved_view.h"

#include "app/views/lessons/lessons_panel.h"
#include "app/views/shell/lab.h"
#include "engine/error.h"

namespace decoderscope {

SavedView saved_view(const ViewState& state) {
    SavedView saved{.tab = state.tab, .labs = state.unknown_labs, .lesson = lesson_beside(state)};
    for (const Lab& lab : labs())
        if (lab.save != nullptr) lab.save(state, saved);
    return saved;
}

Commands show_saved(ViewState& state, const SavedView& saved) {
    Commands told;
    state.unknown_labs = saved.labs;
    for (const Lab& lab : labs()) {
        state.unknown_labs.erase(std::string(lab.id));
        if (lab.restore == nullptr) continue;
        try {
            lab.restore(state, saved);
        } catch (const Error& error) {
            told.push_back(command::Tell{error.sentence()});
        }
    }
    const bool known = find_lab(saved.tab) != nullptr;
    state.tab = known ? saved.tab : std::string(kStepLab);
    if (!known)
        told.push_back(
            command::Tell{message("This Decoderscope has no tab \"{tab}\"; a newer one does.", {{"tab", saved.tab}})});
    if (!saved.lesson.empty() && saved.lesson != lesson_beside(state)) {
        try {
            open_lesson_beside(state, saved.lesson);
        } catch (const Error& error) {
            told.push_back(command::Tell{error.sentence()});
        }
    }
    return told;
}

}  // namespace decoderscope

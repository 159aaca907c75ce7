#include "app/core/files/talk_states.h"

#include "app/core/files/link.h"
#include "engine/base/error.h"
#include "engine/load/bundled_models.h"

#include <utility>

namespace decoderscope::core::files {

TalkState talk_state(SavedSession work, std::string sentence) {
    work.talk.clear();
    work.saved_as.clear();
    work.changed.clear();
    return {std::move(sentence), {}, session_text(session_file_of(work), {})};
}

ShownState shown_state(const TalkState& state, const Scenario& open) {
    const SessionFile file = parse_session(state.work, {});
    SavedModel its = file.run.model;
    its.weights = its.config = {};  // the files of now are what is open
    if (saved_model(open) == its) return {scenario_on(open.opened(), file.run), file.cursor, file.view};
    if (!its.bundled)
        throw Error("{model}: this state of the talk is of a model that isn't open; open it first",
                    {{"model", its.name}});
    return {scenario_on(load::make_bundled_model(its.name), file.run), file.cursor, file.view};
}

std::string link_of(const TalkState& state) { return link_of(parse_session(state.work, {})); }

}  // namespace decoderscope::core::files

#include "app/views/shell/stage_picture.h"

#include "app/core/session/session.h"
#include "app/views/dialogs/saving.h"
#include "app/views/frame/export_choices.h"
#include "app/views/frame/view_state.h"
#include "app/views/shell/workspace.h"
#include "engine/base/error.h"

#include <variant>
#include <vector>

namespace decoderscope::views::shell {

core::Exhibit stage_picture(const core::files::ShownState& shown) {
    core::Session session(core::files::SavedSession{.scenario = shown.scenario, .cursor = shown.cursor});
    ViewState state;
    Commands commands = dialogs::show_saved(state, shown.view);
    state.open_tab = state.tab;
    session.finish();
    keep_companions(session, state, commands);
    for (const Commands::value_type& asked : commands)
        if (const core::Command* command = std::get_if<core::Command>(&asked)) session.apply(*command);
    session.finish();
    // The first call orders what is derived from the runs; the second one has it.
    static_cast<void>(export_choices(session, state));
    session.finish();
    const std::vector<ExportChoice> choices = export_choices(session, state);
    if (choices.empty())
        throw Error("{step}: not computed in this run, expected a step that is recorded",
                    {{"step", session.step().name}});
    return choices.front().exhibit();
}

}  // namespace decoderscope::views::shell

#pragma once

#include "app/core/session/session.h"
#include "app/views/shell/view_state.h"
#include "app/views/widgets/widgets.h"

// The sections of the inspector, from top to bottom. Each draws into the panel's flow.
namespace decoderscope {

// A line between two sections.
void inspector_line(const Ui& ui);

// The step: name, shape, formula, what it is for.
void describe_step(const Ui& ui, ViewState& state, const Plan& plan, const Step& step);
// The selected cell of the step: its value, the terms that made it as links, a field to type over it.
void inspect_cell(const Ui& ui, const Session& session, ViewState& state, Commands& commands);
// The edits that were made, in groups, each with a link that undoes it.
void list_edits(const Ui& ui, const Session& session, ViewState& state, Commands& commands);

}  // namespace decoderscope

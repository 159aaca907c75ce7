#pragma once

#include "app/core/session.h"
#include "app/views/view_state.h"

// The panels of the window, a file each. Each draws a part of what the session shows into an area, and adds what the
// person asked for to `commands`; none of them computes a number of the model.
namespace decoderscope {

void draw_toolbar(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);
void draw_map(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);
// The stage: its tabs, and the one that is open.
void draw_stage(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);
// The row of heads, batch and layer that the tabs share, 72 px high: head chips, counters, the mask brush.
void draw_choices(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);

// The stage's tabs, a file each.
void draw_step_tab(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);
void draw_heads_tab(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);
void draw_masks_tab(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);
void draw_norms_tab(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);
void draw_generate_tab(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);
void draw_diff_tab(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);

// Puts the token that is drawn next behind the text of the row that we look at. Returns whether there is one.
bool generate_token(const Session& session, ViewState& state, Commands& commands);
// Takes the last token of that row away.
void step_back(const Session& session, Commands& commands);

void draw_inspector(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);
void draw_timeline(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);
void draw_dialogs(const Ui& ui, const Session& session, ViewState& state, Commands& commands);

}  // namespace decoderscope
